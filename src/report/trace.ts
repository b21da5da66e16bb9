import type { CallPart, Fault, OutcomeStatus, RecordOf, ResultStatus, SessionRecord, Stop, Totals, UnknownRecord, Usage } from '../core/record.ts'

/** What happened in a session, when, how long it took and what it cost. */
export interface Trace {
  session: RecordOf<'session'> | null
  runs: TraceRun[]
  /** Compactions, wherever they happened. */
  compactions: { at: number; before: number; after: number; cost: number | null }[]
  /** Records that are missing. */
  missing: number
}

export interface TraceRun {
  id: string
  at: number
  /** The texts that were delivered to it. */
  inputs: string[]
  steps: TraceStep[]
  checks: { command: string; exit: number | null; ms: number | null }[]
  outcome: { status: OutcomeStatus; reason: string } | null
  /** From its first step to its outcome; null: it has none. */
  ms: number | null
  /** Of that, how long a person was waited for. */
  waited: number
  totals: Totals
}

/** One attempt of one model request, and the calls of its reply. */
export interface TraceStep {
  seq: number
  number: number
  attempt: number
  model: string
  requestBytes: number
  /** Until the first piece of the reply, and until its end. Null: no reply, or its times were not kept. */
  ms: { first: number; total: number } | null
  stop: Stop | null
  usage: Usage | null
  /** US dollars; null: unknown, or no reply. */
  cost: number | null
  fault: Fault | null
  calls: TraceCall[]
}

export interface TraceCall {
  id: string
  name: string
  input: unknown
  status: ResultStatus | null
  /** How long it ran; null: it did not, or nobody saw the end. */
  ms: number | null
  /** How long a person was waited for. */
  waited: number
  exit: number | null
}

interface Reading {
  trace: Trace
  runs: Map<string, TraceRun>
  inputs: Map<string, string>
  calls: Map<string, { call: TraceCall; asked: number | null; started: number | null }>
  /** Since when a run is paused. */
  paused: number | null
  next: number
}

export function traceOf(records: Iterable<SessionRecord | UnknownRecord>): Trace {
  const reading: Reading = { trace: { session: null, runs: [], compactions: [], missing: 0 }, runs: new Map(), inputs: new Map(), calls: new Map(), paused: null, next: 0 }
  for (const record of records) {
    reading.trace.missing += Math.max(0, record.seq - reading.next)
    reading.next = record.seq + 1
    if (!('unknown' in record)) read(reading, record)
  }
  return reading.trace
}

function read(reading: Reading, record: SessionRecord): void {
  const { trace } = reading
  switch (record.type) {
    case 'session':
      trace.session ??= record
      return
    case 'input':
      reading.inputs.set(record.id, record.text)
      return
    case 'step':
      return readStep(reading, record)
    case 'reply':
      return readReply(reading, record)
    case 'ask':
    case 'answer':
    case 'start':
    case 'result':
      return readCall(reading, record)
    case 'check':
      reading.runs.get(record.run)?.checks.push({ command: record.command, exit: record.exit, ms: record.ms ?? null })
      return
    case 'compact':
      trace.compactions.push({ at: record.at, ...record.tokens, cost: record.cost ?? null })
      return
    case 'pause':
      reading.paused = record.at
      return
    case 'choice':
      if (reading.paused !== null) runOf(reading, record).waited += record.at - reading.paused
      reading.paused = null
      return
    case 'outcome': {
      const run = runOf(reading, record)
      run.outcome = { status: record.status, reason: record.reason }
      run.ms = record.at - run.at
      return
    }
    default:
      return
  }
}

function runOf(reading: Reading, { run: id, at }: { run: string; at: number }): TraceRun {
  const known = reading.runs.get(id)
  if (known) return known
  const run: TraceRun = { id, at, inputs: [], steps: [], checks: [], outcome: null, ms: null, waited: 0, totals: { steps: 0, calls: 0, input: 0, output: 0, cost: 0, costUnknown: false } }
  reading.runs.set(id, run)
  reading.trace.runs.push(run)
  return run
}

function readStep(reading: Reading, record: RecordOf<'step'>): void {
  const run = runOf(reading, record)
  for (const id of record.inputs) run.inputs.push(reading.inputs.get(id) ?? '')
  run.steps.push({
    seq: record.seq, number: record.number, attempt: record.attempt, model: record.model, requestBytes: record.request.bytes,
    ms: null, stop: null, usage: null, cost: null, fault: null, calls: [],
  })
}

function readReply(reading: Reading, record: RecordOf<'reply'>): void {
  const run = runOf(reading, record)
  const step = run.steps.at(-1)
  if (!step) return
  const parts = record.parts.filter((part): part is CallPart => part.type === 'call')
  Object.assign(step, { ms: record.ms ?? null, stop: record.stop, usage: record.usage, cost: record.cost ?? null, fault: record.fault ?? null })
  run.totals.steps++
  run.totals.input += record.usage.input
  run.totals.output += record.usage.output
  run.totals.cost += record.cost ?? 0
  if (record.cost === null) run.totals.costUnknown = true
  for (const { id, name, input } of parts) {
    const call: TraceCall = { id, name, input, status: null, ms: null, waited: 0, exit: null }
    step.calls.push(call)
    reading.calls.set(id, { call, asked: null, started: null })
  }
}

function readCall(reading: Reading, record: RecordOf<'ask' | 'answer' | 'start' | 'result'>): void {
  const open = reading.calls.get(record.call)
  const run = reading.runs.get(record.run)
  if (!open || !run) return
  switch (record.type) {
    case 'ask':
      open.asked = record.at
      return
    case 'answer':
      if (open.asked === null) return
      open.call.waited += record.at - open.asked
      run.waited += record.at - open.asked
      open.asked = null
      return
    case 'start':
      open.started = record.at
      run.totals.calls++
      return
    case 'result':
      Object.assign(open.call, { status: record.status, exit: record.exit ?? null, ms: record.ms ?? (open.started === null ? null : record.at - open.started) })
  }
}
