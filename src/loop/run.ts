import { callAsText, openItems, promisesMore, unprovenClaim } from '../core/claims.ts'
import { isKnownRecord } from '../core/path.ts'
import type { FactOf, Fault } from '../core/record.ts'
import { stopped } from '../core/stopped.ts'
import { runCalls } from './calls.ts'
import { compactIfNeeded } from './compact.ts'
import { atLimit, goingRound } from './limit.ts'
import { modelOf } from './model-of.ts'
import { leaveOutImages } from './refused-image.ts'
import { askModel } from './retry.ts'
import { verify } from './verify.ts'
import { interrupted, tell, type Outcome, type Work } from './work.ts'

/** From an input until the agent settles. Exactly one outcome, which is the run's last record. */
export async function run(work: Work): Promise<FactOf<'outcome'>> {
  const begun = work.deps.host.now()
  const end = await withProof(work, await settleRun(work))
  const ms = work.deps.host.now() - begun - (work.ledger.state.live.run?.waitedMs ?? 0)
  const outcome: FactOf<'outcome'> = { type: 'outcome', run: work.run, ...(end.status === 'interrupted' ? withWhatStopped(work, end) : end), ms: Math.max(0, ms) }
  work.ledger.append(outcome)
  return outcome
}

/** A run that a limit ends may have done its work all the same: what the checks say of it is kept. */
async function withProof(work: Work, end: Outcome): Promise<Outcome> {
  if (end.status !== 'limit' || work.deps.checks.length === 0) return end
  const verdict = await verify(work, work.deps.checkAttempts)
  if (!('status' in verdict) || verdict.status === 'done') return end
  const { reason: _, status, ...rest } = verdict
  return { ...end, ...rest, reason: `${end.reason} · ${status === 'verified' ? verdict.reason : 'the checks do not pass on the files as they are'}` }
}

function withWhatStopped(work: Work, end: Outcome): Outcome {
  work.ledger.append()
  const { parts, alive } = stopped(work.ledger.records.filter(isKnownRecord), work.run)
  return { ...end, reason: [end.reason, ...parts].join(' · '), ...(alive.length > 0 ? { alive } : {}) }
}

async function settleRun(work: Work): Promise<Outcome> {
  let attempts = 0
  /** The newest reply, if it calls nothing and nothing was delivered since: a request would have nothing to answer. */
  let last: FactOf<'reply'> | null = null
  for (;;) {
    const end = interrupted(work) ?? (await atLimit(work))
    if (end) return end
    const model = await modelOf(work)
    if ('fault' in model) return interrupted(work) ?? failed(model.fault)
    await declareSystem(work)
    const compacted = await compactIfNeeded(work, model)
    if (compacted === 'again') continue
    if (compacted) return interrupted(work) ?? compacted
    const meanwhile = interrupted(work)
    if (meanwhile) return meanwhile
    // What cut in while nothing ran is delivered by this very request.
    if (work.cut.signal.aborted) work.cut = new AbortController()
    // What was to be delivered may have been taken back meanwhile.
    const { waiting, run } = work.ledger.state.live
    if (run === null && waiting.length === 0) return { status: 'done', reason: 'the text was taken back before it was sent' }
    const reply: FactOf<'reply'> = last && !isWaiting(work) ? last : await askModel(work, model)
    last = null
    if (reply.stop === 'interrupted') {
      const stopped = interrupted(work)
      if (stopped) return stopped
      // The next request tells what was said until then.
      work.ledger.append()
      work.cut = new AbortController()
      continue
    }
    if (reply.fault?.kind === 'overflow' && work.compactions < 2) {
      const stuck = await compactIfNeeded(work, model, reply.fault)
      if (stuck && stuck !== 'again') return interrupted(work) ?? stuck
      continue
    }
    if (reply.fault && leaveOutImages(work, reply.fault)) continue
    if (reply.retry?.model !== undefined) continue
    if (reply.fault) return interrupted(work) ?? failed(reply.fault)
    work.compactions = 0
    if (reply.parts.some((part) => part.type === 'call')) {
      await runCalls(work, reply, work.deps.tools)
      if (work.cut.signal.aborted && !work.stop.signal.aborted) work.cut = new AbortController()
      const round = await goingRound(work)
      if (round) return round
      continue
    }
    last = reply
    if (reply.stop === 'length') {
      tell(work, 'Your reply was cut off at the output limit. Go on from where it ends, in smaller pieces.')
      work.ledger.append()
      if (++work.nudges > 2) return { status: 'failed', reason: 'the reply was cut off at the output limit, three times in a row' }
      continue
    }
    if (reply.stop === 'filter') return { status: 'failed', reason: `${model.id} refused or filtered this request` }
    // The reply counts as told before anything is decided on it.
    work.ledger.append()
    if (isWaiting(work)) continue
    if (goesOn(work, reply)) continue
    const verdict = await verify(work, ++attempts)
    if ('stopped' in verdict) return interrupted(work) ?? { status: 'interrupted', reason: 'stopped during a check' }
    if ('cut' in verdict) {
      attempts--
      work.cut = new AbortController()
      continue
    }
    if ('again' in verdict) {
      tell(work, verdict.again, 'check')
      continue
    }
    if (isWaiting(work)) continue
    return needsUser(work) ?? (verdict.status === 'done' ? (unproven(work, reply) ?? verdict) : verdict)
  }
}

/** Something is to be delivered by this run. */
const isWaiting = ({ ledger }: Work): boolean => ledger.state.live.waiting.some((input) => input.when !== 'after')

const MOST_NUDGES = 2

/** A model that stops in the middle of its own plan is told so, a few times. */
function goesOn(work: Work, reply: FactOf<'reply'>): boolean {
  if (work.nudges >= MOST_NUDGES) return false
  const open = openItems(work.ledger.recent, work.run)
  const why = open.length > 0 ? `your todo list has open items (${open.slice(0, 3).join('; ')}). Go on with them, or update the list and say why they are left` : promisesMore(answerOf(reply)) ? 'you said what you would do next and stopped. Do it now, or say that you are done' : isEmpty(reply) ? 'your reply was empty. Do what is still to be done, or say what you did' : isCallAsText(work, reply) ? 'you wrote a tool call as text, so nothing was run. Call the tool itself, or answer in words' : null
  if (why === null) return false
  work.nudges++
  tell(work, `You ended your turn, but ${why}.`)
  return true
}

/** What the log does not bear out is no plain success. */
function unproven(work: Work, reply: FactOf<'reply'>): Outcome | null {
  const records = work.ledger.recent
  const open = openItems(records, work.run)
  if (isEmpty(reply)) return { status: 'failed', reason: 'the model answered with nothing, again and again' }
  if (open.length > 0) return { status: 'unverified', reason: `${open.length === 1 ? '1 item of its todo list is' : `${open.length} items of its todo list are`} still open: ${open.slice(0, 3).join('; ')}` }
  if (isCallAsText(work, reply)) return { status: 'failed', reason: 'the model writes its tool calls as text, again and again: it or its server cannot call tools. Choose another model, or a server that understands its template' }
  if (promisesMore(answerOf(reply))) return { status: 'unverified', reason: 'the answer says what comes next, and it was not done' }
  const claim = unprovenClaim(answerOf(reply), records, work.run)
  return claim === null ? null : { status: 'unverified', reason: claim }
}

const answerOf = (reply: FactOf<'reply'>): string => reply.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

const isCallAsText = ({ deps }: Work, reply: FactOf<'reply'>): boolean => callAsText(answerOf(reply), deps.tools.map(({ name }) => name))
const isEmpty = (reply: FactOf<'reply'>): boolean => answerOf(reply).trim() === ''

const failed = (fault: Fault): Outcome => ({ status: 'failed', reason: fault.message })

const needsUser = (work: Work): Outcome | null =>
  work.ledger.state.live.run?.needsUser ? { status: 'needs-user', reason: 'a call needed approval and nobody could be asked' } : null

/** The system text, tools and instructions as sent, written when they change. */
async function declareSystem(work: Work): Promise<void> {
  const { deps, ledger } = work
  const system: FactOf<'system'> = { type: 'system', ...(await deps.system()), tools: work.declarations }
  const { seq: _, at: __, ...last } = ledger.state.live.system ?? { seq: 0, at: 0 }
  if (JSON.stringify(last) !== JSON.stringify(system)) ledger.append(system)
}
