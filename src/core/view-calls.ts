import type { RecordOf } from './record.ts'
import { sanitize } from './sanitize.ts'
import { countDiff, countLines, everyText, excerpt, oneLine, outputOf } from './view-excerpt.ts'
import { withRows } from './view-reply.ts'
import type { CallRow, Row } from './view-row.ts'
import type { LiveCall, Run, View, ViewEvent } from './view-state.ts'
import { summarize } from './view-summary.ts'
import { visible, visibleName } from './visible.ts'

/** The calls of a reply wait for their turn, in its order. Those of a reply that failed or was interrupted never run. */
export function onCalls(view: View, record: RecordOf<'reply'>): View {
  if (record.stop === 'error' || record.stop === 'interrupted') return view
  const calls = record.parts.filter((part) => part.type === 'call').map((part): LiveCall => ({
    call: part.id, name: oneLine(part.name, 60), summary: summarize(part.name, part.input, view.status.root), state: 'waiting',
    since: null, output: '', status: null, pid: null, answer: null, row: null,
  }))
  return calls.length === 0 ? view : withCalls(view, [...view.live.calls, ...calls])
}

export function onAsk(view: View, record: RecordOf<'ask'>): View {
  const call = view.live.calls.find((each) => each.call === record.call)
  const ask = {
    run: record.run, call: record.call, name: call?.name ?? 'call', summary: call?.summary ?? '', at: record.at,
    accesses: everyText(record.accesses, visible), preview: record.preview ? everyText(record.preview, visible) : null,
    because: record.because === undefined ? null : oneLine(visible(record.because), 500), lasting: everyText(record.lasting ?? [], visible),
  }
  return { ...change(view, record.call, { state: 'asking' }), asks: [...without(view, record.call), ask] }
}

export function onAnswer(view: View, record: RecordOf<'answer'>): View {
  const answer = { verdict: record.verdict, by: record.by, because: oneLine(record.because ?? '', 500), reason: oneLine(record.reason ?? '', 500) }
  const grant: Row[] = record.verdict === 'allow' && record.grant ? [{ kind: 'grant', scope: record.grant.scope, rules: record.grant.rules.map((rule) => ({ ...rule, match: oneLine(rule.match, 500) })) }] : []
  return { ...change(withRows(view, grant), record.call, { state: 'waiting', answer }), asks: without(view, record.call) }
}

export function onStart(view: View, record: RecordOf<'start'>): View {
  const run = view.run && { ...view.run, calls: view.run.calls + 1 }
  return { ...change(view, record.call, { state: 'running', since: record.at }), run, status: { ...view.status, calls: view.status.calls + 1 } }
}

export function onSpawn(view: View, record: RecordOf<'spawn'>): View {
  const next = change(view, record.call, { pid: record.pid })
  if (record.job === undefined) return next
  const command = view.live.calls.find((each) => each.call === record.call)?.summary ?? ''
  return { ...next, jobs: [...view.jobs, { id: record.job, call: record.call, command, pid: record.pid, since: record.at }] }
}

/** Live output, for the eye only: its last lines are kept. */
export function onOutput(view: View, event: Extract<ViewEvent, { type: 'output' }>): View {
  const { run, call, text } = event
  if (run === '') return onShellOutput(view, event)
  const known = view.live.calls.find((each) => each.call === call && each.state === 'running')
  return known ? grown(view, call, text, known.output, (output) => change(view, call, { output })) : view
}

function onShellOutput(view: View, { call, text, command }: Extract<ViewEvent, { type: 'output' }>): View {
  if (command === null) return withoutShell(view, call)
  const { shells } = view.live
  const known = shells.find((each) => each.call === call) ?? { call, command: oneLine(command ?? ''), output: '' }
  return grown(view, call, text, known.output, (output) => ({ ...view, live: { ...view.live, shells: [...shells.filter((each) => each.call !== call), { ...known, output }] } }))
}

/** Without a call: of a log of an earlier version. */
export function withoutShell(view: View, call: string | undefined): View {
  const partial = new Map(view.inner.partial)
  for (const each of view.live.shells) if (call === undefined || each.call === call) partial.delete(each.call)
  return { ...view, live: { ...view.live, shells: call === undefined ? [] : view.live.shells.filter((each) => each.call !== call) }, inner: { ...view.inner, partial } }
}

function grown(view: View, call: string, text: string, before: string, put: (output: string) => View): View {
  const all = ((view.inner.partial.get(call) ?? '') + text).slice(-OUTPUT)
  const cut = all.lastIndexOf('\n') + 1
  const lines = (before.slice(0, before.lastIndexOf('\n') + 1) + cleanLines(all.slice(0, cut))).slice(-OUTPUT)
  const next = put(lines + sanitize(all.slice(cut)))
  return { ...next, inner: { ...view.inner, partial: new Map(view.inner.partial).set(call, all.slice(cut)) } }
}

/** Results come as they are there; their rows settle in the order of the calls. */
export function onResult(view: View, record: RecordOf<'result'>): View {
  const call = view.live.calls.find((each) => each.call === record.call)
  const row = toRow(record, call ?? rowOf(view, record.call), view.status.root)
  const partial = new Map(view.inner.partial)
  partial.delete(record.call)
  const next: View = { ...view, run: view.run && addChanges(view.run, record, row), asks: without(view, record.call), inner: { ...view.inner, partial } }
  if (!call) return withRows(next, [row])
  return settleCalls(change(next, record.call, { state: 'ended', status: record.status, row, output: '' }))
}

/** The rows of the calls that ended; with `all`, calls that will get no result any more are given up. */
export function settleCalls(view: View, all = false): View {
  const open = view.live.calls.findIndex((each) => each.row === null)
  const until = all || open === -1 ? view.live.calls.length : open
  if (until === 0) return view
  const rows = view.live.calls.slice(0, until).flatMap((each) => each.row ?? [])
  return withCalls(withRows(view, rows), view.live.calls.slice(until))
}

/** The calls of a run that broke: what was seen of those that had begun stays. */
export function giveUpCalls(view: View): View {
  const calls = view.live.calls.map((each) => (each.row === null && each.state === 'running' ? { ...each, row: unseenEnd(each) } : each))
  return settleCalls(withCalls(view, calls), true)
}

const unseenEnd = ({ call, name, summary, output, answer }: LiveCall): CallRow => ({
  kind: 'call', call, name, summary, status: 'unknown', ms: null, exit: null, diff: null, added: 0, removed: 0, files: [], lines: 0,
  output: excerpt(output, 'tail', OTHERS.not), answer, images: 0, alive: [],
})

/** Of a result that comes after its call was given up. */
function rowOf({ rows }: View, call: string): Named | undefined {
  const row = rows.slice(Math.max(0, rows.length - FAR)).findLast((each): each is CallRow => each.kind === 'call' && each.call === call)
  return row && { ...row, since: null }
}

type Named = Pick<LiveCall, 'name' | 'summary' | 'since' | 'answer'>

const FAR = 200
const OUTPUT = 4_000
const DIFF_LINES = 400
const MOST_FILES = 500

/** What of a result's text is shown, by tool: the end of a command's output, nothing of a file that was read. */
const SHOWN: Record<string, { end: 'head' | 'tail'; ok: number; not: number }> = {
  shell: { end: 'tail', ok: 5, not: 12 },
  job: { end: 'tail', ok: 5, not: 12 },
  git: { end: 'head', ok: 4, not: 12 },
  todo: { end: 'head', ok: 30, not: 6 },
  read: { end: 'head', ok: 0, not: 4 },
  ls: { end: 'head', ok: 0, not: 4 },
  find: { end: 'head', ok: 0, not: 4 },
  grep: { end: 'head', ok: 0, not: 4 },
  write: { end: 'head', ok: 0, not: 8 },
  edit: { end: 'head', ok: 0, not: 8 },
}
const OTHERS = { end: 'head', ok: 3, not: 8 } as const

function toRow(record: RecordOf<'result'>, call: Named | undefined, root: string | null): CallRow {
  const name = call?.name ?? 'call'
  const shown = Object.hasOwn(SHOWN, name) ? (SHOWN[name] ?? OTHERS) : OTHERS
  const changed = (record.changes ?? []).filter((each) => each.before !== each.after)
  return {
    kind: 'call', call: record.call, name, summary: call?.summary ?? oneLine(record.call, 80), status: record.status,
    ms: record.ms ?? (call?.since == null ? null : Math.max(0, record.at - call.since)),
    exit: record.exit ?? null,
    diff: record.diff === undefined || record.diff.trim() === '' ? null : excerpt(record.diff, 'head', DIFF_LINES),
    ...countDiff(record.diff ?? ''),
    files: changed.slice(0, MOST_FILES).map((each) => visibleName(shorten(each.path, root))),
    lines: countLines(record.text),
    output: excerpt(name === 'shell' ? outputOf(record.text) : record.text, shown.end, record.status === 'ok' ? shown.ok : shown.not),
    answer: call?.answer ?? null,
    images: record.images?.length ?? 0,
    alive: record.alive ?? [],
  }
}

export const shorten = (path: string, root: string | null): string => (root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path)

function addChanges(run: Run, record: RecordOf<'result'>, row: CallRow): Run {
  if (!record.changes?.length && row.added === 0 && row.removed === 0) return run
  const files = [...new Set([...run.files, ...row.files])].slice(0, MOST_FILES)
  return { ...run, files: files.length === run.files.length ? run.files : files, added: run.added + row.added, removed: run.removed + row.removed }
}

const cleanLines = (text: string): string => (text === '' ? '' : `${text.slice(0, -1).split('\n').map((line) => sanitize(line)).join('\n')}\n`)

const without = (view: View, call: string): View['asks'] => (view.asks.some((ask) => ask.call === call) ? view.asks.filter((ask) => ask.call !== call) : view.asks)

const withCalls = (view: View, calls: readonly LiveCall[]): View => ({ ...view, live: { ...view.live, calls } })

const change = (view: View, call: string, to: Partial<LiveCall>): View =>
  view.live.calls.some((each) => each.call === call) ? withCalls(view, view.live.calls.map((each) => (each.call === call ? { ...each, ...to } : each))) : view
