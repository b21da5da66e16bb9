import type { Model } from '../core/ports.ts'
import type { FactOf, Fault, FaultKind } from '../core/record.ts'
import { askedNext } from './model-of.ts'
import { pause } from './pause.ts'
import { step } from './step.ts'
import { stepSignal, type Work } from './work.ts'

/** How often each kind of fault is tried again. What is not here is never tried again: the same request would fail in the same way. */
const ATTEMPTS: Partial<Record<FaultKind, number>> = { 'rate-limit': 6, overload: 12, server: 5, network: 5, idle: 3, garbage: 3 }
/** Where another model can take over, the person is not made to wait for this one so long. */
const ATTEMPTS_BEFORE_FALLBACK = 3
/** What another provider may well not say. */
const FALLS_BACK: ReadonlySet<FaultKind> = new Set<FaultKind>(['rate-limit', 'quota', 'overload', 'server', 'network', 'idle', 'garbage'])
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000

/**
 * Asks the model, again where that can help; each attempt is a record, each wait is visible and ends with the signal. A reply whose
 * `retry` names a model is to be asked again of that one.
 */
export async function askModel(work: Work, model: Model): Promise<FactOf<'reply'>> {
  const { host } = work.deps
  for (let attempt = 1; ; attempt++) {
    const reply = await step(work, model, attempt)
    if (!reply.fault || work.stop.signal.aborted) return reply
    const fallback = await fallbackFor(work, model, reply.fault)
    const wait = fallback && attempt >= ATTEMPTS_BEFORE_FALLBACK ? null : waitBefore(attempt, reply.fault, host.random())
    const of = fallback ? ATTEMPTS_BEFORE_FALLBACK : attemptsFor(reply.fault)
    // The reply is held by the step; the fact is completed before anybody is told.
    if (wait !== null) reply.retry = { at: host.now() + wait, of }
    else if (fallback) reply.retry = { at: host.now(), of, model: fallback }
    work.ledger.append()
    if (wait === null && fallback) {
      work.fallback = fallback
      return reply
    }
    const chosen = wait ?? (await longWait(work, model, reply.fault))
    if (chosen === null) return reply
    if (askedNext(work) === model.id) await waitFor(work, chosen)
    if (work.stop.signal.aborted || work.cut.signal.aborted) return { ...reply, stop: 'interrupted' }
    const other = askedNext(work)
    if (other !== null && other !== model.id) return { ...reply, retry: { at: host.now(), of, model: other } }
  }
}

/** Until then, unless the person stops it, cuts in or chooses another model. */
export async function waitFor(work: Work, ms: number, signal = stepSignal(work)): Promise<void> {
  const woken = new AbortController()
  work.wake = () => woken.abort()
  await work.deps.host.wait(ms, AbortSignal.any([signal, woken.signal]))
  work.wake = null
}

/** Milliseconds until the next attempt; null: no further one. */
export function waitBefore(attempt: number, fault: Fault, random: number): number | null {
  if (attempt >= attemptsFor(fault)) return null
  // A server that names a time beyond the bound is not slept through: the person decides.
  if (fault.retryAfterMs !== undefined) return fault.retryAfterMs <= LONGEST_WAIT_MS ? fault.retryAfterMs : null
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1))
  return Math.round(wait * (0.75 + random / 2))
}

export const attemptsFor = ({ kind }: Fault): number => ATTEMPTS[kind] ?? 1

/** How long to wait where the provider names a time that is beyond the bound and the person agrees; null: not at all. */
async function longWait(work: Work, model: Model, { retryAfterMs }: Fault): Promise<number | null> {
  if (retryAfterMs === undefined || retryAfterMs <= LONGEST_WAIT_MS) return null
  const choice = await pause(work, { why: 'wait', text: `${model.id} takes no request for the next ${Math.ceil(retryAfterMs / 60_000)} minutes`, choices: ['go-on', 'stop'], waitMs: retryAfterMs })
  return choice === 'go-on' ? retryAfterMs : null
}

/** The configured other model, where this fault is one it may not have and it can be used; null: there is none. */
export async function fallbackFor(work: Work, model: Model, fault: Fault): Promise<string | null> {
  const id = work.deps.fallback
  if (id === null || id === model.id || work.fallback !== null || !FALLS_BACK.has(fault.kind)) return null
  return work.deps.model(id).then(() => id, () => null)
}
