import { lstatSync, readlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

const MOST_LINKS = 40

/**
 * Where a path really leads: absolute, with every link resolved, one that dangles too, and what does not exist yet added as it is.
 * `..` is the parent of where a link leads, as for the kernel. Never throws: what cannot be looked at is left as it is, and opening it fails.
 */
export function resolveReal(path: string, cwd: string): string {
  let left = split(absolute(path, cwd))
  let real = '/'
  for (let links = 0; left.length > 0; ) {
    const [name = '', ...rest] = left
    left = rest
    if (name === '..') {
      real = dirname(real)
      continue
    }
    const target = linkAt(join(real, name))
    if (target === null) real = join(real, name)
    else if (++links > MOST_LINKS) return join(real, name, ...left)
    else {
      left = [...split(target), ...left]
      if (isAbsolute(target)) real = '/'
    }
  }
  return real
}

/** Whether a path that `resolveReal` gave leads elsewhere by now: what was allowed for it was not allowed for that. */
export const leadsElsewhere = (real: string): boolean => resolveReal(real, '/') !== real

/** Absolute as it was written, links and all: for showing. */
export function absolute(path: string, cwd: string): string {
  if (path === '~' || path.startsWith('~/')) return homedir() + path.slice(1)
  return isAbsolute(path) ? path : `${cwd}/${path}`
}

const split = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.')

function linkAt(path: string): string | null {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null
  } catch {
    return null
  }
}
