import { lstatSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fold } from '../core/edit-fold.ts'
import { resolveReal } from '../os/real-path.ts'

/**
 * Where a path that a model wrote leads, as `resolveReal`. Where nothing is there, but one name that looks the same does exist (a
 * no-break space of macOS, a curly quote, an accent of two characters), it is that one: a model cannot write the difference.
 */
export function located(path: string, cwd: string): string {
  const real = resolveReal(plain(path), cwd)
  return exists(real) ? real : (alike(real) ?? real)
}

/** The same for what must be there: also as it is mentioned in a prompt, `@path`. */
export function locatedFile(path: string, cwd: string): string {
  const real = located(path, cwd)
  if (!path.startsWith('@') || exists(real)) return real
  const mentioned = located(path.slice(1), cwd)
  return exists(mentioned) ? mentioned : real
}

function plain(path: string): string {
  if (!path.startsWith('file:///')) return path
  try {
    return fileURLToPath(path)
  } catch {
    return path
  }
}

function alike(path: string): string | null {
  const parent = dirname(path)
  if (parent === path) return null
  const folder = exists(parent) ? parent : alike(parent)
  if (folder === null) return null
  const name = look(path.slice(parent.length))
  const found = names(folder).filter((each) => look(each) === name)
  return found.length === 1 && found[0] !== undefined ? resolveReal(join(folder, found[0]), '/') : null
}

const look = (name: string): string => fold(name.replace(/^\//, ''), 'unicode', { cr: false, whole: false }).text

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function exists(path: string): boolean {
  try {
    return lstatSync(path) !== undefined
  } catch {
    return false
  }
}
