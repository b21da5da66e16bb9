import { closeSync, fstatSync, openSync } from 'node:fs'
import * as z from 'zod/mini'
import { sanitize } from '../core/sanitize.ts'
import { headOf, parseLine } from './head.ts'
import type { RawLine } from './lines.ts'
import { linesFrom } from './lines.ts'

/** What the lines of a log say in short, as far as they were looked at. */
export const Summary = z.object({
  id: z.nullable(z.string()), cwd: z.string(), root: z.string(), branch: z.nullable(z.string()), fork: z.nullable(z.string()),
  title: z.nullable(z.string()),
  /** The beginning of the first input; null: there was none yet. */
  words: z.nullable(z.string()),
  created: z.number(),
  /** When something was last done in it: another title or mode is no such thing. */
  last: z.number(),
  /** Of the newest run; null: none has ended, or one is open. */
  outcome: z.nullable(z.string()),
  cost: z.number(),
  /** Some of it had no known price. */
  costUnknown: z.boolean(),
})
export type Summary = z.infer<typeof Summary>

/** `begin`: from the first line to `scanned`. `end`: of the last lines, where those between were left out. */
export const Looked = z.object({ scanned: z.number(), begin: Summary, end: z.nullable(Summary) })
export type Looked = z.infer<typeof Looked>

const PIECE = 32 * 1024
const MOST = 1024 * 1024

/** Looks at the beginning and the end of a log, or at all of it where little is left between them. Goes on from where it was last time. */
export function look(file: string, before: Looked | null): Looked {
  const fd = openSync(file, 'r')
  try {
    const { size } = fstatSync(fd)
    const looked: Looked = before && before.scanned <= size ? { ...before, begin: { ...before.begin }, end: null } : { scanned: 0, begin: empty(), end: null }
    const { begin } = looked
    const enough = (): boolean => begin.id !== null && begin.words !== null
    for (let to = PIECE; !enough() && to / 2 < Math.min(size, MOST); to *= 2) scan(fd, looked, Math.min(to, size), enough)
    if (size - looked.scanned <= 2 * PIECE) scan(fd, looked, size)
    else looked.end = lookAtEnd(fd, size)
    return looked
  } finally {
    closeSync(fd)
  }
}

/** Looks at everything that was left out; null: it was told to stop. `turn` is asked after each piece, as a file may be of any size. */
export async function lookAtAll(file: string, before: Looked, turn: () => Promise<void>, signal?: AbortSignal): Promise<Looked | null> {
  const fd = openSync(file, 'r')
  try {
    const looked: Looked = { ...before, begin: { ...before.begin }, end: null }
    let paused = looked.scanned
    for (const line of linesFrom(fd, looked.scanned, fstatSync(fd).size)) {
      if (!line.ended) break
      take(looked, line)
      if (line.offset - paused < MOST) continue
      paused = line.offset
      await turn()
      if (signal?.aborted) return null
    }
    return looked
  } finally {
    closeSync(fd)
  }
}

const empty = (): Summary => ({ id: null, cwd: '', root: '', branch: null, fork: null, title: null, words: null, created: 0, last: 0, outcome: null, cost: 0, costUnknown: false })

/** The whole lines before byte `to`, or fewer. */
function scan(fd: number, looked: Looked, to: number, enough?: () => boolean): void {
  for (const line of linesFrom(fd, looked.scanned, to)) {
    if (!line.ended) return
    take(looked, line)
    if (enough?.()) return
  }
}

function take(looked: Looked, line: RawLine): void {
  note(looked.begin, line)
  if (!line.tooLong) looked.scanned = line.offset + line.bytes.length + 1
}

function lookAtEnd(fd: number, size: number): Summary {
  const end = empty()
  let first = true
  for (const line of linesFrom(fd, size - PIECE, size)) {
    if (!first && line.ended) note(end, line, AT_END)
    first = false
  }
  return end
}

function note(summary: Summary, line: RawLine, types = NOTED): void {
  const head = headOf(line)
  if (!head) return
  if (head.type !== 'set') summary.last = head.at
  if (head.type === 'step') summary.outcome = null
  if (!types.has(head.type)) return
  const { record } = parseLine(line)
  if (!record || 'unknown' in record) return
  switch (record.type) {
    case 'session':
      if (summary.id !== null) return
      Object.assign(summary, { id: record.id, cwd: record.cwd, root: record.root, branch: record.git?.branch ?? null, fork: record.fork?.id ?? null, created: record.at })
      return
    case 'input':
      summary.words ??= sanitize(record.text.slice(0, 400)).replace(/\s+/g, ' ').trim().slice(0, 200)
      return
    case 'set':
      summary.title = record.title ?? summary.title
      return
    case 'outcome':
      summary.outcome = record.status
      return
    case 'reply':
    case 'compact':
      // A fork's copied records were paid for by the session that they were copied from.
      if (summary.fork !== null && record.at < summary.created) return
      summary.cost += record.cost ?? 0
      if (record.cost === null) summary.costUnknown = true
      return
    default:
      return
  }
}

const NOTED: ReadonlySet<string> = new Set(['session', 'input', 'set', 'outcome', 'reply', 'compact'])
const AT_END: ReadonlySet<string> = new Set(['set', 'outcome'])
