import { context, textOfRequest } from '../core/context.ts'
import { repeatsItself } from '../core/limits.ts'
import { ModelError, type Delta, type Model, type ModelEnd, type ModelRequest } from '../core/ports.ts'
import type { FactOf, Fault, Part } from '../core/record.ts'
import type { Waiting } from '../core/state.ts'
import { costOf } from '../core/cost.ts'
import { untilAborted } from './until-aborted.ts'
import { stepSignal, type Work } from './work.ts'

/**
 * One model request and its reply. Exactly one `step` and one `reply` fact, whatever happens; the reply is held, so that
 * it shares the sync of what follows from it. Never throws.
 */
export async function step(work: Work, model: Model, attempt: number): Promise<FactOf<'reply'>> {
  const { ledger, deps } = work
  const { state } = ledger
  // Also with a further attempt: what was said while it waited belongs to the next request.
  const inputs = deliverable(state.live.waiting, state.live.run !== null && state.live.run.steps > 0).map((input) => input.id)
  const effort = state.effort ?? deps.defaults.effort
  const settings = { inputs, effort, maxOutput: model.limits.maxOutput ?? undefined }
  const request = context(ledger.path, settings)
  const body = textOfRequest(request)
  const number = (state.live.run?.steps ?? 0) + (attempt === 1 ? 1 : 0)
  const bytes = Buffer.byteLength(body)
  ledger.offer({ type: 'step', run: work.run, number, attempt, ...settings, model: model.id, request: { sha256: deps.host.sha256(body), bytes } })
  work.delivered = true
  const reply = await listen(work, model, request)
  const estimated = reply.usage.input === 0 && reply.usage.output === 0
  const usage = estimated ? { input: Math.round(bytes * state.live.tokensPerByte), output: Math.round(textOf(reply.parts).length * state.live.tokensPerByte), estimated: true } : reply.usage
  const fact: FactOf<'reply'> = { ...reply, usage, cost: costOf(usage, model.limits.price) }
  ledger.hold(fact)
  return fact
}

/** What the next request delivers: what cuts in comes alone, then all steering; a follow-up only ever starts a run, one at a time. */
export function deliverable(waiting: readonly Waiting[], underWay: boolean): readonly Waiting[] {
  const now = waiting.filter((input) => input.when === 'now')
  if (now.length > 0) return now
  const next = waiting.filter((input) => input.when !== 'after')
  return next.length > 0 || underWay ? next : waiting.slice(0, 1)
}

async function listen(work: Work, model: Model, request: ModelRequest): Promise<FactOf<'reply'>> {
  const { host } = work.deps
  const signal = stepSignal(work)
  const own = new AbortController()
  const begun = host.now()
  let first = 0
  const said = new Said()
  const reply = (rest: Pick<FactOf<'reply'>, 'parts' | 'stop' | 'usage' | 'fault' | 'wire'>): FactOf<'reply'> => ({
    type: 'reply', run: work.run, ...rest, ms: { first: (first || host.now()) - begun, total: host.now() - begun },
  })
  const cutShort = (stop: 'interrupted' | 'error', fault?: Fault): FactOf<'reply'> => reply({ parts: said.parts(), stop, usage: { input: 0, output: 0 }, ...(fault ? { fault } : {}) })
  try {
    for await (const event of untilAborted(model.stream(request, AbortSignal.any([signal, own.signal])), signal)) {
      first ||= host.now()
      if (event.type === 'end') return reply(withOwnIds(event, work))
      said.add(event)
      work.ledger.emit({ run: work.run, ...event })
      if (said.repeats()) {
        own.abort()
        return cutShort('error', { kind: 'garbage', message: `${model.id} said the same passage over and over, so its reply was cut off. Try another model, or a smaller request.` })
      }
    }
    return signal.aborted ? cutShort('interrupted') : cutShort('error', { kind: 'network', message: `${model.id} ended its reply before it was whole.` })
  } catch (error) {
    if (signal.aborted) return cutShort('interrupted')
    if (error instanceof ModelError) return cutShort('error', error.fault)
    return cutShort('error', { kind: 'garbage', message: `${model.id} could not be understood: ${error instanceof Error ? error.message : String(error)}` })
  }
}

/** What has been streamed so far. Calls are left out: a call counts only when its reply is whole. */
class Said {
  private readonly pieces = new Map<number, { kind: 'text' | 'reasoning'; text: string }>()
  private unchecked = 0
  private newest: { text: string } | null = null

  add(delta: Delta): void {
    if (delta.kind === 'call') return
    const piece = this.pieces.get(delta.part) ?? { kind: delta.kind, text: '' }
    piece.text += delta.text
    this.unchecked += delta.text.length
    this.newest = piece
    this.pieces.set(delta.part, piece)
  }

  repeats(): boolean {
    if (this.unchecked < 4_000) return false
    this.unchecked = 0
    return this.newest !== null && repeatsItself(this.newest.text)
  }

  parts(): Part[] {
    return [...this.pieces].toSorted(([a], [b]) => a - b).map(([, { kind, text }]) => ({ type: kind, text }))
  }
}

const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/

/** Call ids are unique in the session and safe for every provider: some servers call each call `call_0`, or none at all. */
function withOwnIds(end: ModelEnd, { ledger, deps }: Work): Pick<FactOf<'reply'>, 'parts' | 'stop' | 'usage' | 'wire'> {
  const here = new Set<string>()
  const parts = end.parts.map((part): Part => {
    if (part.type !== 'call') return part
    const taken = here.has(part.id) || ledger.callIds.has(part.id)
    const id = !taken && SAFE_ID.test(part.id) ? part.id : deps.host.id()
    here.add(id)
    return { ...part, id }
  })
  const stop = end.stop === 'end' && parts.some((part) => part.type === 'call') ? 'calls' : end.stop
  return { parts, stop, usage: end.usage, ...(end.wire ? { wire: end.wire } : {}) }
}

const textOf = (parts: readonly Part[]): string => parts.map((part) => (part.type === 'call' ? JSON.stringify(part.input) : part.text)).join('')
