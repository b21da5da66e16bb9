import { closeSync, fstatSync, openSync } from 'node:fs'
import { setImmediate as breathe } from 'node:timers/promises'
import type { SessionRecord } from '../core/record.ts'
import { sanitize } from '../core/sanitize.ts'
import { parseLine } from './head.ts'
import { linesFrom } from './lines.ts'

export interface SearchHit {
  file: string
  seq: number
  at: number
  type: string
  /** The words with what stands around them, on one line, fit for a screen. */
  excerpt: string
}

/**
 * Records that hold every word of the query, in any case and order, in what was said, called and shown. File by file, a bounded piece at a
 * time, with pauses for others; at most `most` hits of a file. A file that cannot be read has none.
 */
export async function* searchSessions(files: Iterable<string>, query: string, options: { most?: number; signal?: AbortSignal } = {}): AsyncGenerator<SearchHit> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return
  for (const file of files) {
    await breathe()
    if (options.signal?.aborted) return
    yield* searchFile(file, words, options)
  }
}

async function* searchFile(file: string, words: readonly string[], { most = 20, signal }: { most?: number; signal?: AbortSignal }): AsyncGenerator<SearchHit> {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch {
    return
  }
  try {
    let hits = 0
    let since = 0
    for (const line of linesFrom(fd, 0, fstatSync(fd).size)) {
      since += line.bytes.length
      if (since > 4_000_000) {
        since = 0
        await breathe()
        if (signal?.aborted) return
      }
      const hit = search(file, line, words)
      if (!hit) continue
      yield hit
      if (++hits === most) return
    }
  } catch {
    return
  } finally {
    closeSync(fd)
  }
}

function search(file: string, line: Parameters<typeof parseLine>[0], words: readonly string[]): SearchHit | null {
  // A word that is written with escapes in JSON is looked for only in the parsed record.
  const raw = line.bytes.toString().toLowerCase()
  if (words.some((word) => PLAIN.test(word) && !raw.includes(word))) return null
  const { record } = parseLine(line)
  if (!record || 'unknown' in record) return null
  const said = textOf(record)
  const text = said.toLowerCase()
  if (words.some((word) => !text.includes(word))) return null
  return { file, seq: record.seq, at: record.at, type: record.type, excerpt: excerpt(said, text.indexOf(words[0] ?? '')) }
}

const PLAIN = /^[^"\\\x00-\x1f]*$/

function textOf(record: SessionRecord): string {
  switch (record.type) {
    case 'input':
      return record.text
    case 'reply':
      return record.parts.map((part) => (part.type === 'call' ? `${part.name} ${JSON.stringify(part.input)}` : part.text)).join('\n')
    case 'result':
      return record.text
    case 'shell':
      return `${record.command}\n${record.text}`
    case 'compact':
      return record.summary
    case 'set':
      return record.title ?? ''
    case 'check':
      return `${record.command}\n${record.text ?? ''}`
    case 'outcome':
      return record.reason
    default:
      return ''
  }
}

function excerpt(text: string, at: number): string {
  const from = Math.max(0, at - 60)
  const piece = sanitize(text.slice(from, at + 140)).replace(/\s+/g, ' ').trim()
  return `${from > 0 ? '…' : ''}${piece}${at + 140 < text.length ? '…' : ''}`
}
