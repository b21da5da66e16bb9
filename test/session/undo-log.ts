import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Fact, FileChange, SessionRecord } from '../../src/core/record.ts'
import { sha256 } from '../../src/os/files.ts'
import { checkpoints, type CheckpointOptions } from '../../src/session/checkpoint.ts'
import type { UndoDeps } from '../../src/session/undo.ts'

export const never = new AbortController().signal
const hashOf = (path: string): string | null => (existsSync(path) ? sha256(readFileSync(path)) : null)

/** A log as the loop writes it, over a real folder: runs with tools and commands, and a person who changes files in between. Images of files are not kept. */
export function session(root: string, options: Partial<CheckpointOptions> = {}) {
  const stored = new Map<string, Uint8Array>()
  const blobs: UndoDeps['blobs'] = {
    put: (data) => {
      const bytes = Buffer.from(data)
      stored.set(sha256(bytes), bytes)
      return { sha256: sha256(bytes), bytes: bytes.length }
    },
    get: (hash) => stored.get(hash),
  }
  const deps: UndoDeps = { root, checkpoints: checkpoints({ dir: join(root, '.agent', 'checkpoints'), root, ...options }), blobs }
  const records: SessionRecord[] = []
  let run = ''
  let calls = 0
  const append = (fact: Fact): void => void records.push({ ...fact, seq: records.length, at: 0 })
  const checkpoint = async (why: string, call?: string): Promise<void> => {
    const { tree, note } = await deps.checkpoints.take(why, never)
    append({ type: 'checkpoint', run, why, tree, ...(call === undefined ? {} : { call }), ...(note === undefined ? {} : { note }) })
  }
  const first = async (): Promise<void> => {
    if (!records.some((record) => record.type === 'checkpoint' && record.run === run)) await checkpoint("before the run's first change")
  }
  return {
    deps, records, append,
    /** The record after which a run began. */
    before: (id: string): number => records.findIndex((record) => 'run' in record && record.run === id) - 1,
    begin(id: string): void {
      run = id
    },
    /** A file tool: its change is in the log, by hash. null deletes. */
    async tool(path: string, content: string | Uint8Array | null, ends: 'result' | 'lost' = 'result'): Promise<void> {
      await first()
      const call = `c${++calls}`
      const full = join(root, path)
      const before = hashOf(full)
      append({ type: 'start', run, call, changes: [{ path: full, before, intended: content === null ? null : sha256(Buffer.from(content)) }] })
      if (content === null) rmSync(full)
      else {
        mkdirSync(dirname(full), { recursive: true })
        writeFileSync(full, content)
      }
      const change: FileChange = { path: full, before, after: hashOf(full) }
      if (ends === 'result') append({ type: 'result', run, call, status: 'ok', text: '', changes: [change] })
    },
    /** A command: what it did is known from the checkpoints around it. */
    async command(text: string, work: () => void, after = true): Promise<void> {
      const call = `c${++calls}`
      append({ type: 'reply', run, parts: [{ type: 'call', id: call, name: 'shell', input: { command: text } }], stop: 'calls', usage: { input: 0, output: 0 } })
      await checkpoint('before shell', call)
      append({ type: 'start', run, call })
      work()
      append({ type: 'result', run, call, status: 'ok', text: '' })
      if (after) await checkpoint('after shell', call)
    },
    async end(): Promise<void> {
      await checkpoint('at the end')
      append({ type: 'outcome', run, status: 'done', reason: '' })
    },
  }
}

/** Every file, link and folder below, but for `.git` and `.agent`, with content and mode. */
export function snapshot(root: string, below = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
    const path = join(below, entry.name)
    if (path === '.git' || path === '.agent') continue
    const full = join(root, path)
    if (entry.isDirectory()) {
      found.set(`${path}/`, '')
      for (const [name, content] of snapshot(root, path)) found.set(name, content)
    } else if (entry.isSymbolicLink()) found.set(path, `-> ${readlinkSync(full)}`)
    else found.set(path, `${(lstatSync(full).mode & 0o7777).toString(8)} ${readFileSync(full).toString('base64')}`)
  }
  return found
}
