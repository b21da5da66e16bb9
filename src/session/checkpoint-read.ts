import { createHash } from 'node:crypto'
import { parseMeta, type Meta } from './checkpoint-meta.ts'
import type { CheckpointStore } from './checkpoint-store.ts'

/** What a tree has at a path. */
export interface Entry {
  blob: string
  kind: 'file' | 'program' | 'link'
}

export interface Content {
  sha256: string
  bytes: number
}

const KINDS: Record<string, Entry['kind']> = { '100644': 'file', '100755': 'program', '120000': 'link' }
/** As many as surely fit into the arguments of a program. */
const AT_ONCE = 400

export async function readMeta(store: CheckpointStore, tree: string): Promise<Meta | null> {
  if (!/^[0-9a-f]{40,64}$/.test(tree)) return null
  const end = await store.run(['cat-file', 'commit', tree])
  const text = end.stdout.toString()
  return end.exit === 0 ? parseMeta(text.slice(text.indexOf('\n\n') + 2)) : null
}

/** By path relative to the root. Folders and what is not there are left out. */
export async function readEntries(store: CheckpointStore, tree: string, paths: readonly string[], signal?: AbortSignal): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>()
  const wanted = new Set(paths)
  // Of very many it is quicker to read all.
  const parts = paths.length > 2_000 ? [[]] : Array.from({ length: Math.ceil(paths.length / AT_ONCE) }, (_, part) => paths.slice(part * AT_ONCE, (part + 1) * AT_ONCE))
  for (const part of parts) {
    const end = await store.run(['ls-tree', '-z', ...(part.length === 0 ? ['-r'] : []), '--full-tree', tree, '--', ...part], { signal, maxBytes: 256 * 1024 * 1024 })
    for (const line of end.stdout.toString().split('\0')) {
      const [, mode = '', blob = '', path = ''] = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []
      const kind = KINDS[mode]
      if (kind && wanted.has(path)) found.set(path, { blob, kind })
    }
  }
  return found
}

/** Hash and size of blobs, in memory that does not grow with them. */
export async function readBlobs(store: CheckpointStore, blobs: readonly string[]): Promise<Map<string, Content>> {
  const found = new Map<string, Content>()
  const wanted = [...new Set(blobs)].filter((blob) => !known.has(blob))
  if (wanted.length > 0) {
    const reader = batchReader((blob, content) => void known.set(blob, content))
    await store.run(['cat-file', '--batch'], { input: `${wanted.join('\n')}\n`, discard: true, onOutput: (chunk, stream) => stream === 'stdout' && reader(chunk) })
  }
  for (const blob of blobs) {
    const content = known.get(blob)
    if (content) found.set(blob, content)
  }
  return found
}

/** A blob never changes. */
const known = new Map<string, Content>()

/** Reads `<blob> blob <size>\n<bytes>\n` again and again, wherever the chunks are cut. */
export function batchReader(found: (blob: string, content: Content) => void): (chunk: Uint8Array) => void {
  let header = ''
  let blob = ''
  let left = -1
  let bytes = 0
  let hash = createHash('sha256')
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (left < 0) {
        const end = chunk.indexOf(10, at)
        header += Buffer.from(chunk.subarray(at, end < 0 ? chunk.length : end)).toString()
        at = end < 0 ? chunk.length : end + 1
        if (end < 0) continue
        const [, name, size] = /^([0-9a-f]+) blob (\d+)$/.exec(header) ?? []
        header = ''
        if (name === undefined) continue
        ;[blob, left, bytes, hash] = [name, Number(size), Number(size), createHash('sha256')]
      }
      const part = chunk.subarray(at, at + left)
      hash.update(part)
      left -= part.length
      at += part.length
      if (left > 0 || at >= chunk.length) continue
      found(blob, { sha256: hash.digest('hex'), bytes })
      at += 1
      left = -1
    }
  }
}
