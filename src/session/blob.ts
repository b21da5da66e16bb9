import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import type { Blobs } from '../core/ports.ts'
import { makePrivateFolder, syncFolder, writePrivate } from './private.ts'

/**
 * Large outputs, images and before-images of a session, each stored once under its hash, beside the log. `put` returns when it is on the
 * disk, and throws with an errno where it cannot be; callers cap what they give. `get` never returns other bytes than were put.
 */
export function openBlobs(folder: string): Blobs {
  return { put: (data) => put(folder, data), get: (sha256) => get(folder, sha256) }
}

const hash = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex')

function put(folder: string, data: Uint8Array | string): { sha256: string; bytes: number } {
  const sha256 = hash(data)
  const bytes = Buffer.byteLength(data)
  // One that is there but damaged is written anew.
  if (get(folder, sha256)) return { sha256, bytes }
  const file = fileOf(folder, sha256)
  makePrivateFolder(dirname(file))
  writePrivate(file, data, true)
  return { sha256, bytes }
}

function get(folder: string, sha256: string): Uint8Array | undefined {
  // The hash comes from a log, and a log from anywhere.
  if (!/^[0-9a-f]{64}$/.test(sha256)) return undefined
  let data: Buffer
  try {
    data = fs.readFileSync(fileOf(folder, sha256))
  } catch {
    return undefined
  }
  return hash(data) === sha256 ? data : undefined
}

/** A larger file is not kept before and after each change: the checkpoint of its run has it, or says that it has not. */
const MOST_IMAGE = 16 * 1024 * 1024

/**
 * Keeps what files held before and after a tool changed them, as blobs: what is undone or shown later does not depend on git or on what became
 * of the file. Not synced: after a power cut one may be missing, and is then not put back. Never throws.
 */
export const imageKeeper = (folder: string) => (bytes: Uint8Array): void => {
  if (bytes.length > MOST_IMAGE) return
  const file = fileOf(folder, hash(bytes))
  try {
    if (fs.statSync(file, { throwIfNoEntry: false })?.size === bytes.length) return
    makePrivateFolder(dirname(file))
    writePrivate(file, bytes, false)
  } catch {
    // A full disk: whoever wants it back is told that there is no copy.
  }
}

const fileOf = (folder: string, sha256: string): string => join(folder, sha256.slice(0, 2), sha256.slice(2))

/** Gives these blobs to another session, as links where the file system has them: a blob is gone when the last session that uses it is. */
export function shareBlobs(from: string, to: string, hashes: Iterable<string>): void {
  for (const sha256 of hashes) {
    if (!/^[0-9a-f]{64}$/.test(sha256)) continue
    const [source, target] = [fileOf(from, sha256), fileOf(to, sha256)]
    if (!fs.existsSync(source) || fs.existsSync(target)) continue
    makePrivateFolder(dirname(target))
    try {
      fs.linkSync(source, target)
    } catch {
      writePrivate(target, fs.readFileSync(source), true)
    }
    syncFolder(dirname(target))
  }
}
