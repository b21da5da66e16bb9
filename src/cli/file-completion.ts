import { Fzf } from 'fzf'
import { listFiles } from '../os/search.ts'
import type { UiHost } from '../ui/port.ts'
import type { Place } from './place.ts'

const FRESH_MS = 5_000

/** Paths below the working directory that fit what stands behind `@`. The list is made when it is first asked for, and again after a while. */
export function fileCompletion(place: Place): UiHost['files'] {
  let known: { at: number; paths: string[] } | null = null
  return async (query, most, signal) => {
    if (!known || Date.now() - known.at > FRESH_MS) {
      const listed = await listFiles({ start: place.cwd, root: place.root, folders: true }, signal)
      if ('ended' in listed) return []
      known = { at: Date.now(), paths: listed.paths }
    }
    return new Fzf(known.paths, { limit: most }).find(query).map(({ item }) => item)
  }
}
