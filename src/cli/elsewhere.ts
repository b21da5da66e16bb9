import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { workTrees } from '../os/work-trees.ts'
import type { Place } from './place.ts'
import { shellWord } from './shell-word.ts'

/** Where sessions of this root are kept, and after it where those of the repository's other work trees are. */
export function foldersNear({ root, repository }: Pick<Place, 'root' | 'repository'>, folder: string): string[] {
  const inside = relative(root, folder)
  if (repository?.root !== root || inside.startsWith('..') || isAbsolute(inside)) return [folder]
  return [folder, ...workTrees(repository).filter((tree) => tree !== root).map((tree) => join(tree, inside))]
}

/** A session as it is named on the command line: by its id where that is looked for, else by its file. `folder`: of the sessions of `root`. */
export function namedFrom({ id, root, file }: { id: string; root: string; file: string }, here: Pick<Place, 'root'>, folder: string): string {
  return dirname(file) === join(root, relative(here.root, folder)) ? id : shellWord(file)
}

/** What is typed to go on with a session where it belongs; null: that folder is gone. */
export function commandThere(session: { id: string; root: string; file: string }, here: Pick<Place, 'root'>, folder: string): string | null {
  return existsSync(session.root) ? `tiller -C ${shellWord(session.root)} -r ${namedFrom(session, here, folder)}` : null
}
