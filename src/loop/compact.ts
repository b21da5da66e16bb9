import { context } from '../core/context.ts'
import { costOf } from '../core/cost.ts'
import type { Model, ModelRequest } from '../core/ports.ts'
import type { Carry, FactOf, Fault, RecordOf, SessionRecord } from '../core/record.ts'
import { askedNext } from './model-of.ts'
import { fallbackFor } from './retry.ts'
import { summarise } from './summarise.ts'
import type { Work } from './work.ts'

type Stuck = { status: 'failed'; reason: string }

const SUMMARY_TOKENS = 8_192
/** For the instruction, and for what an estimate is wrong by. */
const SLACK_TOKENS = 1_000
/** Compactions in a row without a good reply in between: more would burn money without an end. */
const MOST_IN_A_ROW = 2

/**
 * Replaces older records by a summary when the next request would not fit. Null: nothing was in the way of going on; `again`: another model is to be asked.
 * The cut is always before a step, so that no call is parted from its result. A text that cuts in needs the room as well: it comes right after.
 */
export async function compactIfNeeded(work: Work, model: Model, fault?: Fault): Promise<Stuck | 'again' | null> {
  const { ledger, deps } = work
  if (fault?.contextWindow) work.learnedWindows.set(model.id, fault.contextWindow)
  const window = windowOf(work, model)
  if (!fault && (!deps.compaction.auto || window === null)) return null
  const size = nextBytes(ledger.path, ledger.state.live.waiting.map((input) => input.id)) * ledger.state.live.tokensPerByte
  const room = window === null ? size / 2 : window - Math.min(deps.compaction.reserveTokens, window / 4)
  if (!fault && size <= room) return null
  if (work.compactions >= MOST_IN_A_ROW) return { status: 'failed', reason: tooLarge(window) }
  work.compactions++
  const left = await compact(work, model, { keepTokens: Math.min(deps.compaction.keepTokens, room / 3), window, perByte: tokensPerByte(work, window, fault), signal: work.stop.signal })
  if (!left) return null
  if (work.stop.signal.aborted) return { status: 'failed', reason: 'interrupted' }
  if (left.why === null) return { status: 'failed', reason: tooLarge(window) }
  work.fallback = (left.fault && (await fallbackFor(work, model, left.fault))) ?? work.fallback
  if (askedNext(work) !== model.id) return 'again'
  return { status: 'failed', reason: `the conversation no longer fits into the model's window, and no summary of it came about: ${left.why}` }
}

/** What the server itself named as its limit, else what is known of the model. */
export const windowOf = ({ learnedWindows }: Work, { id, limits }: Model): number | null => learnedWindows.get(id) ?? limits.contextWindow

/** A refusal says more than an estimate: the bytes that were sent were more than the window. */
function tokensPerByte({ ledger }: Work, window: number | null, fault?: Fault): number {
  const { tokensPerByte: usual, requestBytes } = ledger.state.live
  return fault && window !== null && requestBytes > 0 ? Math.max(usual, Math.min(1, window / requestBytes)) : usual
}

const tooLarge = (window: number | null): string =>
  `what must be sent does not fit into the model's window${window === null ? '' : ` of ${window} tokens`}, even after compaction. Start afresh with /new, or switch to a model with a larger window.`

/**
 * How large the next request will be: as large as the newest one, of which that is known, and what came since. To write out all of it again
 * would make each turn of a long session dearer than the one before.
 */
export function nextBytes(records: readonly SessionRecord[], waiting: readonly string[]): number {
  const known = records.findLastIndex((record) => record.type === 'step' || record.type === 'compact' || record.type === 'omit' || record.type === 'system')
  const step = records[known]
  if (step?.type !== 'step') return bytesOf(context(records, { inputs: waiting }))
  const since = records.slice(known + 1).map((record) => (record.type === 'reply' ? record.parts : record.type === 'result' ? [record.call, record.text, record.images] : record.type === 'input' || record.type === 'shell' ? record.text : ''))
  const delivered = records.flatMap((record) => (record.seq < step.seq && record.type === 'input' && waiting.includes(record.id) ? record.text : []))
  return step.request.bytes + bytesOf([since, delivered])
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

export const estimate = (request: ModelRequest, tokensPerByte: number): number => Math.ceil(bytesOf(request) * tokensPerByte)

interface Wanted {
  keepTokens: number
  window: number | null
  signal: AbortSignal
  perByte?: number
  /** What is to be kept above all. */
  about?: string | undefined
}

/** One summary and one `compact` record. Else it did not come about, nothing is changed, and why is said; null: there is nothing to put together. */
export async function compact(work: Work, model: Model, { keepTokens, window, signal, perByte = work.ledger.state.live.tokensPerByte, about }: Wanted): Promise<{ why: string | null; fault?: Fault } | null> {
  const { ledger } = work
  const records = [...ledger.path]
  const keep = cutPoint(records, keepTokens / perByte)
  const before = records.filter((record) => record.seq < keep)
  if (!before.some((record) => record.type === 'reply')) return { why: null }
  const output = Math.min(SUMMARY_TOKENS, model.limits.maxOutput ?? SUMMARY_TOKENS, Math.floor((window ?? Number.POSITIVE_INFINITY) / 4))
  const most = (window ?? Number.POSITIVE_INFINITY) - output - SLACK_TOKENS
  const summary = await summarise(work, model, context(before, { inputs: [] }).messages, { bytes: most / perByte, output }, signal, about)
  if ('why' in summary) return summary
  const tokensBefore = estimate(context(records, { inputs: [] }), perByte)
  const fact: FactOf<'compact'> = { type: 'compact', summary: summary.text, keep, tokens: { before: tokensBefore, after: 0 }, carry: carry(work, records, keep), usage: summary.usage, cost: costOf(summary.usage, model.limits.price) }
  fact.tokens.after = estimate(context([...records, { ...fact, seq: Number.MAX_SAFE_INTEGER, at: 0 }], { inputs: [] }), perByte)
  ledger.append(fact)
  return null
}

/** The seq of the step from which records are kept: the newest steps that fit, and always one that has no reply yet. */
function cutPoint(records: readonly SessionRecord[], keepBytes: number): number {
  const answered = records.findLastIndex((record) => record.type === 'reply' && record.stop !== 'error')
  let bytes = 0
  let keep = records.slice(answered + 1).find((record) => record.type === 'step')?.seq ?? (records.at(-1)?.seq ?? 0) + 1
  for (const record of records.toReversed()) {
    bytes += JSON.stringify(record).length
    if (bytes > keepBytes) break
    if (record.type === 'step' && record.attempt === 1) keep = Math.min(keep, record.seq)
    if (record.type === 'compact') break
  }
  return keep
}

/** What the records before the cut must not take with them. */
function carry({ ledger }: Pick<Work, 'ledger'>, records: readonly SessionRecord[], keep: number): Carry {
  const { state } = ledger
  const needed = new Set(state.live.waiting.map((input) => input.id))
  for (const record of records) if (record.type === 'step' && record.seq >= keep) for (const id of record.inputs) needed.add(id)
  const known: (Carry['inputs'][number] | RecordOf<'input'>)[] = records.flatMap((record) => (record.type === 'compact' ? (record.carry?.inputs ?? []) : record.type === 'input' && record.seq < keep ? [record] : []))
  const omitted = records.filter((record) => record.type === 'omit')
  return {
    model: state.model ?? undefined, effort: state.effort ?? undefined, mode: state.mode ?? undefined, title: state.title ?? undefined,
    grants: state.grants, totals: state.totals, raised: state.raised, seen: [...state.live.seen.values()],
    inputs: known.filter((input) => needed.has(input.id)).map(({ id, seq, text, when, images }) => {
      const left = omitted.findLast((omit) => omit.record === seq)
      return left ? { id, seq, text: left.text ?? '[left out]', when } : { id, seq, text, when, images }
    }),
  }
}
