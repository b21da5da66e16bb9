import { closeSync, fstatSync, openSync } from 'node:fs'
import type { RecordOf, SessionRecord, UnknownRecord } from '../core/record.ts'
import { parseLine } from './head.ts'
import { linesFrom } from './lines.ts'
import type { Pieces } from './pieces.ts'
import { atOnce } from './pieces.ts'
import type { Enough, Plan } from './plan.ts'
import { FOREIGN, mostBytes, planBack, planReading, TooLarge } from './plan.ts'

export type AnyRecord = SessionRecord | UnknownRecord

/** A place where a log is not as it was written. Nothing else is lost by it, and nothing is ever rewritten. */
export interface Damage {
  /** Byte offset of the line. */
  offset: number
  /** The record that stands before it; -1: none. */
  after: number
  /** The first record that is lost by it, where that is known. */
  seq?: number
  why: string
}

export interface Reading {
  /** The `session` record, then everything from `base` on, in the order of the file. */
  records: AnyRecord[]
  session: RecordOf<'session'> | null
  base: number
  /** Byte offset of the record `base`. */
  from: number
  damage: Damage[]
  /** The number of the next record. */
  next: number
  /** The file does not end with an LF. */
  torn: boolean
}

/** What a session's meaning needs of its log: back to what the newest compaction on the live path keeps. `head`: as if rewound to there. */
export function* readNeeded(fd: number, size: number, head = Infinity): Pieces<Reading> {
  return yield* readPlanned(fd, size, yield* planReading(fd, size, () => backToKept(head), mostBytes()))
}

/** What is read in a moment. */
const LITTLE = 1024 * 1024

/** The same where it is little, with all that is to be looked at; null: it is not little, or the log is large and damaged. */
export function readLittle(fd: number, size: number): Reading | null {
  if (size <= LITTLE) return atOnce(readPlanned(fd, size, atOnce(planReading(fd, size, () => () => false))))
  try {
    const plan = atOnce(planBack(fd, size, backToKept(Infinity), LITTLE))
    return plan && atOnce(readPlanned(fd, size, plan))
  } catch (error) {
    if (error instanceof TooLarge) return null
    throw error
  }
}

function* readPlanned(fd: number, size: number, plan: Plan): Pieces<Reading> {
  const region = yield* readRegion(fd, plan, size)
  const base = region.records[0]?.seq ?? 0
  const session = region.records.find(isSession) ?? (plan.from > 0 ? sessionAtBeginning(fd, plan.from) : null)
  if (session && session.seq < base) region.records.unshift(session)
  return { ...region, session, base, from: plan.from }
}

/** A few screens of the end, to be looked at while the rest is read; of a log that is damaged there, no record but its `session`. Null: not even that is there. */
export function readLast(fd: number, size: number): Reading | null {
  const plan = atOnce(planBack(fd, size, lastScreens(size), Infinity)) ?? { from: size, dropped: new Map() }
  const reading = atOnce(readPlanned(fd, size, plan))
  if (!reading.session) return null
  return reading.records.length > 0 ? reading : { ...reading, records: [reading.session], base: Number.MAX_SAFE_INTEGER }
}

/** From where a run begins, else from a step, so that no call is parted from its result; and not across a rewind, which may lead anywhere. */
function lastScreens(size: number): Enough {
  let later = ''
  return ({ offset, type }) => {
    const bytes = size - offset
    const isBeginning = (bytes > LITTLE / 8 && type === 'outcome') || (bytes > LITTLE / 2 && (later === 'step' || later === 'input'))
    later = type
    return isBeginning || type === 'rewind' || bytes > LITTLE
  }
}

/** The records `from` to `to` among the first `size` bytes. */
export function readRange(fd: number, size: number, from: number, to: number): { records: AnyRecord[]; offset: number } {
  const plan = atOnce(planReading(fd, size, () => (head) => head.seq < from))
  return { records: atOnce(readRegion(fd, plan, size, to)).records.filter((record) => record.seq >= from), offset: plan.from }
}

/** A compaction counts only on the live path, and only if it carries what the records before it say of the whole session. */
function backToKept(head: number): Enough {
  let path = head
  let keep: number | null = null
  return ({ seq, type }, record) => {
    if (seq > path) return false
    if (keep !== null) return seq < keep
    if (type !== 'rewind' && type !== 'compact') return false
    const read = record()
    if (!read || 'unknown' in read) return false
    if (read.type === 'rewind' && read.to < read.seq) path = read.to
    if (read.type === 'compact' && read.carry) keep = read.keep
    return false
  }
}

/** Only the end: as much as is needed to append to it. */
export function readEnd(fd: number, size: number): Reading {
  let seen = 0
  const plan = atOnce(planReading(fd, size, () => () => seen++ > 0))
  const region = atOnce(readRegion(fd, plan, size))
  return { ...region, session: region.records.find(isSession) ?? sessionAtBeginning(fd, size), base: region.records[0]?.seq ?? 0, from: plan.from }
}

/** Every record of a log, one at a time; what is wrong with it is added to `damage` on the way. Throws with an errno. */
export function* recordsOf(file: string, damage: Damage[] = []): Generator<AnyRecord> {
  const fd = openSync(file, 'r')
  try {
    const { size } = fstatSync(fd)
    yield* region(fd, { ...atOnce(planReading(fd, size, () => () => false)), from: 0 }, size, damage, { torn: false })
  } finally {
    closeSync(fd)
  }
}

function* readRegion(fd: number, plan: Plan, size: number, to = Infinity): Pieces<Pick<Reading, 'records' | 'damage' | 'next' | 'torn'>> {
  const damage: Damage[] = []
  const end = { torn: false }
  const records: AnyRecord[] = []
  for (const record of region(fd, plan, size, damage, end)) {
    if (record.seq > to) break
    records.push(record)
    yield
  }
  return { records, damage: damage.sort((one, other) => one.offset - other.offset), next: (records.at(-1)?.seq ?? -1) + 1, torn: end.torn }
}

function* region(fd: number, plan: Plan, size: number, damage: Damage[], end: { torn: boolean }): Generator<AnyRecord> {
  let last = plan.from === 0 ? -1 : null
  let sinceRecord: Damage[] = []
  for (const line of linesFrom(fd, plan.from, size)) {
    end.torn = !line.ended
    const { record, why } = parseLine(line)
    const wrong = why ?? (record ? misplaced(plan, line.offset, record, last) : null)
    const bad: Damage | null = wrong === null ? null : { offset: line.offset, after: last ?? -1, why: wrong }
    if (bad && !(wrong === FOREIGN && damage.at(-1)?.why === FOREIGN)) damage.push(bad)
    if (!record || misplaced(plan, line.offset, record, last)) {
      if (bad && !record) sinceRecord.push(bad)
      continue
    }
    if (last !== null && record.seq > last + 1) damage.push(...lost(last + 1, record.seq - 1, sinceRecord, line.offset))
    last = record.seq
    sinceRecord = []
    yield record
  }
}

const misplaced = (plan: Plan, offset: number, record: AnyRecord, last: number | null): string | null =>
  plan.dropped.get(offset) ?? (last !== null && record.seq <= last ? `a second record ${record.seq}` : null)

/** Gives the bad lines the numbers of the records that they were, or says that more is missing than was found. */
function lost(first: number, final: number, bad: Damage[], offset: number): Damage[] {
  const unknown = bad.filter((each) => each.seq === undefined)
  if (unknown.length === final - first + 1) {
    for (const [index, each] of unknown.entries()) each.seq = first + index
    return []
  }
  return [{ offset, after: first - 1, seq: first, why: first === final ? `record ${first} is missing` : `records ${first} to ${final} are missing` }]
}

const isSession = (record: AnyRecord): record is RecordOf<'session'> => record.type === 'session' && !('unknown' in record)

/** It is the first line, unless that one is damaged. */
function sessionAtBeginning(fd: number, end: number): RecordOf<'session'> | null {
  let left = 20
  for (const line of linesFrom(fd, 0, end)) {
    const { record } = parseLine(line)
    if (record && isSession(record)) return record
    if (--left === 0) return null
  }
  return null
}
