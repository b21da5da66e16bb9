import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { because, openFile } from './open-file.ts'

/** A text file larger than this is shown in parts and not edited. */
export const MOST_BYTES = 64 * 1024 * 1024

export type ReadFile = { ok: true; bytes: Buffer; sha256: string } | { ok: false; why: string; missing: boolean }

/** All bytes of a regular file, at a path that `resolveReal` gave. */
export async function readWhole(path: string, signal: AbortSignal, most = MOST_BYTES): Promise<ReadFile> {
  const opened = await openFile(path)
  if (!opened.ok) return opened
  const { handle, stat } = opened
  try {
    if (stat.size > most) return { ok: false, why: `it is larger than ${megabytes(most)}`, missing: false }
    const bytes = await readUpTo(handle, most, stat.size, signal)
    return bytes ? { ok: true, bytes, sha256: sha256(bytes) } : { ok: false, why: signal.aborted ? 'cancelled' : `it is larger than ${megabytes(most)}`, missing: false }
  } catch (error) {
    return { ok: false, why: because(error), missing: false }
  } finally {
    await handle.close()
  }
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`

/** A file of /proc says that it is empty, and another process may be writing: what counts is the end, not the size. */
async function readUpTo(handle: FileHandle, most: number, size: number, signal: AbortSignal): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  for (let total = 0; ; ) {
    const chunk = Buffer.allocUnsafe(Math.max(64 * 1024, Math.min(size - total + 1, CHUNK)))
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, null)
    if (bytesRead === 0) return Buffer.concat(chunks)
    total += bytesRead
    if (total > most || signal.aborted) return null
    chunks.push(chunk.subarray(0, bytesRead))
  }
}

const CHUNK = 8 * 1024 * 1024

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** One after the other for each path, so that two changes of one file never interleave. */
export async function exclusively<T>(path: string, work: () => Promise<T>): Promise<T> {
  const before = queues.get(path) ?? Promise.resolve()
  const mine = before.then(work, work)
  queues.set(path, mine)
  try {
    return await mine
  } finally {
    if (queues.get(path) === mine) queues.delete(path)
  }
}

const queues = new Map<string, Promise<unknown>>()
