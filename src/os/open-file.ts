import { constants, type Stats } from 'node:fs'
import { lstat, open, readlink, realpath, type FileHandle } from 'node:fs/promises'

/** What stands at a path that `resolveReal` gave. Looking at a device or a pipe never opens it. */
export type Kind = 'file' | 'folder' | 'nothing' | 'other'

export interface Look {
  kind: Kind
  stat?: Stats
  /** For a person and a model: what it is; where it could not be looked at (there is no `stat`), why. */
  why: string
}

/** As a clause of its own: `it is a named pipe`, `permission denied`. */
export const itIs = ({ stat, why }: Pick<Look, 'stat' | 'why'>): string => (stat ? `it is ${why}` : why)

export async function look(path: string): Promise<Look> {
  try {
    const stat = await lstat(path)
    if (stat.isFile()) return { kind: 'file', stat, why: 'a file' }
    if (stat.isDirectory()) return { kind: 'folder', stat, why: 'a folder' }
    return { kind: 'other', stat, why: kindOf(stat) }
  } catch (error) {
    return { kind: codeOf(error) === 'ENOENT' ? 'nothing' : 'other', why: because(error) }
  }
}

function kindOf(stat: Stats): string {
  if (stat.isFIFO()) return 'a named pipe'
  if (stat.isSocket()) return 'a socket'
  if (stat.isCharacterDevice() || stat.isBlockDevice()) return 'a device'
  if (stat.isSymbolicLink()) return 'a link that leads in a circle'
  return 'not a regular file'
}

export type Opened = { ok: true; handle: FileHandle; stat: Stats } | { ok: false; why: string; missing: boolean }

/**
 * Opens a regular file for reading, at a path without links: never follows one that was put there since, in any of its folders,
 * and never waits for a pipe. The caller closes the handle.
 */
export async function openFile(path: string, flags = 0): Promise<Opened> {
  const seen = await look(path)
  if (seen.kind !== 'file') return { ok: false, why: seen.why, missing: seen.kind === 'nothing' }
  let handle: FileHandle | undefined
  try {
    handle = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY)
    const stat = await handle.stat()
    if (stat.isFile() && (await isAt(handle, path))) return { ok: true, handle, stat }
    await handle.close()
    return { ok: false, why: 'a link was put in its path a moment ago', missing: false }
  } catch (error) {
    await handle?.close()
    return { ok: false, why: because(error), missing: codeOf(error) === 'ENOENT' }
  }
}

/** Linux says where an open file or folder really is; elsewhere the path is looked at once more, which leaves a moment open. */
export async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  if (process.platform !== 'linux') return (await realpath(path)) === path
  const real = await readlink(`/proc/self/fd/${handle.fd}`)
  // Replaced since it was opened, as any atomic write does.
  return real === path || real === `${path} (deleted)`
}

export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** `permission denied`: the reason alone, without the path, which the caller has. */
export function because(error: unknown): string {
  const code = codeOf(error)
  return REASONS[code] ?? (error instanceof Error ? error.message.replace(/^[A-Z0-9]+: /, '').replace(/, \w+ '.*$/s, '') : String(error))
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file', ENOTDIR: 'a part of the path is a file, not a folder', EACCES: 'permission denied', EPERM: 'the system does not permit it', ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long', EISDIR: 'a folder', ENOSPC: 'the disk is full', EDQUOT: 'the disk quota is used up', EROFS: 'the file system is read-only', EEXIST: 'it exists already',
  EMFILE: 'too many files are open', ETXTBSY: 'it is a program that is running', ERR_INVALID_ARG_VALUE: 'the path holds a NUL character', EAGAIN: 'it would have to be waited for',
}
