import { randomBytes } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { access, link, lstat, open, readdir, rename, unlink, type FileHandle } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { sha256 } from './files.ts'
import { openFolder, removeMade, syncFolder, type Folder } from './inside.ts'
import { because, codeOf } from './open-file.ts'

export type Written =
  /** `note`: what a person should know of how it was done. */
  | { ok: true; note?: string }
  /** `now`: the hash of what the file holds after a write that broke off half-way; without it the file is as it was. */
  | { ok: false; why: string; now?: string }

/**
 * Puts `bytes` where a file of hash `before` is, or where there is none (null): all of it or nothing, synced, with the mode and owner that
 * the file had. At the moment of writing it looks again whether the path (without links, from `resolveReal`) still leads there and whether the
 * file is still the one that was read. A file with other names (hard links), or whose owner could not be kept, is written in place.
 */
export async function replaceFile(path: string, before: string | null, bytes: Uint8Array): Promise<Written> {
  const opened = await openFolder(dirname(path))
  if (!opened.ok) return opened
  const { folder } = opened
  const name = `${folder.at}/${basename(path)}`
  try {
    const written = before === null ? await createFile(folder, name, bytes) : await changeFile(folder, name, before, bytes)
    if (!written.ok) await removeMade(folder)
    return written
  } catch (error) {
    await removeMade(folder)
    return { ok: false, why: because(error) }
  } finally {
    await folder.handle.close()
  }
}

/** Takes away what writes beside this path left when their process was killed before `since` (UTC milliseconds). Never throws. */
export async function removeLeftovers(path: string, since: number): Promise<void> {
  const folder = dirname(path)
  for (const name of await readdir(folder).catch(() => [])) {
    if (!LEFTOVER.test(name)) continue
    const file = `${folder}/${name}`
    const stat = await lstat(file).catch(() => null)
    if (stat?.isFile() && stat.mtimeMs < since) await unlink(file).catch(() => {})
  }
}

const LEFTOVER = /^\.tiller-[0-9a-f]{12}\.tmp$/

const CHANGED = 'it has changed since it was read; nothing was written. Read it again'

async function changeFile(folder: Folder, name: string, before: string, bytes: Uint8Array): Promise<Written> {
  const file = await open(name, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  let stat: Stats
  let now: Buffer
  try {
    stat = await file.stat()
    if (!stat.isFile()) return { ok: false, why: 'it is no longer a regular file; nothing was written' }
    now = await file.readFile()
  } finally {
    await file.close()
  }
  if (sha256(now) !== before) return { ok: false, why: CHANGED }
  const why = await mayWrite(name, stat)
  if (why !== null) return { ok: false, why }
  if (stat.nlink > 1) return writeInPlace(name, stat, now, bytes, `It has ${stat.nlink - 1} more name${stat.nlink > 2 ? 's' : ''} (hard links), so it was written in place: they all show the change.`)
  const temporary = await makeTemporary(folder, bytes, stat)
  if ('instead' in temporary) return writeInPlace(name, stat, now, bytes, `It was written in place, because ${temporary.instead}.`)
  return orRemove(temporary.name, async () => {
    const last = await lstat(name).catch(() => null)
    if (!last || last.ino !== stat.ino || last.dev !== stat.dev || last.mtimeMs !== stat.mtimeMs || last.size !== stat.size) return { ok: false, why: CHANGED }
    await rename(temporary.name, name)
    await syncFolder(folder)
    return { ok: true }
  })
}

/** A file that may not be written is not replaced either, although its folder would allow that. */
async function mayWrite(name: string, { mode }: Stats): Promise<string | null> {
  try {
    await access(name, constants.W_OK)
    return null
  } catch (error) {
    return `it may not be written (mode ${(mode & 0o7777).toString(8)}): ${because(error)}`
  }
}

async function createFile(folder: Folder, name: string, bytes: Uint8Array): Promise<Written> {
  const temporary = await makeTemporary(folder, bytes, null)
  if ('instead' in temporary) return { ok: false, why: temporary.instead }
  const inTheWay = { ok: false, why: 'somebody else made it in the meantime; nothing was written. Read it first' } as const
  return orRemove(temporary.name, async () => {
    try {
      // Unlike a rename, this fails where somebody else made the file in the meantime.
      await link(temporary.name, name)
      await unlink(temporary.name)
    } catch (error) {
      if (codeOf(error) === 'EEXIST' || (await lstat(name).catch(() => null))) return inTheWay
      // A file system without hard links.
      await rename(temporary.name, name)
    }
    await syncFolder(folder)
    return { ok: true }
  })
}

/** The temporary file does not stay when it did not become the file. */
async function orRemove(name: string, work: () => Promise<Written>): Promise<Written> {
  let written: Written | undefined
  try {
    written = await work()
    return written
  } finally {
    if (!written?.ok) await unlink(name).catch(() => {})
  }
}

/** A whole and synced file in the same folder, with owner and mode of the one it stands in for; `instead`: why that cannot be had. */
async function makeTemporary(folder: Folder, bytes: Uint8Array, like: Stats | null): Promise<{ name: string } | { instead: string }> {
  const name = `${folder.at}/.tiller-${randomBytes(6).toString('hex')}.tmp`
  let handle: FileHandle
  try {
    handle = await open(name, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, like ? 0o600 : 0o666)
  } catch (error) {
    return { instead: `a file beside it could not be made: ${because(error)}` }
  }
  try {
    const kept = like ? await keepOwner(handle, like) : true
    if (kept) await handle.writeFile(bytes)
    // After the owner, since a change of owner takes set-user-id bits away.
    if (kept && like) await handle.chmod(like.mode & 0o7777)
    if (kept) await handle.sync()
    await handle.close()
    if (kept) return { name }
    await unlink(name)
    return { instead: 'its owner could not be kept otherwise' }
  } catch (error) {
    await handle.close().catch(() => {})
    await unlink(name).catch(() => {})
    throw error
  }
}

async function keepOwner(handle: FileHandle, { uid, gid }: Stats): Promise<boolean> {
  const mine = await handle.stat()
  if (mine.uid === uid && mine.gid === gid) return true
  return handle.chown(uid, gid).then(() => true, () => false)
}

/** Not atomic: a crash may leave half of it. What fails is put back. */
async function writeInPlace(name: string, stat: Stats, before: Buffer, bytes: Uint8Array, note: string): Promise<Written> {
  const handle = await open(name, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { ino, dev } = await handle.stat()
    if (ino !== stat.ino || dev !== stat.dev) return { ok: false, why: CHANGED }
    try {
      await overwrite(handle, bytes)
      return { ok: true, note }
    } catch (error) {
      return await overwrite(handle, before).then<Written, Written>(
        () => ({ ok: false, why: `${because(error)}; the file was put back as it was` }),
        async () => ({ ok: false, why: `${because(error)}, half-way, and it could not be put back`, now: await hashOf(name) }),
      )
    }
  } finally {
    await handle.close()
  }
}

async function overwrite(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten
  await handle.truncate(bytes.length)
  await handle.sync()
}

async function hashOf(name: string): Promise<string> {
  const handle = await open(name, constants.O_RDONLY | constants.O_NOFOLLOW)
  const bytes = await handle.readFile()
  await handle.close()
  return sha256(bytes)
}
