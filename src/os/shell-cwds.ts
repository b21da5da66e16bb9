import { isAbsolute } from 'node:path'
import { resolveReal } from './real-path.ts'
import type { Cwds } from './shell-access.ts'
import type { Word } from './shell-word.ts'

/** Where the next command stands: if this one succeeded, and in any case. */
export interface Flow { ok: Cwds; any: Cwds }

const MOST_CWDS = 8
export const stays = (cwds: Cwds): Flow => ({ ok: cwds, any: cwds })
export const LOST: Flow = stays(null)
export function union(a: Cwds, b: Cwds): Cwds {
  if (a === null || b === null) return null
  const all = [...new Set([...a, ...b])]
  return all.length > MOST_CWDS ? null : all
}

/** As `cd` does by default: by the text of the path. Through a link the text and the place differ from then on, so it is not followed. */
export function changeFolder(words: readonly Word[], cwds: Cwds, home: string): Flow {
  const [target, ...more] = words.slice(1).filter(({ shown }) => shown !== '--')
  if (more.length > 0 || target?.shown.startsWith('-')) return LOST
  const path = target ? target.values?.[0] : home
  if (path === undefined || path.startsWith('~') || target?.values?.length !== (target ? 1 : undefined)) return LOST
  if (!isAbsolute(path) && cwds === null) return LOST
  const places = (isAbsolute(path) ? ['/'] : (cwds ?? [])).map((cwd) => ({ real: resolveReal(path, cwd), written: normal(isAbsolute(path) ? path : `${cwd}/${path}`) }))
  const reached = places.every(({ real, written }) => real === written) ? places.map(({ real }) => real) : null
  return { ok: reached, any: union(cwds, reached) }
}

function normal(path: string): string {
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}

/** Where a path leads from each folder that a command may stand in; nowhere known: empty. A `~` that is still there was quoted. */
export const realPaths = (path: string, cwds: Cwds): string[] => [...new Set((isAbsolute(path) ? ['/'] : (cwds ?? [])).map((cwd) => resolveReal(path.startsWith('~') ? `./${path}` : path, cwd)))]
