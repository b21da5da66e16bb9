import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createHash } from 'node:crypto'
import type { Blobs, Here, Output, Prepared, Refused, Tool } from '../../src/core/ports.ts'
import type { Seen } from '../../src/core/record.ts'
import { read } from '../../src/tools/read.ts'

/** A folder of its own, removed when the test is over. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tiller-files-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A working directory and a session that remembers what was seen, as the loop does. */
export function workspace(options: Partial<Here> = {}) {
  const folder = temporaryFolder()
  const seen = new Map<string, Seen>()
  const stored = new Map<string, Uint8Array>()
  const blobs: Blobs = {
    put: (data) => {
      const bytes = Buffer.from(data)
      const sha256 = hash(bytes)
      stored.set(sha256, bytes)
      return { sha256, bytes: bytes.length }
    },
    get: (sha256) => stored.get(sha256),
  }
  const here: Here = { call: 'c1', root: folder, cwd: folder, seen: (path) => seen.get(path), images: false, signal: new AbortController().signal, ...options }
  const prepare = <I>(tool: Tool<I>, input: I): Promise<Prepared | Refused> => tool.prepare(input, here)
  const run = async (prepared: Prepared | Refused): Promise<Output> => {
    if ('refused' in prepared) return { status: 'failed', text: prepared.refused }
    const output = await prepared.run(here.signal, { output: () => {}, spawned: () => {} }, { sandbox: false })
    for (const each of output.seen ?? []) seen.set(each.path, together(seen.get(each.path), each))
    return output
  }
  const tools = { read: read({ blobs }) }
  return {
    folder,
    here,
    seen,
    blobs,
    tools,
    prepare,
    run,
    call: async <I>(tool: Tool<I>, input: I): Promise<Output> => run(await prepare(tool, input)),
    read: async (input: Parameters<typeof tools.read.prepare>[0] | string): Promise<Output> => run(await tools.read.prepare(typeof input === 'string' ? { path: input } : input, here)),
    put: (name: string, content: string | Uint8Array): string => {
      const path = join(folder, name)
      writeFileSync(path, content)
      return path
    },
    bytes: (name: string): Buffer => readFileSync(join(folder, name)),
    text: (name: string): string => readFileSync(join(folder, name), 'utf8'),
  }
}

export const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

function together(known: Seen | undefined, more: Seen): Seen {
  if (known?.sha256 !== more.sha256 || !known.lines || !more.lines || known.whole) return known?.sha256 === more.sha256 && known.whole ? known : more
  if (more.lines.from > known.lines.to + 1) return more
  const lines = { from: Math.min(known.lines.from, more.lines.from), to: Math.max(known.lines.to, more.lines.to), of: more.lines.of }
  return { ...more, lines, whole: lines.from === 1 && lines.to === lines.of }
}
