import type { Model } from '../core/ports.ts'
import type { FactOf, Fault, FaultKind } from '../core/record.ts'
import { step } from './step.ts'
import { stepSignal, type Work } from './work.ts'

/** How often each kind of fault is tried again. What is not here is never tried again: the same request would fail in the same way. */
const ATTEMPTS: Partial<Record<FaultKind, number>> = { 'rate-limit': 6, overload: 12, server: 5, network: 5, idle: 3, garbage: 3 }
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000

/** Asks the model, again where that can help; each attempt is a record, each wait is visible and ends with the signal. */
export async function askModel(work: Work, model: Model): Promise<FactOf<'reply'>> {
  const { host } = work.deps
  for (let attempt = 1; ; attempt++) {
    const reply = await step(work, model, attempt)
    const wait = reply.fault ? waitBefore(attempt, reply.fault, host.random()) : null
    if (wait === null || work.stop.signal.aborted) return reply
    // Held by the step; the fact is completed before anybody is told.
    reply.retry = { at: host.now() + wait, of: ATTEMPTS[reply.fault?.kind ?? 'network'] ?? 1 }
    work.ledger.append()
    await host.wait(wait, stepSignal(work))
    if (work.stop.signal.aborted || work.cut.signal.aborted) return { ...reply, stop: 'interrupted' }
  }
}

/** Milliseconds until the next attempt; null: no further one. */
export function waitBefore(attempt: number, fault: Fault, random: number): number | null {
  if (attempt >= (ATTEMPTS[fault.kind] ?? 1)) return null
  // A server that names a time beyond the bound is not slept through: the person decides.
  if (fault.retryAfterMs !== undefined) return fault.retryAfterMs <= LONGEST_WAIT_MS ? fault.retryAfterMs : null
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1))
  return Math.round(wait * (0.75 + random / 2))
}
