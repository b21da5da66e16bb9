import type { Carry, RecordOf, SessionRecord } from './record.ts'
import { sanitize } from './sanitize.ts'
import { Grown } from './grow.ts'
import { onAnswer, onAsk, onCalls, onOutput, onResult, onSpawn, onStart, shorten, withoutShell } from './view-calls.ts'
import { excerpt, oneLine, outputOf } from './view-excerpt.ts'
import { onDelta, onReply, onSummaryFault, withRows } from './view-reply.ts'
import { mark, onRewind } from './view-rewind.ts'
import type { Row } from './view-row.ts'
import { brokenOff, countReply, onChoice, onInput, onOutcome, onPause, onStep, onWithdraw, TITLE } from './view-run.ts'
import { noCost, noLive, noTokens, withStatus, type Status, type View, type ViewEvent } from './view-state.ts'
import { visibleName } from './visible.ts'

export { landing } from './view-summary.ts'
export type { CallRow, Cost, Excerpt, InputRow, OutcomeRow, Row, TextRow } from './view-row.ts'
export type { Job, Live, LiveCall, Pause, PendingAsk, Run, Status, View, ViewEvent, Waiting } from './view-state.ts'

/** A view of nothing yet. */
export function emptyView(): View {
  return {
    rows: new Grown(),
    live: noLive,
    waiting: [], asks: [], pause: null, jobs: [], run: null, last: null,
    status: {
      session: null, root: null, cwd: null, branch: null, title: '', model: null, mode: null, effort: null,
      context: null, steps: 0, calls: 0, raised: [], tokens: noTokens, cost: noCost, compactions: 0,
    },
    inner: { next: 0, late: false, instructions: '', checkpoint: '', reply: null, partial: new Map(), marks: new Grown() },
  }
}

/** The view after one more event. Pure; its cost does not grow with the view. */
export function reduce(view: View, event: ViewEvent): View {
  if ('seq' in event) return onRecord(view, event)
  switch (event.type) {
    case 'delta':
      return onDelta(view, event)
    case 'output':
      return onOutput(view, event)
    case 'retry':
      return onSummaryFault(view, event)
    case 'error':
      return withRows(event.active === null ? brokenOff(view) : withoutRetry(view), [{ kind: 'error', message: oneLine(event.message, 1_000) }])
    case 'damage':
      return withRows(view, [{ kind: 'damage', what: `${event.line === undefined ? '' : `line ${event.line}: `}${oneLine(event.why, 300)}` }])
  }
}

/** A row of the screen's own, which no record says: it stands where it was added. */
export const withNote = (view: View, row: Row): View => withRows(view, [row])

type Numbered = Extract<ViewEvent, { seq: number }>

function onRecord(view: View, record: Numbered): View {
  const { next } = view.inner
  if (record.seq < next) return withRows(view, [{ kind: 'damage', what: `record ${record.seq} (${oneLine(record.type, 40)}) comes again: passed over` }])
  // Right after the first line a log may begin late: what is before was not read.
  const late = next === 1 && record.seq > 1
  const at = { ...view, inner: { ...view.inner, next: record.seq + 1, late: view.inner.late || late } }
  const before = record.seq === next ? at : withRows(at, [late ? { kind: 'older', count: record.seq - 1, of: 'records' } : missing(next, record.seq)])
  if ('unknown' in record) return before
  return mark(onKnown(before, record), record, before)
}

const missing = (from: number, to: number): Row => ({ kind: 'damage', what: to === from + 1 ? `record ${from} is missing` : `records ${from} to ${to - 1} are missing` })

function onKnown(view: View, record: SessionRecord): View {
  switch (record.type) {
    case 'session':
      return onSession(view, record)
    case 'system':
      return onSystem(view, record)
    case 'set':
      return onSet(view, record)
    case 'input':
      return onInput(view, record)
    case 'withdraw':
      return onWithdraw(view, record)
    case 'shell':
      return onShell(view, record)
    case 'step':
      return onStep(view, record)
    case 'reply':
      return onCalls(countReply(onReply(view, record), record), record)
    case 'ask':
      return onAsk(view, record)
    case 'answer':
      return onAnswer(view, record)
    case 'start':
      return onStart(view, record)
    case 'spawn':
      return onSpawn(view, record)
    case 'result':
      return onResult(view, record)
    case 'job':
      return onJob(view, record)
    case 'compact':
      return onCompact(view, record)
    case 'omit':
      return view.rows.at(-1)?.kind === 'omit' ? view : withRows(view, [{ kind: 'omit' }])
    case 'checkpoint':
      return onCheckpoint(view, record)
    case 'check':
      return withRows(view, [{
        kind: 'check', command: oneLine(record.command), exit: record.exit, attempt: record.attempt, ms: record.ms ?? null,
        output: excerpt(record.text ?? '', 'tail', record.exit === 0 ? 0 : SHELL_LINES),
      }])
    case 'rewind':
      return onRewind(view, record)
    case 'pause':
      return onPause(view, record)
    case 'choice':
      return onChoice(view, record)
    case 'outcome':
      return onOutcome(view, record)
  }
}

const SHELL_LINES = 20

function onSession(view: View, record: RecordOf<'session'>): View {
  const branch = record.git?.branch == null ? null : oneLine(record.git.branch, 100)
  const place = { root: sanitize(record.root), cwd: sanitize(record.cwd), branch }
  const fork = record.fork ? { id: oneLine(record.fork.id, 80), seq: record.fork.seq } : null
  return withRows(withStatus(view, { session: oneLine(record.id, 80), ...place }), [{ kind: 'session', id: oneLine(record.id, 80), ...place, fork }])
}

/** The instruction files the model is given, when they change. */
function onSystem(view: View, record: RecordOf<'system'>): View {
  const paths = (record.instructions ?? []).map((each) => oneLine(each.path, 300))
  const instructions = (record.instructions ?? []).map((each) => `${each.path} ${each.sha256}`).join('\n')
  if (instructions === view.inner.instructions) return view
  return withRows({ ...view, inner: { ...view.inner, instructions } }, [{ kind: 'instructions', paths }])
}

/** Settings made before the first prompt are where the session starts, not a change. */
function onSet(view: View, record: RecordOf<'set'>): View {
  const title = record.title === undefined ? undefined : oneLine(record.title, TITLE)
  const model = record.model === undefined ? undefined : oneLine(record.model, 100)
  const said = {
    ...(model === undefined ? {} : { model }), ...(title === undefined ? {} : { title }),
    ...(record.effort === undefined ? {} : { effort: record.effort }), ...(record.mode === undefined ? {} : { mode: record.mode }),
  }
  const begun = view.inner.marks.length > 0 && Object.keys(said).length > 0
  return withRows(withStatus(view, said), begun ? [{ kind: 'set', ...said }] : [])
}

function onShell(view: View, record: RecordOf<'shell'>): View {
  const row: Row = { kind: 'shell', command: oneLine(record.command), exit: record.exit, model: record.model, output: excerpt(outputOf(record.text), 'tail', SHELL_LINES) }
  return withRows(withoutShell(view, record.call), [row])
}

const UNDONE_FILES = 20

/** What an undo did, once it is done. Of others only what is said of them, and not again for each. */
function onCheckpoint(view: View, record: RecordOf<'checkpoint'>): View {
  if (record.undo) {
    const { changes } = record.undo
    if (!record.why.startsWith('after') || changes.length === 0) return view
    const files = changes.slice(0, UNDONE_FILES).map(({ path, after }) => ({ path: visibleName(shorten(path, view.status.root)), gone: after === null }))
    return withRows(view, [{ kind: 'undo', redo: record.why === 'after redo', files, more: changes.length - files.length }])
  }
  const note = oneLine(record.note ?? (record.tree === null ? 'no checkpoint could be taken, so this cannot be undone' : ''), 500)
  // Whoever interrupts knows that this was not finished either.
  if (note === '' || note === 'cancelled' || note === view.inner.checkpoint) return view
  return withRows({ ...view, inner: { ...view.inner, checkpoint: note } }, [{ kind: 'checkpoint', note }])
}

function onJob(view: View, record: RecordOf<'job'>): View {
  const row: Row = {
    kind: 'job', id: oneLine(record.id, 60), command: oneLine(record.command), exit: record.exit,
    signal: record.signal === undefined ? null : oneLine(record.signal, 40), because: record.because === undefined ? null : oneLine(record.because),
  }
  return withRows({ ...view, jobs: view.jobs.filter((job) => job.id !== record.id) }, [row])
}

function onCompact(view: View, record: RecordOf<'compact'>): View {
  const { tokens, cost } = view.status
  const spent = {
    tokens: { input: tokens.input + (record.usage?.input ?? 0), output: tokens.output + (record.usage?.output ?? 0) },
    cost: { usd: cost.usd + (record.cost ?? 0), unknown: cost.unknown || record.cost === null },
  }
  const known = view.inner.late && record.carry ? carried(record.carry) : {}
  return withRows(
    withStatus(withoutRetry(view), { ...spent, ...known, context: record.tokens.after, compactions: view.status.compactions + 1 }),
    [{ kind: 'compact', ...record.tokens, first: oneLine(record.summary) }],
  )
}

/** Of a summary: nothing else waits outside of a run's own requests. */
const withoutRetry = (view: View): View => (view.live.retry === null || view.run !== null ? view : { ...view, live: { ...view.live, retry: null } })

/** What the records that were not read come to. */
const carried = (carry: Carry): Partial<Status> => ({
  ...(carry.model === undefined ? {} : { model: oneLine(carry.model, 100) }), ...(carry.title === undefined ? {} : { title: oneLine(carry.title, TITLE) }),
  ...(carry.mode === undefined ? {} : { mode: carry.mode }), ...(carry.effort === undefined ? {} : { effort: carry.effort }),
  steps: carry.totals.steps, calls: carry.totals.calls, raised: carry.raised ?? [],
  tokens: { input: carry.totals.input, output: carry.totals.output }, cost: { usd: carry.totals.cost, unknown: carry.totals.costUnknown },
})
