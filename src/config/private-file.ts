import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Written whole or not at all, readable by its owner only, from the first byte and again at every rewrite. A link stays one. */
export function writePrivate(file: string, text: string): void {
  const target = real(file)
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  const temporary = `${target}.${randomBytes(6).toString('hex')}`
  const handle = openSync(temporary, 'wx', 0o600)
  try {
    writeFileSync(handle, text)
    fsyncSync(handle)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  } finally {
    closeSync(handle)
  }
  renameSync(temporary, target)
}

function real(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
