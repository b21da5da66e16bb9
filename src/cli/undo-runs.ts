import { isKnownRecord } from '../core/path.ts'
import type { Blobs } from '../core/ports.ts'
import type { FactOf, SessionRecord } from '../core/record.ts'
import type { Checkpoints } from '../session/checkpoint.ts'
import type { SessionLog } from '../session/log.ts'
import { applyUndo, planRedo, planUndo, previewUndo, undoDiff, type Undone, type UndoDeps, type UndoPlan } from '../session/undo.ts'
import { undoableRuns } from '../session/undo-plan.ts'

export interface ToUndo {
  log: SessionLog
  root: string
  checkpoints: Checkpoints
  blobs: Blobs
}

const depsOf = ({ root, checkpoints, blobs }: ToUndo): UndoDeps => ({ root, checkpoints, blobs })
const recordsOf = ({ log }: ToUndo): SessionRecord[] => log.records.filter(isKnownRecord)

/** The last run that changed files, or with `redo` the last undo; null: there is none. */
export async function planLast(of: ToUndo, redo: boolean, signal: AbortSignal): Promise<UndoPlan | null> {
  if (redo) return planRedo(depsOf(of), recordsOf(of), signal)
  const run = undoableRuns(recordsOf(of)).at(-1)
  return run === undefined ? null : planUndo(depsOf(of), recordsOf(of), [run], signal)
}

export const describePlan = (of: ToUndo, plan: UndoPlan): string => previewUndo(plan, of.root)

export const carryOutPlan = (of: ToUndo, plan: UndoPlan, chosen: ReadonlySet<string>, record: (fact: FactOf<'checkpoint'>) => void, signal: AbortSignal): Promise<Undone> =>
  applyUndo(depsOf(of), plan, chosen, record, signal)

/** What this session changed, or its last run, as a diff. */
export async function diffOf(of: ToUndo, which: 'run' | 'session', signal: AbortSignal): Promise<string> {
  const runs = undoableRuns(recordsOf(of))
  const wanted = which === 'run' ? runs.slice(-1) : runs
  return wanted.length === 0 ? '' : undoDiff(depsOf(of), await planUndo(depsOf(of), recordsOf(of), wanted, signal), 'made')
}
