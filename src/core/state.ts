import type { CallPart, Effort, FactOf, Mode, Reached, RecordOf, Rule, Seen, SessionRecord, Totals, UnknownRecord } from './record.ts'
import { isKnownRecord, live } from './path.ts'

/**
 * What the records say now, kept up to date one record at a time so that a turn costs the same in a long session.
 * Mode, grants, title, cost and budgets follow the whole file, so that a rewind never loosens anything or forgets what was
 * spent; waiting inputs, the open run and what the model has seen follow the live path.
 */
export interface State {
  session: RecordOf<'session'> | null
  model: string | null
  effort: Effort | null
  mode: Mode | null
  title: string | null
  grants: Rule[]
  totals: Totals
  /** Limits of the session that the person raised. */
  raised: Reached[]
  live: Live
}

export interface Live {
  system: RecordOf<'system'> | null
  /** Not yet delivered or withdrawn, in the order they came. */
  waiting: Waiting[]
  run: OpenRun | null
  /** The newest outcome. */
  outcome: RecordOf<'outcome'> | null
  seen: Map<string, Seen>
  /** Tokens a byte of request, from the last reply that counted its own input. */
  tokensPerByte: number
  requestBytes: number
  /** Input tokens of the newest reply, its output added: the size of the context after it. */
  contextTokens: number
}

export type Waiting = Pick<RecordOf<'input'>, 'id' | 'text' | 'when' | 'images' | 'from'> & { seq: number }

export interface OpenCall {
  call: CallPart
  started: RecordOf<'start'> | null
  spawned: RecordOf<'spawn'>[]
  asked: boolean
}

export interface OpenRun {
  id: string
  at: number
  seq: number
  steps: number
  totals: Totals
  /** Calls of the newest reply that have no result yet, in their order. */
  calls: Map<string, OpenCall>
  /** Seq of the newest start that was not read-only; null: the run has changed nothing. */
  changed: number | null
  /** A checkpoint was taken before the first change. */
  checkpoint: RecordOf<'checkpoint'> | null
  /** A call was denied because nobody could be asked. */
  needsUser: boolean
  lastReply: RecordOf<'reply'> | null
  /** Limits of this run that the person raised. */
  raised: Reached[]
  /** Milliseconds that it waited for the person, and what it waits for now. */
  waitedMs: number
  waitsFor: Set<string>
  waitsSince: number
}

/** Everything from the records of a log, oldest first. */
export function readState(records: readonly (SessionRecord | UnknownRecord)[]): State {
  const state = emptyState()
  const known = records.filter(isKnownRecord)
  const cut = notRead(known)
  for (const record of known) if (!cut || record.type === 'session' || record.seq > cut.seq) applyToWhole(state, record)
    else if (record === cut) restore(state, cut)
  state.live = readLive(records, cut)
  return state
}

function readLive(records: readonly (SessionRecord | UnknownRecord)[], cut: RecordOf<'compact'> | null): Live {
  const now = emptyLive()
  now.waiting = (cut?.carry?.inputs ?? []).map((input) => ({ ...input, seq: -1, from: 'user' }))
  for (const record of live(records)) applyToLive(now, record)
  return now
}

/** The compaction whose earlier records are not in memory: it says what they said. It need not be the newest one, which may be on a path that was left. */
function notRead(records: readonly SessionRecord[]): RecordOf<'compact'> | null {
  const first = records.find((record) => record.type !== 'session')
  return records.findLast((record): record is RecordOf<'compact'> => record.type === 'compact' && record.carry !== undefined && first !== undefined && first.seq >= record.keep) ?? null
}

export function applyRecord(state: State, record: SessionRecord, records: readonly (SessionRecord | UnknownRecord)[]): void {
  applyToWhole(state, record)
  if (record.type !== 'rewind') return applyToLive(state.live, record)
  state.live = readLive(records, notRead(records.filter(isKnownRecord)))
}

export const noTotals = (): Totals => ({ steps: 0, calls: 0, input: 0, output: 0, ms: 0, cost: 0, costUnknown: false })

export const emptyState = (): State => ({ session: null, model: null, effort: null, mode: null, title: null, grants: [], totals: noTotals(), raised: [], live: emptyLive() })

const emptyLive = (): Live => ({ system: null, waiting: [], run: null, outcome: null, seen: new Map(), tokensPerByte: 0.28, requestBytes: 0, contextTokens: 0 })

function applyToWhole(state: State, record: SessionRecord): void {
  switch (record.type) {
    case 'session':
      state.session ??= record
      return
    case 'set':
      state.model = record.model ?? state.model
      state.effort = record.effort ?? state.effort
      state.mode = record.mode ?? state.mode
      state.title = record.title ?? state.title
      return
    case 'answer':
      if (record.verdict === 'allow' && record.grant) state.grants.push(...record.grant.rules)
      return
    case 'reply':
      addReply(state.totals, record)
      return
    case 'start':
      state.totals.calls++
      return
    case 'compact':
      addUsage(state.totals, record)
      return
    case 'choice':
      if (record.choice === 'raise' && record.reached?.of === 'session') state.raised.push(record.reached)
      return
    case 'outcome':
      state.totals.ms = (state.totals.ms ?? 0) + (record.ms ?? 0)
      return
    default:
      return
  }
}

function restore(state: State, { carry }: RecordOf<'compact'>): void {
  if (!carry) return
  state.model = carry.model ?? null
  state.effort = carry.effort ?? null
  state.mode = carry.mode ?? null
  state.title = carry.title ?? null
  state.grants = [...carry.grants]
  state.totals = { ...carry.totals }
  state.raised = [...(carry.raised ?? [])]
}

function addReply(totals: Totals, record: RecordOf<'reply'>): void {
  totals.steps++
  addUsage(totals, record)
}

function addUsage(totals: Totals, record: Pick<FactOf<'reply'>, 'cost'> & { usage?: FactOf<'reply'>['usage'] | undefined }): void {
  totals.input += record.usage?.input ?? 0
  totals.output += record.usage?.output ?? 0
  totals.cost += record.cost ?? 0
  if (record.cost === null) totals.costUnknown = true
}

function applyToLive(now: Live, record: SessionRecord): void {
  switch (record.type) {
    case 'system':
      now.system = record
      return
    case 'input':
      now.waiting.push({ id: record.id, text: record.text, when: record.when, images: record.images, from: record.from, seq: record.seq })
      return
    case 'withdraw':
      now.waiting = now.waiting.filter((input) => input.id !== record.input)
      return
    case 'step':
      now.waiting = now.waiting.filter((input) => !record.inputs.includes(input.id))
      now.run = now.run?.id === record.run ? now.run : openRun(record)
      now.run.steps = record.number
      now.requestBytes = record.request.bytes
      now.run.calls = new Map()
      return
    case 'reply':
      return applyReply(now, record)
    case 'compact':
      now.contextTokens = record.tokens.after
      for (const seen of record.carry?.seen ?? []) if (!now.seen.has(seen.path)) now.seen.set(seen.path, seen)
      return
    case 'checkpoint':
      if (now.run && record.run === now.run.id) now.run.checkpoint ??= record
      return
    case 'ask':
    case 'answer':
    case 'start':
    case 'spawn':
    case 'result':
      return applyCall(now, record)
    case 'pause':
      if (now.run?.id === record.run) beginWait(now.run, PAUSE, record.at)
      return
    case 'choice':
      if (now.run?.id !== record.run) return
      endWait(now.run, PAUSE, record.at)
      if (record.choice === 'raise' && record.reached?.of === 'run') now.run.raised.push(record.reached)
      return
    case 'rewind':
      // What was under way there had its outcome on the path that was left.
      now.run = null
      return
    case 'outcome':
      if (now.run?.id === record.run) now.run = null
      now.outcome = record
      return
    default:
      return
  }
}

const openRun = (record: RecordOf<'step'>): OpenRun => ({
  id: record.run, at: record.at, seq: record.seq, steps: 0, totals: noTotals(), calls: new Map(), changed: null, checkpoint: null, needsUser: false, lastReply: null,
  raised: [], waitedMs: 0, waitsFor: new Set(), waitsSince: 0,
})

/** What a run waits for besides answers to its calls. */
const PAUSE = ''

function beginWait(run: OpenRun, what: string, at: number): void {
  if (run.waitsFor.size === 0) run.waitsSince = at
  run.waitsFor.add(what)
}

function endWait(run: OpenRun, what: string, at: number): void {
  if (run.waitsFor.delete(what) && run.waitsFor.size === 0) run.waitedMs += Math.max(0, at - run.waitsSince)
}

function applyReply(now: Live, record: RecordOf<'reply'>): void {
  if (!record.fault && record.usage.input > 0) {
    now.contextTokens = record.usage.input + record.usage.output
    if (!record.usage.estimated && now.requestBytes > 0) now.tokensPerByte = Math.min(1, Math.max(0.1, record.usage.input / now.requestBytes))
  }
  if (now.run?.id !== record.run) return
  addReply(now.run.totals, record)
  now.run.lastReply = record
  // A reply that failed or was interrupted runs none of its calls, and the model is not shown them.
  if (record.stop === 'error' || record.stop === 'interrupted') return
  for (const part of record.parts) if (part.type === 'call') now.run.calls.set(part.id, { call: part, started: null, spawned: [], asked: false })
}

function applyCall(now: Live, record: RecordOf<'ask' | 'answer' | 'start' | 'spawn' | 'result'>): void {
  if (record.type === 'result') noteSeen(now.seen, record)
  const run = now.run
  if (run?.id !== record.run) return
  const open = run.calls.get(record.call)
  switch (record.type) {
    case 'ask':
      if (open) open.asked = true
      return beginWait(run, record.call, record.at)
    case 'answer':
      if (record.by === 'nobody') run.needsUser = true
      return endWait(run, record.call, record.at)
    case 'start':
      run.totals.calls++
      if (!record.reads) run.changed = record.seq
      if (open) open.started = record
      return
    case 'spawn':
      open?.spawned.push(record)
      return
    case 'result':
      endWait(run, record.call, record.at)
      run.calls.delete(record.call)
      return
  }
}

/** What the model was shown of a file; its own change of a file that it had seen is seen as well. */
function noteSeen(seen: Map<string, Seen>, record: RecordOf<'result'>): void {
  for (const change of record.changes ?? []) {
    const known = seen.get(change.path)
    if (change.after === null) seen.delete(change.path)
    else if (known && known.sha256 === change.before) seen.set(change.path, { ...known, sha256: change.after })
  }
  for (const each of record.seen ?? []) {
    const known = seen.get(each.path)
    seen.set(each.path, known?.sha256 === each.sha256 ? together(known, each) : each)
  }
}

/** Two pages of the same content: pages that meet are one, and all pages are the whole. */
function together(known: Seen, more: Seen): Seen {
  if (known.whole || !more.lines || !known.lines) return known.whole ? known : more
  const meet = more.lines.from <= known.lines.to + 1 && known.lines.from <= more.lines.to + 1
  if (!meet) return more
  const lines = { from: Math.min(known.lines.from, more.lines.from), to: Math.max(known.lines.to, more.lines.to), of: more.lines.of }
  return { ...more, lines, whole: lines.from <= 1 && lines.to >= lines.of }
}
