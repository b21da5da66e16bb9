import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

/** The most that is taken of one file, and of all together: what is over is left out and said, to the model and to the person. */
export const MOST_OF_ONE = 32 * 1024
export const MOST_OF_ALL = 64 * 1024

export interface Instruction {
  /** As it is named in the folder (a link keeps its own name). */
  path: string
  /** Of `text`, which is what is sent. */
  sha256: string
  text: string
}

export interface Instructions {
  files: Instruction[]
  /** One line each, for stderr or the screen: what was cut, left out or could not be read. */
  notes: string[]
  /** Links that lead outside the root, not loaded: ask, then call again with their targets in `consented`. */
  outside: { path: string; target: string }[]
}

export interface Where {
  /** Absolute and real. */
  root: string
  cwd: string
  /** File names, of the configuration. */
  names: readonly string[]
  /** The person's own file, for every project: loaded first when it exists. */
  own?: string
  /** Real paths outside the root that the person agreed to. */
  consented?: readonly string[]
}

/**
 * Project instructions from the root down to the working directory, each file once however many names it has.
 * They are text for the model and nothing else, so they are read in a folder that is not trusted, too, as the
 * model would read any file there; only a link that leads out of the root needs a yes, because it may name a private file.
 */
export function loadInstructions(where: Where): Instructions {
  const found: Instructions = { files: [], notes: [], outside: [] }
  const seen = new Set<string>()
  let left = MOST_OF_ALL
  for (const { path, own } of candidates(where)) {
    const target = real(path)
    if (target === null || seen.has(target)) continue
    if (!own && !isInside(target, where.root) && !where.consented?.includes(target)) {
      found.outside.push({ path, target })
      found.notes.push(`${path} leads outside the project, to ${target}, and was not loaded`)
      continue
    }
    seen.add(target)
    const read = readStart(target, Math.min(left, MOST_OF_ONE))
    if (read === null) continue
    if ('why' in read) {
      found.notes.push(`${path} was not loaded: ${read.why}`)
      continue
    }
    const text = read.text.trim()
    if (found.files.some((file) => file.text === text) || (text === '' && read.left === 0)) continue
    const note = read.left > 0 ? `[${path} is longer than is taken at the start: its last ${read.left} bytes were left out]` : ''
    if (note) found.notes.push(note.slice(1, -1))
    const sent = note ? `${text}\n${note}` : text
    left -= Buffer.byteLength(text)
    found.files.push({ path, sha256: createHash('sha256').update(sent).digest('hex'), text: sent })
  }
  return found
}

function candidates({ root, cwd, names, own }: Where): { path: string; own: boolean }[] {
  const folders: string[] = []
  for (let folder = cwd; isInside(folder, root); folder = dirname(folder)) {
    folders.unshift(folder)
    if (folder === root) break
  }
  return [...(own ? [{ path: own, own: true }] : []), ...folders.flatMap((folder) => names.map((name) => ({ path: join(folder, name), own: false })))]
}

const isInside = (path: string, root: string): boolean => {
  const way = relative(root, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith(sep))
}

function real(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

/** null: a folder, pipe or device of that name, which is nothing to speak of. Never waits, never reads more than it takes. */
function readStart(path: string, most: number): { text: string; left: number } | { why: string } | null {
  let handle: number
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    return { why: (error as NodeJS.ErrnoException).code === 'EACCES' ? 'it cannot be read (no permission)' : `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})` }
  }
  try {
    const stat = fstatSync(handle)
    if (!stat.isFile()) return null
    const buffer = Buffer.alloc(Math.min(most, stat.size))
    const bytes = readSync(handle, buffer, 0, buffer.length, 0)
    const taken = buffer.subarray(0, bytes)
    if (taken.includes(0)) return { why: 'it is not text' }
    return { text: new TextDecoder().decode(taken).replace(/\uFFFD{1,3}$/, ''), left: stat.size - bytes }
  } finally {
    closeSync(handle)
  }
}
