import { readdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { similarity } from '../core/similarity.ts'
import type { Here } from '../core/ports.ts'
import { look } from '../os/open-file.ts'
import { shownPath } from './shown-path.ts'

/** For a path at which there is nothing: what it may have meant. Looks into the nearest folder that exists, so that this is an access too. */
export async function nearby(path: string, here: Pick<Here, 'cwd'>): Promise<{ folder: string; text: string }> {
  const [folder, name] = await deepestFolder(path)
  const names = await readdir(folder).catch(() => [])
  const like = names
    .map((each) => ({ each, score: each.toLowerCase() === name.toLowerCase() ? 1 : similarity(each.toLowerCase(), name.toLowerCase()) }))
    .filter(({ score }) => score >= 0.4)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ each }) => shownPath(`${folder === '/' ? '' : folder}/${each}`, here))
  const missing = dirname(path) === folder ? '' : ` The folder ${shownPath(dirname(path), here)} does not exist either.`
  return { folder, text: `${missing}${like.length > 0 ? ` Did you mean ${like.join(' or ')}?` : ` Look for it with \`find\`, or list ${shownPath(folder, here)} with \`ls\`.`}` }
}

/** With the name in it that leads on to the path. */
async function deepestFolder(path: string): Promise<[folder: string, name: string]> {
  const parent = dirname(path)
  if (parent === path || (await look(parent)).kind === 'folder') return [parent, basename(path)]
  return deepestFolder(parent)
}
