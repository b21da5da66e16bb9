import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Recursive } from './known-commands.ts'
import { nameMatcher } from './shell-glob.ts'

const MOST_ENTRIES = 5_000

/** Secret files that a search through these folders would show; null: there is more than can be looked at. Links are not followed, as a search does not. */
export function secretsUnder(folders: readonly string[], { hidden, only, without = [] }: Recursive, isSecret: (path: string) => boolean): string[] | null {
  const wanted = only?.map(nameMatcher)
  const fits = (path: string): boolean => !wanted || wanted.some((matches) => matches === null || matches.test(basename(path)))
  const found: string[] = []
  const queue = folders.filter(isFolder)
  let entries = 0
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    for (const entry of list(folder)) {
      if (++entries > MOST_ENTRIES) return null
      if (entry.name.startsWith('.') && !hidden) continue
      const path = join(folder, entry.name)
      if (entry.isDirectory() && !without.includes(entry.name)) queue.push(path)
      else if (entry.isFile() && fits(path) && isSecret(path)) found.push(path)
    }
  }
  return found
}

function list(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
