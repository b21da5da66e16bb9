import { context } from '../core/context.ts'
import { costOf } from '../core/cost.ts'
import type { Message, Model, ModelRequest } from '../core/ports.ts'
import type { Carry, FactOf, Fault, RecordOf, SessionRecord } from '../core/record.ts'
import { untilAborted } from './until-aborted.ts'
import type { Work } from './work.ts'

type Stuck = { status: 'failed'; reason: string }

const SUMMARY_TOKENS = 8_192
/** For the instruction, and for what an estimate is wrong by. */
const SLACK_TOKENS = 1_000
/** Compactions in a row without a good reply in between: more would burn money without an end. */
const MOST_IN_A_ROW = 2

const INSTRUCTION = `Write a summary of the work above for yourself: it replaces these messages, and you go on from it alone. Keep, in this order:
the user's goal and every standing wish; what was done (files with their paths, commands with their results); what was found out; what is open and the next step; exact names, values and error texts that are still needed.
Leave out what no longer matters. Plain text, no preamble.`

/**
 * Replaces older records by a summary when the next request would not fit. Null: nothing was in the way of going on.
 * The cut is always before a step, so that no call is parted from its result.
 */
export async function compactIfNeeded(work: Work, model: Model, fault?: Fault): Promise<Stuck | null> {
  const { ledger, deps } = work
  const window = fault?.contextWindow ?? work.learnedWindow ?? model.limits.contextWindow
  if (fault?.contextWindow) work.learnedWindow = fault.contextWindow
  if (!fault && (!deps.compaction.auto || window === null)) return null
  const size = nextBytes(ledger.path, ledger.state.live.waiting.map((input) => input.id)) * ledger.state.live.tokensPerByte
  const room = window === null ? size / 2 : window - Math.min(deps.compaction.reserveTokens, window / 4)
  if (!fault && size <= room) return null
  if (work.compactions >= MOST_IN_A_ROW) return { status: 'failed', reason: tooLarge(window) }
  work.compactions++
  const done = await compact(work, model, Math.min(deps.compaction.keepTokens, room / 3), window, undefined, tokensPerByte(work, window, fault))
  if (done) return null
  return { status: 'failed', reason: work.stop.signal.aborted ? 'interrupted' : tooLarge(window) }
}

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

/** One summary and one `compact` record; false: it did not come about, and nothing is changed. A summary that was cut off is not kept. */
export async function compact(work: Pick<Work, 'ledger' | 'stop' | 'cut'>, model: Model, keepTokens: number, window: number | null, about?: string, perByte = work.ledger.state.live.tokensPerByte): Promise<boolean> {
  const { ledger } = work
  const records = [...ledger.path]
  const keep = cutPoint(records, keepTokens / perByte)
  const before = records.filter((record) => record.seq < keep)
  if (!before.some((record) => record.type === 'reply')) return false
  const whole = context(before, { inputs: [] })
  const summaryTokens = Math.min(SUMMARY_TOKENS, model.limits.maxOutput ?? SUMMARY_TOKENS, Math.floor((window ?? Number.POSITIVE_INFINITY) / 4))
  const most = (window ?? Number.POSITIVE_INFINITY) - summaryTokens - SLACK_TOKENS
  const summary = await summarise(work, model, trimTo(whole.messages, most / perByte), summaryTokens, about)
  if (!summary) return false
  const tokensBefore = estimate(context(records, { inputs: [] }), perByte)
  const fact: FactOf<'compact'> = { type: 'compact', summary: summary.text, keep, tokens: { before: tokensBefore, after: 0 }, carry: carry(work, records, keep), usage: summary.usage, cost: costOf(summary.usage, model.limits.price) }
  fact.tokens.after = estimate(context([...records, { ...fact, seq: Number.MAX_SAFE_INTEGER, at: 0 }], { inputs: [] }), perByte)
  ledger.append(fact)
  return true
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

async function summarise({ stop, cut }: Pick<Work, 'stop' | 'cut'>, model: Model, messages: Message[], maxOutput: number, about?: string): Promise<{ text: string; usage: FactOf<'reply'>['usage'] } | null> {
  const request: ModelRequest = {
    system: 'You summarise the work of a coding agent so that it can go on from your summary alone. You call no tools.',
    tools: [],
    messages: [{ role: 'user', parts: [{ type: 'text', text: `${transcript(messages)}\n\n${INSTRUCTION}${about ? `\nThe user asks to keep above all: ${about}` : ''}` }] }],
    maxOutput,
  }
  const signal = AbortSignal.any([stop.signal, cut.signal])
  try {
    for await (const event of untilAborted(model.stream(request, signal), signal)) {
      if (event.type !== 'end') continue
      const text = event.parts.map((part) => (part.type === 'text' ? part.text : '')).join('').trim()
      return event.stop === 'end' && text ? { text, usage: event.usage } : null
    }
  } catch {
    return null
  }
  return null
}

/** As text, so that the request for a summary is valid for every provider, whatever the messages hold. */
function transcript(messages: readonly Message[]): string {
  return messages.map((message) => {
    switch (message.role) {
      case 'user':
        return `User: ${message.parts.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n')}`
      case 'assistant':
        return `Agent: ${message.parts.map((part) => (part.type === 'call' ? `[calls ${part.name} ${JSON.stringify(part.input)}]` : part.type === 'text' ? part.text : '')).filter(Boolean).join('\n')}`
      case 'tool':
        return message.results.map((result) => `Result of ${result.name}${result.failed ? ' (failed)' : ''}: ${result.text}`).join('\n')
    }
  }).join('\n\n')
}

/** The first message and the newest that fit, with long results shortened: a summary request must fit the window, too. */
function trimTo(messages: readonly Message[], bytes: number): Message[] {
  if (Buffer.byteLength(transcript(messages)) <= bytes) return [...messages]
  const share = Math.max(200, Math.floor(bytes / Math.max(1, messages.length) / 2))
  const shorter = messages.map((message): Message => {
    if (message.role === 'tool') return { ...message, results: message.results.map((result) => ({ ...result, text: clip(result.text, share) })) }
    if (message.role === 'assistant') return { ...message, parts: message.parts.map((part) => (part.type === 'call' ? { ...part, input: clip(JSON.stringify(part.input), share) } : { ...part, text: clip(part.text, share) })) }
    return { ...message, parts: message.parts.map((part) => (part.type === 'text' ? { ...part, text: clip(part.text, share) } : part)) }
  })
  while (shorter.length > 2 && Buffer.byteLength(transcript(shorter)) > bytes) shorter.splice(1, 1)
  return shorter
}

const clip = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most / 2)} […] ${text.slice(-most / 2)}`)

/** What the records before the cut must not take with them. */
function carry({ ledger }: Pick<Work, 'ledger'>, records: readonly SessionRecord[], keep: number): Carry {
  const { state } = ledger
  const needed = new Set(state.live.waiting.map((input) => input.id))
  for (const record of records) if (record.type === 'step' && record.seq >= keep) for (const id of record.inputs) needed.add(id)
  const known: (Carry['inputs'][number] | RecordOf<'input'>)[] = records.flatMap((record) => (record.type === 'compact' ? (record.carry?.inputs ?? []) : record.type === 'input' && record.seq < keep ? [record] : []))
  return {
    model: state.model ?? undefined, effort: state.effort ?? undefined, mode: state.mode ?? undefined, title: state.title ?? undefined,
    grants: state.grants, totals: state.totals, seen: [...state.live.seen.values()],
    inputs: known.filter((input) => needed.has(input.id)).map(({ id, text, when, images }) => ({ id, text, when, images })),
  }
}
