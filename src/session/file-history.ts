import type { RecordOf, SessionRecord } from '../core/record.ts'

/** A stretch of the log in which a command ran, or an undo, that may have changed any file. */
export interface Window {
  from: number
  to: number
  by: 'command' | 'undo'
}

/** What one record says was done to one file. With `maybe` it was cut off, and may not have come to it. */
export interface Told {
  seq: number
  path: string
  before: string | null
  after: string | null
  maybe: boolean
  by: 'tool' | 'undo'
}

/** What happened to files in a part of the log, whoever did it and on whatever path: files know no rewind. */
export interface History {
  trees: { seq: number; tree: string }[]
  told: Told[]
  windows: Window[]
  /** What was run, for a person to read. */
  commands: string[]
  /** Why a state of the files is missing. */
  missing: string | null
}

/** Types of records that say what happened to files; of a part of a log that is not in memory, only these are needed. */
export const EFFECTS = ['checkpoint', 'step', 'start', 'spawn', 'job', 'result', 'check', 'outcome'] as const

/** Reasons of the checkpoints around an undo, and around taking one back. Between the two lies what it changed. */
export const UNDO = 'before undo'
export const UNDONE = 'after undo'
export const REDO = 'before redo'
export const REDONE = 'after redo'

/** What the records after `from` and up to `to` say; a command that was running at either end belongs to it. */
export function historyOf(records: readonly SessionRecord[], from = -1, to = Number.POSITIVE_INFINITY): History {
  const history: History = { trees: [], told: [], windows: [], commands: [], missing: null }
  const open: Open = { calls: new Map(), jobs: new Map(), undo: null, check: null, lost: lostRuns(records) }
  for (const record of records) add(history, open, record, from, to)
  for (const start of open.calls.values()) settle(history, start, null, Number.POSITIVE_INFINITY)
  // One that was cut off: nobody knows how much of it was done.
  if (open.undo) history.told.push(...toldOf(open.undo, open.undo.seq + 0.5, true))
  const within = ({ seq }: { seq: number }): boolean => seq > from && seq <= to
  return { ...history, trees: history.trees.filter(within), told: history.told.filter(within), windows: history.windows.filter((window) => window.to > from && window.from <= to) }
}

interface Open {
  /** Calls that were started and have no result yet. */
  calls: Map<string, RecordOf<'start'>>
  jobs: Map<string, Window>
  undo: RecordOf<'checkpoint'> | null
  /** Where the process of a check began. */
  check: number | null
  lost: ReadonlySet<string>
}

const lostRuns = (records: readonly SessionRecord[]): Set<string> => new Set(records.flatMap((record) => (record.type === 'outcome' && record.status === 'lost' ? [record.run] : [])))

function add(history: History, open: Open, record: SessionRecord, from: number, to: number): void {
  switch (record.type) {
    case 'reply':
      if (record.seq > from && record.seq <= to) history.commands.push(...commandsIn(record.parts))
      return
    case 'checkpoint':
      return addCheckpoint(history, open, record)
    case 'start':
      if (!record.reads) open.calls.set(record.call, record)
      return
    case 'spawn': {
      if (record.job === undefined) {
        if (record.call.startsWith('check-') && !open.calls.has(record.call)) open.check = record.seq
        return
      }
      const window: Window = { from: record.seq, to: Number.POSITIVE_INFINITY, by: 'command' }
      open.jobs.set(record.job, window)
      history.windows.push(window)
      return
    }
    case 'check':
      // It is a command, too, and begins where its process did.
      history.windows.push({ from: open.check ?? record.seq - 1, to: record.seq, by: 'command' })
      open.check = null
      return
    case 'job': {
      const window = open.jobs.get(record.id)
      if (window) window.to = Math.min(window.to, record.seq)
      return
    }
    case 'result': {
      const started = open.calls.get(record.call)
      open.calls.delete(record.call)
      // What was left behind may go on; a crash leaves nothing behind but what the result names.
      const goesOn = record.status === 'unknown' && (!open.lost.has(record.run) || (record.alive?.length ?? 0) > 0)
      if (started) settle(history, started, record, goesOn ? Number.POSITIVE_INFINITY : record.seq)
      return
    }
    default:
      return
  }
}

function addCheckpoint(history: History, open: Open, record: RecordOf<'checkpoint'>): void {
  if (record.tree !== null) history.trees.push({ seq: record.seq, tree: record.tree })
  else if (record.call !== undefined) history.missing = record.note ?? 'no reason known'
  if (record.why === UNDO || record.why === REDO) open.undo = record
  else if ((record.why === UNDONE || record.why === REDONE) && open.undo) {
    history.windows.push({ from: open.undo.seq, to: record.seq, by: 'undo' })
    history.told.push(...toldOf(record, record.seq - 0.5, false))
    open.undo = null
  }
}

/** Between the two states of the files that it lies between. */
const toldOf = ({ undo }: RecordOf<'checkpoint'>, seq: number, maybe: boolean): Told[] => (undo?.changes ?? []).map(({ path, before, after }) => ({ seq, path, before, after, maybe, by: 'undo' }))

/** A call that names its changes is a tool's; what its result does not tell of may have happened nevertheless. */
function settle(history: History, start: RecordOf<'start'>, result: RecordOf<'result'> | null, end: number): void {
  const intended = start.changes ?? []
  if (intended.length === 0) {
    history.windows.push({ from: start.seq, to: end, by: 'command' })
    return
  }
  const seq = result?.seq ?? start.seq
  const cutOff = result === null || result.status === 'unknown' || result.status === 'interrupted'
  const told = result?.changes ?? (cutOff ? intended.map(({ path, before, intended: after }) => ({ path, before, after })) : [])
  history.told.push(...told.map(({ path, before, after }): Told => ({ seq, path, before, after, maybe: result?.changes === undefined, by: 'tool' })))
}

function commandsIn(parts: Extract<SessionRecord, { type: 'reply' }>['parts']): string[] {
  return parts.flatMap((part) => {
    const input = part.type === 'call' && typeof part.input === 'object' && part.input !== null ? (part.input as Record<string, unknown>) : {}
    if (typeof input['command'] === 'string') return [input['command']]
    return part.type === 'call' && part.name === 'git' && ['add', 'commit', 'branch'].includes(String(input['op'])) ? [`git ${String(input['op'])}`] : []
  })
}

/** A run that may have changed files: after which record it began, and its last one. */
export interface ChangingRun {
  run: string
  from: number
  to: number
  /** Its beginning is among the records. */
  whole: boolean
}

/** Oldest first. */
export function changingRuns(records: readonly SessionRecord[]): ChangingRun[] {
  const runs = new Map<string, ChangingRun>()
  const changing = new Set<string>()
  for (const record of records) {
    if (!('run' in record) || record.run === undefined) continue
    const run = runs.get(record.run) ?? { run: record.run, from: record.seq - 1, to: record.seq, whole: record.type === 'step' && record.number === 1 }
    run.to = record.seq
    runs.set(record.run, run)
    if (record.type === 'start' && !record.reads) changing.add(record.run)
  }
  return [...runs.values()].filter(({ run }) => changing.has(run))
}

/** Those whose changes are not taken back, oldest first. */
export function undoableRuns(records: readonly SessionRecord[]): ChangingRun[] {
  const marks = records.flatMap((record) => (record.type === 'checkpoint' && record.undo && (record.why === UNDONE || record.why === REDONE) ? [{ seq: record.seq, to: record.undo.to, back: record.why === UNDONE }] : []))
  const isUndone = (from: number, at: number): boolean => {
    const mark = marks.findLast(({ seq }) => seq <= at)
    if (!mark) return false
    // What began after that place is gone with it, unless it began after the undo itself.
    return from >= mark.to ? mark.back && from < mark.seq : isUndone(from, mark.to)
  }
  return changingRuns(records).filter(({ from }) => !isUndone(from, Number.POSITIVE_INFINITY))
}
