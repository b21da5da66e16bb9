import { live } from './path.ts'
import type { Image, OutcomeStatus, RecordOf, SessionRecord, UnknownRecord } from './record.ts'

/** A place that a conversation can be taken back to. */
export interface TreePoint {
  /** Before an input that was delivered; the end of a path that was left; or where the conversation is now. */
  kind: 'input' | 'end' | 'head'
  at: number
  /** The inputs that were delivered there, as they were written; of an end, the last ones before it. */
  text: string
  images: readonly Image[]
  /** The record to rewind to. */
  to: number
  /** The one to rewind to where files go along: they are then as they were right after it. Of an end, before files were put back on the way out. */
  withFiles: number
  /** How many left paths lie between it and the live one; 0: it is on that. */
  depth: number
  /** How the run ended that came last before it; only of ends and the head. */
  outcome: OutcomeStatus | null
}

type AnyRecord = SessionRecord | UnknownRecord

/** Types of records that a tree is made of: of a part of a log that is not in memory, only these are needed. */
export const TREE_TYPES = ['input', 'step', 'rewind', 'outcome'] as const

/** Every place to go back to, on the live path and on those that were left, as they are drawn: newest first, a left path above the place where it leaves. */
export function treeOf(records: readonly AnyRecord[]): TreePoint[] {
  const segments = segmentsOf(records)
  const head = segments.at(-1)
  if (!head) return []
  const trunk = trunkOf(segments, head)
  const points: TreePoint[] = []
  draw({ line: trunk, depth: 0, top: pointOf('head', trunk, head.end, 0) }, points)
  return points
}

/** Records that follow each other in the file: up to the next rewind, with which the next segment begins. */
interface Segment {
  begin: number
  end: number
  /** The record that its first one follows. */
  after: number
  nodes: Node[]
  /** Segments that follow a record of this one, oldest first. */
  children: Segment[]
}

/** Inputs that were delivered together. */
interface Node {
  /** The step that they were delivered with. */
  seq: number
  inputs: RecordOf<'input'>[]
  to: number
  outcome: RecordOf<'outcome'> | null
}

function segmentsOf(records: readonly AnyRecord[]): Segment[] {
  const segments: Segment[] = []
  let segment = newSegment(segments, -1, records[0]?.seq ?? 0)
  const inputs = new Map<string, RecordOf<'input'>>()
  const runs = new Set<string>()
  let settled = -1
  for (const record of records) {
    if (record.type === 'rewind' && !('unknown' in record) && record.to < record.seq) {
      segment.end = record.seq - 1
      segment = newSegment(segments, record.to, record.seq)
      settled = record.seq
    }
    segment.end = record.seq
    if ('unknown' in record) continue
    if (record.type === 'input') inputs.set(record.id, record)
    else if (record.type === 'outcome') {
      settled = record.seq
      const last = segment.nodes.at(-1)
      if (last) last.outcome = record
    } else if (record.type === 'step') {
      const delivered = record.inputs.flatMap((id) => inputs.get(id) ?? []).filter(({ from }) => (from ?? 'user') === 'user')
      const first = Math.min(...delivered.map(({ seq }) => seq))
      // One that waited while something else ran stands before that: the place before its delivery is then another one.
      const to = !runs.has(record.run) && first > settled ? first - 1 : record.seq - 1
      if (delivered.length > 0) segment.nodes.push({ seq: record.seq, inputs: delivered, to, outcome: null })
      for (const { id } of delivered) inputs.delete(id)
      runs.add(record.run)
    }
  }
  return segments
}

function newSegment(segments: Segment[], after: number, begin: number): Segment {
  const segment: Segment = { begin, end: begin, after, nodes: [], children: [] }
  if (after >= 0) holding(segments, after)?.children.push(segment)
  segments.push(segment)
  return segment
}

/** The segment that a record is in, by halving. */
function holding(segments: readonly Segment[], seq: number): Segment | undefined {
  let [low, high] = [0, segments.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((segments[middle]?.begin ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return segments[low - 1]
}

/** Pieces of segments, each from its first to its last record, oldest first. */
type Line = { segment: Segment; from: number; to: number }[]

/** The live path. */
function trunkOf(segments: readonly Segment[], head: Segment): Line {
  const line: Line = []
  let [segment, to]: [Segment | undefined, number] = [head, head.end]
  while (segment) {
    line.unshift({ segment, from: segment.begin, to })
    to = segment.after
    segment = to < 0 ? undefined : holding(segments, to)
  }
  return line
}

/** A path that was left, with what went on from its very end. */
function lineFrom(segment: Segment, from: number): Line {
  const line: Line = []
  for (let [next, begin]: [Segment | undefined, number] = [segment, from]; next; ) {
    line.push({ segment: next, from: begin, to: next.end })
    const last: Segment = next
    next = last.children.findLast((child) => child.after === last.end)
    begin = next?.begin ?? 0
  }
  return line
}

interface Drawn {
  line: Line
  depth: number
  top: TreePoint | null
}

/** Newest first; a path that was left stands above the last input before the place where it leaves. */
function draw({ line, depth, top }: Drawn, points: TreePoint[]): void {
  const own = new Set(line.map(({ segment }) => segment))
  const nodes = line.flatMap(({ segment, from, to }) => segment.nodes.filter(({ seq }) => seq >= from && seq <= to))
  const leaving = line.flatMap(({ segment, from, to }) => [
    ...segment.children.filter((child) => !own.has(child) && child.after >= from && child.after <= to).map((child) => ({ at: child.after, line: lineFrom(child, child.begin) })),
    ...(to < segment.end ? [{ at: to, line: lineFrom(segment, to + 1) }] : []),
  ]).sort((a, b) => a.at - b.at)
  const drawLeaving = (after: number): void => {
    for (let next = leaving.at(-1); next && next.at >= after; next = leaving.at(-1)) {
      leaving.pop()
      const end = next.line.at(-1)
      draw({ line: next.line, depth: depth + 1, top: end ? pointOf('end', next.line, end.to, depth + 1) : null }, points)
    }
  }
  drawLeaving(nodes.at(-1)?.seq ?? 0)
  if (top && (nodes.length > 0 || top.kind === 'head')) points.push(top)
  for (const [index, node] of [...nodes.entries()].reverse()) {
    drawLeaving(node.seq)
    points.push({ kind: 'input', ...textOf(node), to: node.to, withFiles: node.to, depth, outcome: null })
    if (index === 0) drawLeaving(0)
  }
}

function pointOf(kind: 'end' | 'head', line: Line, to: number, depth: number): TreePoint {
  const last = line.flatMap(({ segment, from, to: until }) => segment.nodes.filter(({ seq }) => seq >= from && seq <= until)).at(-1)
  return { kind, ...(last ? textOf(last) : { at: 0, text: '', images: [] }), to, withFiles: last?.outcome?.seq ?? to, depth, outcome: last?.outcome?.status ?? null }
}

const textOf = ({ inputs }: Node): Pick<TreePoint, 'at' | 'text' | 'images'> => ({
  at: inputs[0]?.at ?? 0, text: inputs.map(({ text }) => text).join('\n\n'), images: inputs.flatMap(({ images }) => images ?? []),
})

/** Numbers of records that cannot be read on the way to a record, as ranges. Null: that record itself is not there. */
export function missingOnTheWay({ records, base }: { records: readonly AnyRecord[]; base: number }, to: number): [number, number][] | null {
  const before = records.filter(({ seq }) => seq <= to)
  const present = new Set(before.map(({ seq }) => seq))
  if (!present.has(to)) return null
  const missing: [number, number][] = []
  let last: SessionRecord | undefined
  for (const record of live(before)) {
    // A rewind leads to another place; and what is before `base` is left out on purpose.
    if (last && last.seq >= base && record.type !== 'rewind') {
      let from = last.seq + 1
      while (from < record.seq && present.has(from)) from++
      if (from < record.seq) missing.push([from, record.seq - 1])
    }
    last = record
  }
  return missing
}
