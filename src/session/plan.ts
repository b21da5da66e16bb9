import { getHeapStatistics } from 'node:v8'
import type { SessionRecord, UnknownRecord } from '../core/record.ts'
import type { Head } from './head.ts'
import { headOf, parseLine } from './head.ts'
import { linesBack, linesFrom } from './lines.ts'
import { inOrder } from './order.ts'
import type { Pieces } from './pieces.ts'

/** Which part of a log has to be read. */
export interface Plan {
  /** Byte offset of the first line that is needed. */
  from: number
  /** Offsets of lines that are not this session's or stand in a wrong place, and why. */
  dropped: ReadonlyMap<number, string>
}

/** Is given the records newest first; true: neither this one nor an older one is needed. */
export type Enough = (head: Head, record: () => SessionRecord | UnknownRecord | null) => boolean

/** More bytes of records than the memory would hold. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge'
  override readonly message = 'The live part of this session is larger than the memory of this program.'
}

/**
 * Finds what is needed of the first `size` bytes, from their end. While every line follows the one before it, that reads no further back than
 * needed; at the first sign of damage the whole file is looked through, so that what is kept does not depend on where reading stopped.
 */
export function* planReading(fd: number, size: number, enough: () => Enough, most = Infinity): Pieces<Plan> {
  return (yield* planBack(fd, size, enough(), most)) ?? (yield* planWhole(fd, size, enough(), most))
}

/** Said once for lines that follow each other. */
export const FOREIGN = "another session's records"

/** What V8 counts for objects that die young. */
const YOUNG = 200e6
/** How many bytes of records can be held: parsed, and with what is shown of them, they take two to three times as much. */
export const mostBytes = (): number => Math.max(YOUNG / 10, (getHeapStatistics().heap_size_limit - YOUNG) * 0.3)

/** Null: something is damaged. */
export function* planBack(fd: number, size: number, enough: Enough, most: number): Pieces<Plan | null> {
  let later: number | null = null
  let from = size
  for (const line of linesBack(fd, size)) {
    yield
    const head = headOf(line)
    if (!head) continue
    // The half of a line that was cut off, and written again behind it.
    if (head.seq === later && !parseLine(line).record) continue
    if (later !== null && head.seq !== later - 1) return null
    if (enough(head, () => parseLine(line).record)) return { from, dropped: new Map() }
    later = head.seq
    from = head.offset
    if (size - from > most) throw new TooLarge()
  }
  return later === null || later === 0 ? { from: 0, dropped: new Map() } : null
}

function* planWhole(fd: number, size: number, enough: Enough, most: number): Pieces<Plan> {
  const dropped = new Map<number, string>()
  const heads: Head[] = []
  for (const head of ownHeads(fd, size, dropped)) {
    heads.push(head)
    yield
  }
  const order = inOrder(heads.map((head) => head.seq))
  const own = new Set(order)
  const seqs = new Set(order.map((index) => heads[index]?.seq))
  for (const [index, head] of heads.entries()) {
    if (!own.has(index)) dropped.set(head.offset, seqs.has(head.seq) ? `a second record ${head.seq}` : `record ${head.seq} out of its place`)
  }
  let from = 0
  let first: Head | undefined
  for (const index of order.reverse()) {
    const head = heads[index]
    if (!head) continue
    if (enough(head, () => recordAt(fd, head.offset))) {
      from = first?.offset ?? size
      break
    }
    first = head
    if (size - head.offset > most) throw new TooLarge()
  }
  return { from, dropped }
}

/** The heads of all lines but those of another session's log that was written into this one. */
function* ownHeads(fd: number, size: number, dropped: Map<number, string>): Generator<Head> {
  let id: string | null = null
  let own = { next: 0, at: 0 }
  let foreign: { next: number; at: number } | null = null
  for (const line of linesFrom(fd, 0, size)) {
    const head = headOf(line)
    if (!head) continue
    const after = { next: head.seq + 1, at: head.at }
    const inPlace: boolean = head.seq === own.next || head.seq === foreign?.next
    const record = head.type === 'session' || !inPlace ? parseLine(line).record : null
    // Half a line whose number another one has.
    if (!inPlace && !record) continue
    if (record?.type === 'session' && !('unknown' in record)) {
      id ??= record.id
      if (record.id !== id) foreign = { next: head.seq, at: head.at }
    }
    if (foreign && head.seq === foreign.next && !(head.seq === own.next && Math.abs(head.at - own.at) <= Math.abs(head.at - foreign.at))) {
      dropped.set(head.offset, FOREIGN)
      foreign = after
      continue
    }
    foreign = null
    own = after
    yield head
  }
}

function recordAt(fd: number, offset: number): SessionRecord | UnknownRecord | null {
  for (const line of linesFrom(fd, offset)) return parseLine(line).record
  return null
}
