import type { RecordOf } from './record.ts'
import { sanitize } from './sanitize.ts'
import { giveUpCalls, settleCalls } from './view-calls.ts'
import { everyText, oneLine } from './view-excerpt.ts'
import { noStream, settleStream, withRows } from './view-reply.ts'
import type { OutcomeRow, Row } from './view-row.ts'
import { noLive, noUse, withStatus, type Run, type Status, type View, type Waiting } from './view-state.ts'

/** Of titles and of the first words of a prompt. */
export const TITLE = 60

/** A run that broke: it gets no outcome now, since its log cannot be written, and it goes on no more. What was seen of it stays: it may be all there is. */
export function brokenOff(view: View): View {
  if (!view.run) return view
  const settled = giveUpCalls(settleStream(view))
  return { ...settled, run: null, asks: [], pause: null, live: { ...noLive, shells: settled.live.shells }, inner: { ...settled.inner, partial: new Map() } }
}

export function onInput(view: View, record: RecordOf<'input'>): View {
  const input: Waiting = { id: record.id, text: sanitize(record.text), when: record.when ?? 'next', from: record.from ?? 'user', images: everyText(record.images ?? [], sanitize), at: record.at }
  const next: View = { ...view, waiting: [...view.waiting, input] }
  return view.status.title === '' && input.from === 'user' ? withStatus(next, { title: oneLine(record.text, TITLE) }) : next
}

export function onWithdraw(view: View, record: RecordOf<'withdraw'>): View {
  const input = view.waiting.find((each) => each.id === record.input)
  if (!input) return view
  return { ...view, waiting: view.waiting.filter((each) => each !== input) }
}

export function onStep(view: View, record: RecordOf<'step'>): View {
  const settled = settleCalls(view, true)
  const delivered = record.inputs.flatMap((id) => settled.waiting.find((input) => input.id === id) ?? [])
  const anew: Row[] = record.attempt > 1 && settled.inner.reply?.settled ? [{ kind: 'retry', attempt: record.attempt }] : []
  const run = settled.run?.id === record.run ? settled.run : newRun(record, oneLine(delivered[0]?.text ?? '', TITLE))
  const model = oneLine(record.model, 100)
  return {
    ...withRows(settled, [...delivered.map((input) => toInputRow(input, record.number)), ...anew]),
    waiting: delivered.length === 0 ? settled.waiting : settled.waiting.filter((input) => !delivered.includes(input)),
    run: { ...run, step: record.number, attempt: record.attempt },
    status: { ...settled.status, model },
    live: { ...settled.live, request: { since: record.at, step: record.number, attempt: record.attempt, model, begun: false }, retry: null },
    inner: { ...settled.inner, reply: noStream(record.run) },
  }
}

const newRun = (record: RecordOf<'step'>, prompt: string): Run => ({
  ...noUse, id: record.run, prompt, since: record.at, step: 0, attempt: 1, raised: [],
})

function toInputRow(input: Waiting, step: number): Row {
  const role = step === 1 ? (input.when === 'after' ? 'follow-up' : 'prompt') : input.when === 'now' ? 'now' : 'steer'
  return { kind: 'input', role, from: input.from, text: input.text, images: input.images.length, step }
}

export function countReply(view: View, record: RecordOf<'reply'>): View {
  const add = <T extends { tokens: Status['tokens']; cost: Status['cost'] }>(to: T): T => ({
    ...to,
    tokens: { input: to.tokens.input + record.usage.input, output: to.tokens.output + record.usage.output },
    cost: { usd: to.cost.usd + (record.cost ?? 0), unknown: to.cost.unknown || record.cost === null },
  })
  const context = !record.fault && record.usage.input > 0 ? record.usage.input + record.usage.output : view.status.context
  return { ...view, run: view.run?.id === record.run ? add(view.run) : view.run, status: { ...add(view.status), steps: view.status.steps + 1, context } }
}

export function onPause(view: View, record: RecordOf<'pause'>): View {
  const text = oneLine(record.text, 300)
  return { ...withRows(view, [{ kind: 'pause', text }]), pause: { run: record.run, why: record.why, text, choices: record.choices, reached: record.reached ?? null, waitMs: record.waitMs ?? null } }
}

export function onChoice(view: View, record: RecordOf<'choice'>): View {
  const reached = record.reached ?? null
  const waits = record.choice === 'go-on' && view.pause?.waitMs != null && view.run ? { at: record.at + view.pause.waitMs, attempt: view.run.attempt + 1, of: view.run.attempt + 1 } : null
  const next = withRows({ ...view, pause: null, live: waits ? { ...view.live, retry: waits } : view.live }, [{ kind: 'choice', choice: record.choice, by: record.by, reached }])
  if (record.choice !== 'raise' || !reached) return next
  return reached.of === 'session' ? withStatus(next, { raised: [...next.status.raised, reached] }) : { ...next, run: next.run && { ...next.run, raised: [...next.run.raised, reached] } }
}

export function onOutcome(view: View, record: RecordOf<'outcome'>): View {
  const settled = settleCalls(view, true)
  const run = settled.run?.id === record.run ? settled.run : null
  const reason = oneLine(record.reason, 500)
  const { calls, tokens, cost, files, added, removed } = run ?? noUse
  const ms = record.ms ?? (run ? Math.max(0, record.at - run.since) : null)
  const row: OutcomeRow = {
    kind: 'outcome', run: record.run, status: record.status, reason, ms, steps: run?.step ?? 0, calls, tokens, cost, files, added, removed, tree: record.tree === undefined ? null : oneLine(record.tree, 64), alive: record.alive ?? [],
  }
  return {
    ...withRows(settled, [row]),
    run: null, asks: [], pause: null,
    last: { run: record.run, status: record.status, reason, at: record.at },
    live: { ...noLive, shells: settled.live.shells },
    inner: { ...settled.inner, reply: null, partial: new Map() },
  }
}

