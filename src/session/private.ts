import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { errnoOf } from './fault.ts'

/** Folders 0700 and files 0600 from the first byte, whatever the umask. */
export const FOLDER_MODE = 0o700
export const FILE_MODE = 0o600

/** Others may read or change it, or another user owns it, so it was not written by this program here: perhaps it came with a repository. */
export function isForeign({ mode, uid }: { mode: number; uid: number }): boolean {
  const own = process.getuid?.()
  return (mode & 0o077) !== 0 || (own !== undefined && uid !== own)
}

/**
 * Makes a folder and those above it that are missing, on the disk when this returns. A folder named `.agent` on the way ignores itself in
 * git. What is there already keeps its mode. Throws with an errno; a link in place of `.agent` or of a folder in it is not followed out of its parent.
 */
export function makePrivateFolder(folder: string): void {
  const missing: string[] = []
  let above = folder
  while (!fs.existsSync(above) && dirname(above) !== above) {
    missing.unshift(above)
    above = dirname(above)
  }
  const agent = agentFolder(folder)
  if (agent) stayInside(agent, folder)
  for (const each of missing) {
    makeFolder(each)
    syncFolder(dirname(each))
  }
  if (agent) ignoreItself(agent)
}

/** Two programs may make it at once. */
function makeFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { mode: FOLDER_MODE })
    fs.chmodSync(folder, FOLDER_MODE)
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST' || !fs.statSync(folder).isDirectory()) throw error
  }
}

function agentFolder(folder: string): string | null {
  for (let each = folder; dirname(each) !== each; each = dirname(each)) if (basename(each) === '.agent') return each
  return null
}

/** A repository can ship `.agent` as a link to anywhere, and sessions are written unasked. */
function stayInside(agent: string, folder: string): void {
  const parent = dirname(agent)
  let existing = folder
  while (!fs.existsSync(existing)) existing = dirname(existing)
  if (!fs.existsSync(parent)) return
  const home = fs.realpathSync(parent)
  const real = fs.realpathSync(existing)
  if (real === home || real.startsWith(home.endsWith('/') ? home : `${home}/`)) return
  throw Object.assign(new Error(`${agent} leads out of ${parent}, to ${real}; name that folder with --session-dir if sessions are to be kept there`), { code: 'ELINKOUT' })
}

function ignoreItself(agent: string): void {
  const file = join(agent, '.gitignore')
  try {
    fs.writeFileSync(file, '*\n', { flag: 'wx', mode: FILE_MODE })
    fs.chmodSync(file, FILE_MODE)
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
  }
}

/** So that the names in a folder survive a power cut. Some systems cannot sync a folder; that is no error. */
export function syncFolder(folder: string, files: Pick<typeof fs, 'fsyncSync'> = fs): void {
  const fd = fs.openSync(folder, 'r')
  try {
    files.fsyncSync(fd)
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EISDIR', 'EBADF'].includes(errnoOf(error))) throw error
  } finally {
    fs.closeSync(fd)
  }
}

/** A file that is there whole or not at all. `sync`: and on the disk when this returns. */
export function writePrivate(file: string, data: string | Uint8Array, sync: boolean): void {
  const temporary = `${file}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`
  const fd = fs.openSync(temporary, 'wx', FILE_MODE)
  try {
    fs.fchmodSync(fd, FILE_MODE)
    fs.writeFileSync(fd, data)
    if (sync) fs.fsyncSync(fd)
    fs.closeSync(fd)
    fs.renameSync(temporary, file)
  } catch (error) {
    try {
      fs.closeSync(fd)
    } catch {
      // closed already
    }
    fs.rmSync(temporary, { force: true })
    throw error
  }
  if (sync) syncFolder(dirname(file))
}
