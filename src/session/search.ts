import { closeSync, fstatSync, openSync } from 'node:fs'
import type { SessionRecord } from '../core/record.ts'
import { sanitize } from '../core/sanitize.ts'
import { parseLine } from './head.ts'
import { linesFrom } from './lines.ts'
import { turns } from './turns.ts'

export interface SearchHit {
  file: string
  seq: number
  at: number
  type: string
  /** The words with what stands around them, on one line, fit for a screen. */
  excerpt: string
}

export interface SearchOptions {
  /** At most so many hits of a file. */
  most?: number
  /** So many characters of what stands before the words. */
  before?: number
  signal?: AbortSignal
}

/**
 * Records that hold every word of the query, in any case and order, in what was said, called and shown. File by file, a bounded piece at a
 * time, so that others can run between them. A file that cannot be read has none.
 */
export async function* searchSessions(files: Iterable<string>, query: string, options: SearchOptions = {}): AsyncGenerator<SearchHit> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return
  const turn = turns()
  for (const file of files) {
    await turn()
    if (options.signal?.aborted) return
    yield* searchFile(file, words, turn, options)
  }
}

const PIECE = 256 * 1024

async function* searchFile(file: string, words: readonly string[], turn: () => Promise<void>, { most = 20, before = 60, signal }: SearchOptions): AsyncGenerator<SearchHit> {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch {
    return
  }
  try {
    let hits = 0
    let paused = 0
    for (const line of linesFrom(fd, 0, fstatSync(fd).size)) {
      const hit = search(file, line, words, before)
      if (hit) yield hit
      if (hit && ++hits === most) return
      if (line.offset - paused < PIECE) continue
      paused = line.offset
      await turn()
      if (signal?.aborted) return
    }
  } catch {
    return
  } finally {
    closeSync(fd)
  }
}

function search(file: string, line: Parameters<typeof parseLine>[0], words: readonly string[], before: number): SearchHit | null {
  // A word that is written with escapes in JSON is looked for only in the parsed record.
  const raw = line.bytes.toString().toLowerCase()
  if (words.some((word) => PLAIN.test(word) && !raw.includes(word))) return null
  const { record } = parseLine(line)
  if (!record || 'unknown' in record) return null
  const said = textOf(record)
  const text = said.toLowerCase()
  if (words.some((word) => !text.includes(word))) return null
  return { file, seq: record.seq, at: record.at, type: record.type, excerpt: excerpt(said, text.indexOf(words[0] ?? ''), before) }
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

function excerpt(text: string, at: number, before: number): string {
  const from = Math.max(0, at - before)
  const piece = sanitize(text.slice(from, at + 140)).replace(/\s+/g, ' ').trim()
  return `${from > 0 ? '…' : ''}${piece}${at + 140 < text.length ? '…' : ''}`
}
