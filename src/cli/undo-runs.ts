import { relative } from 'node:path'
import { isKnownRecord } from '../core/path.ts'
import type { Blobs } from '../core/ports.ts'
import type { FactOf, SessionRecord } from '../core/record.ts'
import type { Checkpoints } from '../session/checkpoint.ts'
import { madeDiff, undoDiff } from '../session/file-diffs.ts'
import { changingRuns, EFFECTS, undoableRuns } from '../session/file-history.ts'
import type { SessionLog } from '../session/log.ts'
import { olderRecords } from '../session/older.ts'
import { applyUndo, planRedo, planUndo, previewUndo, type Undone, type UndoDeps, type UndoPlan } from '../session/undo.ts'

export interface ToUndo {
  log: SessionLog
  root: string
  checkpoints: Checkpoints
  blobs: Blobs
}

const depsOf = ({ root, checkpoints, blobs }: ToUndo): UndoDeps => ({ root, checkpoints, blobs })
const inMemory = ({ log }: ToUndo): SessionRecord[] => log.records.filter(isKnownRecord)
const everything = async (of: ToUndo, signal: AbortSignal): Promise<SessionRecord[]> => [...(await olderRecords(of.log.file, of.log.base, EFFECTS, signal)), ...inMemory(of).filter(({ seq }) => seq >= of.log.base)]

/** The last run that changed files which are not put back already; null: there is none. */
export async function planLast(of: ToUndo, signal: AbortSignal): Promise<UndoPlan | null> {
  const now = once((why: string) => of.checkpoints.take(why, signal))
  const deps = { ...depsOf(of), checkpoints: { ...of.checkpoints, take: now } }
  const plan = await lastIn(deps, inMemory(of), signal)
  return plan === 'older' ? lastOf(await lastIn(deps, await everything(of, signal), signal, true)) : plan
}

const lastOf = (plan: UndoPlan | 'older' | null): UndoPlan | null => (plan === 'older' ? null : plan)

/** `older`: what was asked for began before these records. */
async function lastIn(deps: UndoDeps, records: readonly SessionRecord[], signal: AbortSignal, all = records[0]?.seq === 0 && records[1]?.seq === 1): Promise<UndoPlan | 'older' | null> {
  for (const { from, whole } of undoableRuns(records).reverse()) {
    if (!whole && !all) return 'older'
    const plan = await planUndo(deps, records, from, signal)
    if (plan.entries.length > 0) return plan
  }
  return all ? null : 'older'
}

/** One look at the files is enough for any number of runs that are tried. */
function once<A, T>(make: (of: A) => Promise<T>): (of: A) => Promise<T> {
  let made: Promise<T> | undefined
  return (of) => (made ??= make(of))
}

/** Takes the last undo back; null: there is none. */
export const planLastRedo = (of: ToUndo, signal: AbortSignal): Promise<UndoPlan | null> => planRedo(depsOf(of), inMemory(of), signal)

/** Files as they were right after a record. */
export const planTo = async (of: ToUndo, to: number, signal: AbortSignal): Promise<UndoPlan> => planUndo(depsOf(of), to < of.log.base ? await everything(of, signal) : inMemory(of), to, signal)

export const describePlan = (of: ToUndo, plan: UndoPlan): string => previewUndo(plan, of.root)

export const diffOfPlan = (of: ToUndo, plan: UndoPlan): Promise<string> => undoDiff(depsOf(of), plan)

/** Those that need nobody's yes. */
export const certain = (plan: UndoPlan): Set<string> => new Set(plan.entries.filter(({ verdict }) => verdict === 'yes').map(({ path }) => path))

export const carryOutPlan = (of: ToUndo, plan: UndoPlan, chosen: ReadonlySet<string>, record: (fact: FactOf<'checkpoint'>) => void, signal: AbortSignal): Promise<Undone> =>
  applyUndo(depsOf(of), plan, chosen, record, signal)

/** What was not done and why, and how much was. */
export const describeUndone = (of: ToUndo, plan: UndoPlan, { done, left }: Undone): string[] => [
  ...left.map(({ entry, why }) => `left as it is: ${relative(of.root, entry.path)} (${why})`),
  ...plan.notes,
  `${done.length === 1 ? '1 file was' : `${done.length} files were`} put back.`,
]

/** What the agent made in this session, or in its last run that made something, as a diff. */
export async function diffOf(of: ToUndo, which: 'run' | 'session', signal: AbortSignal): Promise<string> {
  const records = await everything(of, signal)
  if (which === 'session') return madeDiff(depsOf(of), records, -1, Number.POSITIVE_INFINITY, signal)
  for (const { from, to } of changingRuns(records).reverse()) {
    const diff = await madeDiff(depsOf(of), records, from, to, signal)
    if (diff !== '') return diff
  }
  return ''
}
