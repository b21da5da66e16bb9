import { closeSync, fstatSync, openSync } from 'node:fs'
import type { FactType, SessionRecord } from '../core/record.ts'
import { isKnownRecord } from '../core/path.ts'
import { headOf, parseLine } from './head.ts'
import { linesFrom } from './lines.ts'
import { recordsOf } from './reading.ts'
import { turns } from './turns.ts'

/**
 * The records of some types before number `before`, oldest first, of a log of any size: the others are passed over without being parsed, of
 * results the texts are left out, and nobody is held up meanwhile. Where the lines do not simply follow each other, all are looked at, as whoever opens the log does it.
 */
export async function olderRecords(file: string, before: number, types: readonly FactType[], signal?: AbortSignal): Promise<SessionRecord[]> {
  if (before <= 0) return []
  const wanted = new Set<string>(types)
  return (await quickly(file, before, wanted, signal)) ?? [...thoroughly(file, before, wanted)]
}

async function quickly(file: string, before: number, wanted: ReadonlySet<string>, signal: AbortSignal | undefined): Promise<SessionRecord[] | null> {
  const found: SessionRecord[] = []
  const fd = openSync(file, 'r')
  try {
    let next = 0
    const turn = turns()
    for (const line of linesFrom(fd, 0, fstatSync(fd).size)) {
      await turn()
      signal?.throwIfAborted()
      const head = headOf(line)
      if (head?.seq !== next || (head.type === 'session' && next > 0)) return null
      if (head.seq >= before) break
      next = head.seq + 1
      if (!wanted.has(head.type)) continue
      const { record } = parseLine(line)
      if (!record) return null
      if (isKnownRecord(record)) found.push(lean(record))
    }
    return found
  } finally {
    closeSync(fd)
  }
}

function* thoroughly(file: string, before: number, wanted: ReadonlySet<string>): Generator<SessionRecord> {
  for (const record of recordsOf(file)) {
    if (record.seq >= before) return
    if (isKnownRecord(record) && wanted.has(record.type)) yield lean(record)
  }
}

function lean(record: SessionRecord): SessionRecord {
  if (record.type !== 'result') return record
  const { diff: _, ...rest } = record
  return { ...rest, text: '' }
}
