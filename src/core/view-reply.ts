import type { Delta } from './ports.ts'
import type { RecordOf } from './record.ts'
import { sanitize } from './sanitize.ts'
import { feed, finish, noBlocks, unfinished, type Block } from './view-blocks.ts'
import { oneLine } from './view-excerpt.ts'
import type { Row } from './view-row.ts'
import type { Streaming, View, ViewEvent } from './view-state.ts'

/** A request goes out: what is streamed from now on belongs to it. */
export const noStream = (run: string): Streaming => ({
  run, text: '', reasonings: 0, part: null, blocks: noBlocks, reasoning: noReasoning, gap: false, settled: false, over: false,
})

/** A piece of the reply. Finished blocks settle; the one being written stays live. */
export function onDelta(view: View, delta: { run: string } & Delta): View {
  const stream = view.inner.reply
  if (!stream || stream.over || stream.run !== delta.run) return view
  if (delta.kind === 'call') return onCallDelta(settlePart(view, stream), delta)
  const switched = stream.part && stream.part.index !== delta.part
  if (switched && delta.part < (stream.part?.index ?? 0)) return view
  const before = switched ? settlePart(view, stream) : view
  const now = before.inner.reply ?? stream
  const received = now.part?.length ?? 0
  const gap = now.gap || delta.offset > received
  const text = gap ? delta.text : delta.text.slice(received - delta.offset)
  const part = { index: delta.part, kind: delta.kind, length: Math.max(received, delta.offset + delta.text.length) }
  if (delta.kind === 'reasoning') return live(before, { ...now, part, gap, reasoning: addReasoning(now.reasoning, text) })
  if (gap) return live(before, { ...now, part, gap, reasoning: { ...now.reasoning, end: (now.reasoning.end + text).slice(-HOLE) } })
  const { blocks, done } = feed(now.blocks, text)
  return live(withRows(before, done.map(toRow)), { ...now, part, blocks, text: now.text + text, settled: now.settled || done.length > 0 })
}

/** The reply as recorded: what of it is not settled yet settles now, and never twice. */
export function onReply(view: View, record: RecordOf<'reply'>): View {
  const stream = view.inner.reply?.run === record.run ? view.inner.reply : noStream(record.run)
  const rows: Row[] = [...restOf(record, stream)]
  if (record.stop !== 'end' && record.stop !== 'calls' && !record.fault) rows.push({ kind: 'stop', stop: record.stop })
  const attempt = view.live.request?.attempt ?? 1
  if (record.fault) rows.push(toFault(record, record.fault, attempt))
  const retry = record.retry && record.retry.model === undefined ? { at: record.retry.at, attempt: attempt + 1, of: record.retry.of } : null
  const settled = stream.settled || rows.some((row) => row.kind === 'text')
  return {
    ...withRows(view, rows),
    live: { ...view.live, request: null, retry, reasoning: null, text: null, gap: false, writing: [] },
    inner: { ...view.inner, reply: { ...noStream(record.run), settled, over: true } },
  }
}

/** A summary that is asked for again. */
export const onSummaryFault = (view: View, { fault, attempt, of, at, waitMs }: Extract<ViewEvent, { type: 'retry' }>): View => ({
  ...withRows(view, [{ kind: 'fault', fault: fault.kind, message: oneLine(fault.message, 1_000), status: fault.status ?? null, attempt, retry: { waitMs, of, model: null } }]),
  live: { ...view.live, retry: { at, attempt: attempt + 1, of } },
})

/** Of a reply that nothing more comes of: what was said stays. */
export const settleStream = (view: View): View => (view.inner.reply ? settlePart(view, view.inner.reply) : view)

export const withRows = (view: View, rows: readonly Row[]): View => (rows.length === 0 ? view : { ...view, rows: view.rows.push(rows) })

/** Shown of what was streamed after something was missed. */
const HOLE = 1_000
const FIRST = 200
const noReasoning: Streaming['reasoning'] = { first: '', lines: 0, end: '' }

function addReasoning(before: Streaming['reasoning'], text: string): Streaming['reasoning'] {
  const first = before.first.includes('\n') || before.first.length > FIRST * 2 ? before.first : (before.first + text.slice(0, FIRST * 4)).trimStart()
  let lines = before.lines
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return { first, lines, end: (before.end + text).slice(-FIRST * 2) }
}

/** Another part begins: the one before it is whole. After a gap nobody knows that, and the reply will say. */
function settlePart(view: View, stream: Streaming): View {
  if (!stream.part || stream.gap) return view
  const fresh: Streaming = { ...stream, part: null, blocks: noBlocks, reasoning: noReasoning }
  if (stream.part.kind === 'reasoning' && stream.reasoning.first === '') return live(view, fresh)
  if (stream.part.kind === 'reasoning') return live(withRows(view, [toReasoning(stream.reasoning)]), { ...fresh, reasonings: stream.reasonings + 1 })
  const rows = finish(stream.blocks).map(toRow)
  return live(withRows(view, rows), { ...fresh, settled: stream.settled || rows.length > 0 })
}

function onCallDelta(view: View, delta: Delta): View {
  const known = view.live.writing.find((call) => call.part === delta.part)
  const call = { part: delta.part, name: oneLine(delta.name ?? known?.name ?? '', 60), characters: delta.offset + delta.text.length }
  const writing = known ? view.live.writing.map((each) => (each === known ? call : each)) : [...view.live.writing, call]
  return { ...view, live: { ...view.live, writing, request: begun(view) } }
}

const begun = (view: View): View['live']['request'] => (view.live.request && !view.live.request.begun ? { ...view.live.request, begun: true } : view.live.request)

/** The view with its live tail as the stream says. */
function live(view: View, stream: Streaming): View {
  const { blocks, part, gap } = stream
  const pieces = blocks.pieces > 0
  const hole = { text: sanitize(stream.reasoning.end), joins: false, fence: null, table: null }
  const fence = blocks.shape === 'fence' ? { language: blocks.fence?.language ?? '', first: !pieces } : null
  const text = part?.kind === 'text' ? (gap ? hole : { text: unfinished(blocks), joins: pieces, fence, table: blocks.table }) : null
  const reasoning = part?.kind === 'reasoning' ? oneLine(stream.reasoning.end.trimEnd().split('\n').at(-1) ?? '') : null
  return { ...view, live: { ...view.live, text, reasoning, gap, request: begun(view) }, inner: { ...view.inner, reply: stream } }
}

function* restOf(record: RecordOf<'reply'>, stream: Streaming): Generator<Row> {
  const whole = record.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const differs = !whole.startsWith(stream.text) && !stream.text.startsWith(whole)
  if (differs) yield* finish(stream.blocks).map(toRow)
  if (differs) yield { kind: 'differs' }
  let skip = differs ? 0 : stream.text.length
  let blocks = differs ? noBlocks : stream.blocks
  let reasonings = stream.reasonings
  for (const part of record.parts) {
    if (part.type === 'reasoning' && part.text.trim() !== '' && reasonings-- <= 0) yield toReasoning(addReasoning(noReasoning, part.text))
    if (part.type !== 'text') continue
    if (skip <= part.text.length) {
      const fed = feed(blocks, part.text.slice(skip))
      yield* [...fed.done, ...finish(fed.blocks)].map(toRow)
      blocks = noBlocks
    }
    skip = Math.max(0, skip - part.text.length)
  }
}

const toRow = (block: Block): Row => ({ kind: 'text', ...block })

const toReasoning = ({ first, lines }: Streaming['reasoning']): Row => ({ kind: 'reasoning', first: oneLine(first.split('\n')[0] ?? '', FIRST), lines: lines + 1 })

const toFault = (record: RecordOf<'reply'>, fault: NonNullable<RecordOf<'reply'>['fault']>, attempt: number): Row => ({
  kind: 'fault', fault: fault.kind, message: oneLine(fault.message, 1_000), status: fault.status ?? null, attempt,
  retry: record.retry ? { waitMs: Math.max(0, record.retry.at - record.at), of: record.retry.of, model: record.retry.model === undefined ? null : oneLine(record.retry.model, 100) } : null,
})
