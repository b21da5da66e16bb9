import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { repository, type Repository } from '../os/git-repository.ts'

/** Where this start works. Paths are absolute and real. */
export interface Place {
  cwd: string
  /** The repository's top, else the working directory. */
  root: string
  home: string
  repository: Repository | null
  /** The top would have been the home folder or `/`: edits ask, whatever the mode. */
  tooWide: boolean
}

export function placeOf(cwd: string, home = homedir()): Place {
  const here = realpathSync(cwd)
  const found = repository(here)
  const top = found?.root ?? here
  const tooWide = top === '/' || top === realOr(home)
  return { cwd: here, root: tooWide ? here : top, home, repository: found, tooWide }
}

function realOr(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** As a person writes it. */
export const shortFolder = (folder: string, home: string): string => (folder === home ? '~' : folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder)
