import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, link, lstat, open, readlink, rename, rmdir, symlink, unlink, type FileHandle } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { replaceFile } from '../os/atomic-write.ts'
import { sha256 } from '../os/files.ts'
import { openFolder } from '../os/inside.ts'
import { because, codeOf, look, openFile } from '../os/open-file.ts'
import { same, type Entry, type Known } from './undo-plan.ts'

/** What stands at a path, without following a link. A folder is no file; a pipe or a device is like nothing that was kept. */
export async function currentOf(path: string): Promise<Known> {
  const { kind, stat } = await look(path)
  if (kind === 'nothing' || kind === 'folder') return null
  if (stat?.isSymbolicLink()) return { sha256: sha256(Buffer.from(await readlink(path))), mode: 0o777, link: true }
  if (kind === 'other' && !stat) return null
  const opened = await openFile(path)
  if (!opened.ok) return opened.missing ? null : { sha256: `not readable: ${opened.why}` }
  try {
    return { sha256: await hashOf(opened.handle), mode: opened.stat.mode & 0o7777, link: false }
  } finally {
    await opened.handle.close()
  }
}

/** Of a file of any size. */
async function hashOf(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** Makes one path as it was; everything else stays. A string says why not, and then nothing was done. */
export async function putBack({ path, action, target, current }: Pick<Entry, 'path' | 'action' | 'target' | 'current'>, bytes: Buffer | null): Promise<string | null> {
  const now = await currentOf(path)
  if (!same(now, current)) return 'it has changed a moment ago'
  if (action === 'delete') return within(path, (name) => unlink(name))
  if (target === null || bytes === null || sha256(bytes) !== target.sha256) return 'no copy of it was kept'
  if (now && !now.link && !target.link) return changeBack(path, now, target, bytes)
  return within(path, async (name) => {
    await rmdir(name).catch((error: unknown) => {
      if (!['ENOENT', 'ENOTDIR'].includes(codeOf(error))) throw error
    })
    const temporary = `${dirname(name)}/.tiller-${randomBytes(6).toString('hex')}.tmp`
    await make(temporary, target, bytes)
    try {
      if (now === null) await link(temporary, name)
      else await rename(temporary, name)
    } finally {
      await unlink(temporary).catch(() => {})
    }
  })
}

/** A file stays the same file: owner and hard links too, where that can be had. */
async function changeBack(path: string, now: NonNullable<Known>, target: NonNullable<Known>, bytes: Buffer): Promise<string | null> {
  if (now.sha256 !== target.sha256) {
    const written = await replaceFile(path, now.sha256, bytes)
    if (!written.ok) return written.why
  }
  const { mode } = target
  return mode === undefined || mode === now.mode ? null : within(path, (name) => chmod(name, mode))
}

/** Not readable for others before its mode says so. */
async function make(name: string, target: NonNullable<Known>, bytes: Buffer): Promise<void> {
  if (target.link) return symlink(bytes.toString(), name)
  const handle = await open(name, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.chmod(target.mode ?? 0o644)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** In the folder that the path names, and in no other that a link leads to. */
async function within(path: string, work: (name: string) => Promise<void>): Promise<string | null> {
  const opened = await openFolder(dirname(path))
  if (!opened.ok) return opened.why
  try {
    await work(`${opened.folder.at}/${basename(path)}`)
    return null
  } catch (error) {
    return codeOf(error) === 'ENOTEMPTY' ? 'a folder with other files is there' : because(error)
  } finally {
    await opened.folder.handle.close()
  }
}

/** Takes away folders that are empty now and did not exist before, from the inside out. */
export async function removeEmpty(path: string, root: string, existed: (folder: string) => Promise<boolean>): Promise<void> {
  for (let folder = dirname(path); folder.startsWith(`${root}/`); folder = dirname(folder)) {
    const stat = await lstat(folder).catch(() => null)
    if (!stat?.isDirectory() || (await existed(folder)) || (await within(folder, (name) => rmdir(name))) !== null) return
  }
}
