import type { SessionRecord } from '../core/record.ts'

/** What is known of a file: its bytes by hash, and mode and kind where somebody looked. null: there was none. */
export type Known = { sha256: string; mode?: number; link?: boolean } | null

/** What the log and the checkpoints say of one path, in the order of the log. */
export type Point =
  /** How a checkpoint found it. `certain` is false where it may only have come into view. */
  | { kind: 'seen'; seq: number; state: Known; certain: boolean; tree: string }
  /** What a tool did to it; with `maybe` it was cut off, and may not have come to it. */
  | { kind: 'tool'; seq: number; before: Known; after: Known; maybe: boolean }

/** A command ran between these two places of the log, and may have changed any file. */
export interface Window {
  from: number
  to: number
}

export interface History {
  trees: { seq: number; tree: string }[]
  tools: { seq: number; path: string; before: string | null; after: string | null; maybe: boolean }[]
  windows: Window[]
  /** What was run, for a person to read. */
  commands: string[]
}

export interface Entry {
  /** Absolute. */
  path: string
  action: 'restore' | 'delete'
  /** `refuse`: somebody else changed it since; only an explicit yes to this very file puts it back. */
  verdict: 'yes' | 'ask' | 'refuse'
  why: string
  target: Known
  /** As it is now; what is put back replaces this and nothing else. */
  current: Known
}

/** The last run that changed something and was not undone, or any other: by their ids, in the order of the log. */
export function undoableRuns(records: readonly SessionRecord[]): string[] {
  const runs = new Set<string>()
  const undone = new Set<string>()
  for (const record of records) {
    if (record.type === 'start' && !record.reads) runs.add(record.run)
    if (record.type === 'checkpoint' && record.run !== undefined && record.why === UNDONE) undone.add(record.run)
    if (record.type === 'checkpoint' && record.run !== undefined && record.why === REDONE) undone.delete(record.run)
  }
  return [...runs].filter((run) => !undone.has(run))
}

/** Reasons of the checkpoints around an undo, and around undoing that. Between the two lies what it changed. */
export const UNDO = 'before undo'
export const UNDONE = 'after undo'
export const REDO = 'before redo'
export const REDONE = 'after redo'

/** What these runs did, as far as the log says. */
export function historyOf(records: readonly SessionRecord[], runs: readonly string[]): History {
  const history: History = { trees: [], tools: [], windows: [], commands: [] }
  const open = new Map<string, { from: number; changes: { path: string; before: string | null; intended: string | null }[] }>()
  const jobs = new Map<string, Window>()
  for (const record of records) {
    if (record.type === 'job') {
      const window = jobs.get(record.id)
      if (window) window.to = record.seq
    }
    if (!('run' in record) || record.run === undefined || !runs.includes(record.run)) continue
    if (record.type === 'reply') history.commands.push(...commandsIn(record.parts))
    if (record.type === 'checkpoint' && record.tree !== null && ![UNDO, UNDONE, REDO, REDONE].includes(record.why)) history.trees.push({ seq: record.seq, tree: record.tree })
    if (record.type === 'start' && !record.reads) open.set(record.call, { from: record.seq, changes: record.changes ?? [] })
    if (record.type === 'spawn' && record.job !== undefined) {
      const window = { from: record.seq, to: Number.POSITIVE_INFINITY }
      jobs.set(record.job, window)
      history.windows.push(window)
    }
    const started = record.type === 'result' ? open.get(record.call) : undefined
    if (record.type !== 'result' || !started) continue
    open.delete(record.call)
    // A call that names its changes is a tool's; what its result does not tell of may have happened nevertheless.
    const told = record.changes?.map((change) => ({ ...change, maybe: false })) ?? (record.status === 'unknown' || record.status === 'interrupted' ? cutOff(started.changes) : [])
    if (started.changes.length === 0) history.windows.push({ from: started.from, to: record.status === 'unknown' ? Number.POSITIVE_INFINITY : record.seq })
    else history.tools.push(...told.map((change) => ({ seq: record.seq, ...change })))
  }
  for (const { from, changes } of open.values()) {
    if (changes.length === 0) history.windows.push({ from, to: Number.POSITIVE_INFINITY })
    else history.tools.push(...cutOff(changes).map((change) => ({ seq: from, ...change })))
  }
  return history
}

const cutOff = (changes: readonly { path: string; before: string | null; intended: string | null }[]): Omit<History['tools'][number], 'seq'>[] =>
  changes.map(({ path, before, intended }) => ({ path, before, after: intended, maybe: true }))

function commandsIn(parts: Extract<SessionRecord, { type: 'reply' }>['parts']): string[] {
  return parts.flatMap((part) => {
    const input = part.type === 'call' && typeof part.input === 'object' && part.input !== null ? (part.input as Record<string, unknown>) : {}
    if (typeof input['command'] === 'string') return [input['command']]
    return part.type === 'call' && part.name === 'git' && ['add', 'commit', 'branch'].includes(String(input['op'])) ? [`git ${String(input['op'])}`] : []
  })
}

interface Step {
  by: 'tool' | 'command' | 'other'
  before: Known
  certain: boolean
}

/** What undoing means for one path: nothing (null), or what would be put back and whether that may be done unasked. Pure. */
export function planPath(path: string, points: readonly Point[], windows: readonly Window[], current: Known): Entry | null {
  const steps: Step[] = []
  let known = undefined as { state: Known; seq: number; or?: Known } | undefined
  const now: Point = { kind: 'seen', seq: Number.POSITIVE_INFINITY, state: current, certain: true, tree: '' }
  for (const point of [...points.toSorted((a, b) => a.seq - b.seq), now]) {
    const found: Known = point.kind === 'seen' ? point.state : point.before
    const last: Known | undefined = known?.or !== undefined && same(known.or, found) ? known.or : known?.state
    if (known && last !== undefined && !same(last, found)) steps.push({ by: by(known.seq, point.seq, windows), before: last, certain: point.kind === 'tool' || point.certain })
    const fuller: Known = last !== undefined && same(last, found) ? merge(found, last) : found
    if (point.kind === 'seen') known = { state: fuller, seq: point.seq }
    else {
      steps.push({ by: 'tool', before: fuller, certain: true })
      known = { state: point.after && { ...point.after, ...(fuller?.mode === undefined ? {} : { mode: fuller.mode }) }, seq: point.seq, ...(point.maybe ? { or: fuller } : {}) }
    }
  }
  const first = steps.findIndex((step) => step.by !== 'other')
  const target = steps[first]?.before
  if (target === undefined || same(target, current)) return null
  const mine = steps.slice(first)
  const action = target === null ? 'delete' : 'restore'
  if (mine.some((step) => step.by === 'other')) return { path, action, verdict: 'refuse', why: 'somebody else changed it after that', target, current }
  if (mine.some((step) => !step.certain)) return { path, action, verdict: 'ask', why: 'it may have been there before, ignored', target, current }
  if (mine.some((step) => step.by === 'command')) return { path, action, verdict: 'ask', why: 'it changed while a command ran', target, current }
  return { path, action, verdict: 'yes', why: target === null ? 'made by the agent' : current === null ? 'deleted by the agent' : 'changed by the agent', target, current }
}

/** Who changed something between two places of the log: a command, if one ran then. */
const by = (from: number, to: number, windows: readonly Window[]): Step['by'] => (windows.some((window) => window.from < to && window.to > from) ? 'command' : 'other')

/** Equal, as far as both are known. */
export function same(a: Known, b: Known): boolean {
  if (a === null || b === null) return a === b
  const alike = <T>(x: T | undefined, y: T | undefined): boolean => x === undefined || y === undefined || x === y
  return a.sha256 === b.sha256 && alike(a.link, b.link) && alike(a.mode, b.mode)
}

const merge = (a: Known, b: Known): Known => a && b && { ...b, ...a }
