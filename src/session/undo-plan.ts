import type { Told, Window } from './file-history.ts'

/** What is known of a file: its bytes by hash, and mode and kind where somebody looked. null: there was none. */
export type Known = { sha256: string; mode?: number; link?: boolean } | null

/** What the log and the checkpoints say of one path, in the order of the log. */
export type Point =
  /** How a checkpoint found it. `certain` is false where it may only have come into view. */
  | { kind: 'seen'; seq: number; state: Known; certain: boolean; tree: string }
  /** What a tool, or an undo, did to it; with `maybe` it was cut off, and may not have come to it. */
  | { kind: 'told'; seq: number; before: Known; after: Known; maybe: boolean; by: Told['by'] }

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

/** One change of a path. */
export interface Step {
  by: 'tool' | 'command' | 'undo' | 'other'
  before: Known
  after: Known
  certain: boolean
}

/** What going back to before all of it means for one path: nothing (null), or what would be put back and whether that may be done unasked. Pure. */
export function planPath(path: string, points: readonly Point[], windows: readonly Window[], current: Known): Entry | null {
  const now: Point = { kind: 'seen', seq: Number.POSITIVE_INFINITY, state: current, certain: true, tree: '' }
  const steps = stepsOf([...points, now], windows)
  const first = steps.findIndex((step) => step.by !== 'other')
  const target = steps[first]?.before
  if (target === undefined || same(target, current)) return null
  const mine = steps.slice(first)
  const action = target === null ? 'delete' : 'restore'
  if (mine.some((step) => step.by === 'other')) return { path, action, verdict: 'refuse', why: 'somebody else changed it after that', target, current }
  if (mine.some((step) => !step.certain)) return { path, action, verdict: 'ask', why: 'it may have been there before, ignored', target, current }
  if (mine.some((step) => step.by === 'command')) return { path, action, verdict: 'ask', why: 'it changed while a command ran', target, current }
  const why = mine[0]?.by === 'undo' ? 'it was put back later' : target === null ? 'made by the agent' : current === null ? 'deleted by the agent' : 'changed by the agent'
  return { path, action, verdict: 'yes', why, target, current }
}

/** The changes of one path, one after the other. What an undo took back is no change any more. */
export function stepsOf(points: readonly Point[], windows: readonly Window[]): Step[] {
  const steps: Step[] = []
  let known = undefined as { state: Known; seq: number } | undefined
  /** Of a change that was cut off: it counts once it is seen not to have stayed away. */
  let perhaps: Step | null = null
  for (const point of points.toSorted((a, b) => a.seq - b.seq)) {
    const found: Known = point.kind === 'seen' ? point.state : point.before
    if (known && perhaps && same(perhaps.before, found)) known.state = perhaps.before
    else if (perhaps) addStep(steps, perhaps)
    perhaps = null
    const last: Known | undefined = known?.state
    if (known && last !== undefined && !same(last, found)) addStep(steps, { by: by(known.seq, point.seq, windows), before: last, after: found, certain: point.kind === 'told' || point.certain })
    const fuller: Known = last !== undefined && same(last, found) ? merge(found, last) : found
    if (point.kind === 'seen') {
      known = { state: fuller, seq: point.seq }
      continue
    }
    const after = point.after && { ...point.after, ...(fuller?.mode === undefined ? {} : { mode: fuller.mode }) }
    const step: Step = { by: point.by, before: fuller, after, certain: true }
    if (point.maybe) perhaps = step
    else if (!same(fuller, after)) addStep(steps, step)
    known = { state: after, seq: point.seq }
  }
  return steps
}

function addStep(steps: Step[], step: Step): void {
  const undone = step.by === 'undo' ? steps.findIndex(({ before }) => same(before, step.after)) : -1
  if (undone >= 0) steps.length = undone
  else steps.push(step)
}

/** Who changed something between two places of the log: a command or an undo, if one ran then. */
function by(from: number, to: number, windows: readonly Window[]): Step['by'] {
  const open = windows.filter((window) => window.from < to && window.to > from)
  return open.some((window) => window.by === 'command') ? 'command' : open.length > 0 ? 'undo' : 'other'
}

/** Equal, as far as both are known. */
export function same(a: Known, b: Known): boolean {
  if (a === null || b === null) return a === b
  const alike = <T>(x: T | undefined, y: T | undefined): boolean => x === undefined || y === undefined || x === y
  return a.sha256 === b.sha256 && alike(a.link, b.link) && alike(a.mode, b.mode)
}

const merge = (a: Known, b: Known): Known => a && b && { ...b, ...a }
