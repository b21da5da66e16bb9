import { constants } from 'node:fs'
import { mkdir, open, readlink, realpath, rmdir, type FileHandle } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { because, codeOf } from './open-file.ts'

/** An open folder that was found to be where its path says. */
export interface Folder {
  /** Put before `/name`: on Linux such a path stays in this very folder, whatever becomes of the names above it. */
  at: string
  handle: FileHandle
  /** Folders that had to be made, outermost first. */
  made: string[]
}

export type OpenedFolder = { ok: true; folder: Folder } | { ok: false; why: string }

const linux = process.platform === 'linux'
// Linux only, and not among the names that Node knows: the folder as a place, which needs no right to list it.
const O_PATH = linux ? 0o10000000 : 0
const MOVED = 'a link was put in its path since it was looked at, so it now leads elsewhere; nothing was written'

/** A folder at a path without links, made with its parents where it is missing. Refused if a link was put anywhere in its path since. */
export async function openFolder(path: string): Promise<OpenedFolder> {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, constants.O_DIRECTORY | O_PATH)
    const real = linux ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(path)
    if (real === path) return { ok: true, folder: { at: linux ? `/proc/self/fd/${handle.fd}` : path, handle, made: [] } }
    await handle.close()
    return { ok: false, why: MOVED }
  } catch (error) {
    await handle?.close()
    if (codeOf(error) === 'ENOENT' && path !== '/') return makeFolder(path)
    return { ok: false, why: `${path}: ${because(error)}` }
  }
}

/** Inside its parent, which was opened and looked at in the same way. */
async function makeFolder(path: string): Promise<OpenedFolder> {
  const parent = await openFolder(dirname(path))
  if (!parent.ok) return parent
  const { at, handle, made } = parent.folder
  try {
    await mkdir(`${at}/${basename(path)}`)
    await syncFolder(parent.folder)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') return { ok: false, why: `the folder ${path} could not be made: ${because(error)}` }
  } finally {
    await handle.close()
  }
  const opened = await openFolder(path)
  if (opened.ok) opened.folder.made = [...made, path]
  return opened
}

/** Takes back folders that were made for a file that could not be written; one that is no longer empty stays. */
export async function removeMade({ made }: Folder): Promise<void> {
  for (const path of made.toReversed()) await rmdir(path).catch(() => {})
}

/** Some file systems do not know it, and a folder that may not be listed cannot be opened for it. */
export async function syncFolder({ at }: Pick<Folder, 'at'>): Promise<void> {
  try {
    const handle = await open(`${at}/.`, constants.O_RDONLY | constants.O_DIRECTORY)
    await handle.sync()
    await handle.close()
  } catch {
    // The file itself is synced; its name is then as durable as this file system makes it.
  }
}
