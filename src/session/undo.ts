import { readlink } from 'node:fs/promises'
import { relative } from 'node:path'
import type { Blobs } from '../core/ports.ts'
import type { FactOf, FileChange, RecordOf, SessionRecord } from '../core/record.ts'
import { readWhole } from '../os/files.ts'
import type { Checkpoints } from './checkpoint.ts'
import { describeMeta } from './checkpoint-meta.ts'
import { historyOf, REDO, REDONE, UNDO, UNDONE, type History } from './file-history.ts'
import { pointsOf } from './file-points.ts'
import { currentOf, putBack, removeEmpty } from './undo-apply.ts'
import { planPath, type Entry, type Known, type Point } from './undo-plan.ts'

export interface UndoDeps {
  root: string
  checkpoints: Checkpoints
  /** Images of files that tools changed, by hash; what an undo replaces is put there where no checkpoint has it. */
  blobs: Blobs
}

export interface UndoPlan {
  kind: 'undo' | 'redo'
  /** Files go back to how they were right after this record. */
  to: number
  entries: PlannedEntry[]
  /** What is not undone, for a person. */
  notes: string[]
  /** The first state that was kept: what folders there were. */
  first: string | null
}

export interface PlannedEntry extends Entry {
  /** Where the content to be put back is kept. null: nowhere, so that it cannot be put back; or there is nothing to put back. */
  from: { tree: string } | 'blob' | null
}

/** Whether it can be done at all. */
export const isPossible = ({ target, from }: PlannedEntry): boolean => target === null || from !== null

/** What putting files back to how they were after record `to` would do. Changes nothing. */
export async function planUndo(deps: UndoDeps, records: readonly SessionRecord[], to: number, signal: AbortSignal): Promise<UndoPlan> {
  const history = historyOf(records, to)
  const taken = history.windows.some(({ by }) => by === 'command') ? await deps.checkpoints.take('to compare', signal) : { tree: null }
  const { points, uncovered } = await pointsOf(deps.checkpoints, history, taken.tree, signal)
  return { kind: 'undo', to, entries: await planEntries(deps, points, history.windows), notes: await notesOf(deps, history, uncovered), first: history.trees[0]?.tree ?? null }
}

/** What taking the last undo back would do; null: there was none, or it was taken back. */
export async function planRedo(deps: UndoDeps, records: readonly SessionRecord[], signal: AbortSignal): Promise<UndoPlan | null> {
  const marks = records.filter((record): record is RecordOf<'checkpoint'> => record.type === 'checkpoint' && [UNDO, UNDONE, REDO, REDONE].includes(record.why))
  const after = marks.findLast(({ why }) => why === UNDONE || why === REDONE)
  const before = marks.findLast(({ why, seq }) => why === UNDO && seq < (after?.seq ?? 0))
  if (after?.why !== UNDONE || !after.undo || !before) return null
  const paths = new Set(after.undo.changes.map(({ path }) => path))
  const { points } = await pointsOf(deps.checkpoints, historyOf(records, before.seq - 1, after.seq), null, signal)
  for (const path of points.keys()) if (!paths.has(path)) points.delete(path)
  return { kind: 'redo', to: before.seq - 1, entries: await planEntries(deps, points, [{ from: before.seq, to: after.seq, by: 'undo' }]), notes: [], first: after.tree }
}

/** How many files are read at the same time. */
const AT_ONCE = 16

async function planEntries({ blobs }: UndoDeps, points: ReadonlyMap<string, Point[]>, windows: History['windows']): Promise<PlannedEntry[]> {
  const all = [...points]
  const entries: PlannedEntry[] = []
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const some = await Promise.all(all.slice(at, at + AT_ONCE).map(async ([path, its]) => ({ its, entry: planPath(path, its, windows, await currentOf(path)) })))
    for (const { its, entry } of some) if (entry) entries.push(withSource(entry, its, blobs))
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function withSource(entry: Entry, points: readonly Point[], blobs: UndoDeps['blobs']): PlannedEntry {
  const { target } = entry
  if (target === null) return { ...entry, from: null }
  const from = sourceOf(target, points, blobs)
  return from === null ? { ...entry, verdict: 'refuse', why: 'no copy of it was kept', from } : { ...entry, from }
}

/** Where the bytes of a state of a file are kept. */
export function sourceOf(state: NonNullable<Known>, points: readonly Point[], blobs: UndoDeps['blobs']): PlannedEntry['from'] {
  const kept = points.find((point) => point.kind === 'seen' && point.state?.sha256 === state.sha256)
  if (kept?.kind === 'seen') return { tree: kept.tree }
  return blobs.get(state.sha256) ? 'blob' : null
}

async function notesOf({ checkpoints, root }: UndoDeps, { trees, windows, commands, missing }: History, uncovered: readonly string[]): Promise<string[]> {
  const ran = windows.some(({ by }) => by === 'command')
  const last = trees.at(-1)
  const meta = last ? await checkpoints.meta(last.tree) : null
  const limits = meta && describeMeta(meta)
  const named = [...new Set(commands)]
  const some = named.slice(-5).map((command) => command.split('\n')[0]?.slice(0, 80)).join(' · ')
  return [
    ...(ran ? [`Commands ran; what they did beyond the files here is not undone (commits, branches, pushes, packages, files elsewhere)${some === '' ? '' : `: ${some}`}${named.length > 5 ? ` and ${named.length - 5} more` : ''}`] : []),
    ...(uncovered.length > 0 ? [`Changed, but too large to be kept: ${uncovered.slice(0, 5).map((path) => relative(root, path)).join(', ')}`] : []),
    ...(limits ? [`Not covered: ${limits}`] : []),
    ...(ran && missing !== null ? [`A state of the files is missing (${missing}), so not all changes of commands are known.`] : []),
  ]
}

/** For a person, before anything is done. */
export function previewUndo(plan: UndoPlan, root: string): string {
  const line = ({ path, action, verdict, why }: PlannedEntry): string => `  ${verdict === 'yes' ? action : verdict === 'ask' ? `${action}?` : 'keep'}  ${relative(root, path)}  (${why})`
  const lines = plan.entries.map(line)
  return [...(lines.length > 0 ? lines : ['  Nothing here is to be put back.']), ...plan.notes].join('\n')
}

export interface Undone {
  done: PlannedEntry[]
  left: { entry: PlannedEntry; why: string }[]
}

/**
 * Puts the `chosen` paths of a plan back. Each file is replaced only if it is still as planned, and only if a copy of what it replaces is kept.
 * `record` is told a checkpoint before and one after, which make it undoable itself; it writes them to the log.
 */
export async function applyUndo(deps: UndoDeps, plan: UndoPlan, chosen: ReadonlySet<string>, record: (fact: FactOf<'checkpoint'>) => void, signal: AbortSignal): Promise<Undone> {
  const wanted = plan.entries.filter((entry) => chosen.has(entry.path) && isPossible(entry))
  const undone: Undone = { done: [], left: plan.entries.filter((entry) => !wanted.includes(entry)).map((entry) => ({ entry, why: entry.why })) }
  if (wanted.length === 0) return undone
  const mark = async (why: string, entries: readonly PlannedEntry[]): Promise<string | null> => {
    const { tree, note } = await deps.checkpoints.take(why, signal, wanted.map(({ path }) => path))
    record({ type: 'checkpoint', why, tree, ...(note === undefined ? {} : { note }), undo: { to: plan.to, changes: entries.map(changeOf) } })
    return tree
  }
  const isUndo = plan.kind === 'undo'
  const lost = await keepCopies(deps, wanted, await mark(isUndo ? UNDO : REDO, wanted), signal)
  // What was made goes first: a folder may have to make room for a file, or a file for a folder.
  const deletions = wanted.filter(({ action }) => action === 'delete').toReversed()
  for (const entry of [...deletions, ...wanted.filter(({ action }) => action === 'restore')]) {
    const why = signal.aborted ? 'cancelled' : lost.has(entry.path) ? 'no copy of it as it is now could be kept' : await putBack(entry, await bytesOf(deps, entry.path, entry.from, entry.target))
    if (why !== null) undone.left.push({ entry, why })
    else undone.done.push(entry)
    if (why === null && entry.action === 'delete' && plan.first !== null) await removeEmpty(entry.path, deps.root, (folder) => deps.checkpoints.holds(plan.first ?? '', folder))
  }
  await mark(isUndo ? UNDONE : REDONE, undone.done)
  return undone
}

const changeOf = ({ path, current, target }: PlannedEntry): FileChange => ({ path, before: current?.sha256 ?? null, after: target?.sha256 ?? null })

/** What is about to be replaced and the checkpoint does not have (no git, too large, elsewhere) is kept as a blob. Those of which that cannot be had. */
async function keepCopies({ checkpoints, blobs }: UndoDeps, wanted: readonly PlannedEntry[], tree: string | null, signal: AbortSignal): Promise<Set<string>> {
  const states = tree === null ? new Map<string, Known>() : await checkpoints.states(tree, wanted.map(({ path }) => path), signal)
  const lost = new Set<string>()
  for (const entry of wanted) {
    const { path, current } = entry
    if (current === null || states.get(path)?.sha256 === current.sha256 || blobs.get(current.sha256)) continue
    try {
      const bytes = await bytesNow(entry)
      if (!bytes) lost.add(path)
      else blobs.put(bytes)
    } catch {
      lost.add(path)
    }
  }
  return lost
}

/** The bytes of a file as it was, or where a link led. */
export async function bytesOf({ checkpoints, blobs }: UndoDeps, path: string, from: PlannedEntry['from'], state: Known): Promise<Buffer | null> {
  if (state === null || from === null) return null
  if (from !== 'blob') return checkpoints.file(from.tree, path)
  const kept = blobs.get(state.sha256)
  return kept === undefined ? null : Buffer.from(kept)
}

/** null: it cannot be read, or is too large. */
export async function bytesNow({ current, path }: Pick<Entry, 'current' | 'path'>): Promise<Buffer | null> {
  if (current === null) return Buffer.alloc(0)
  if (current.link) return Buffer.from(await readlink(path))
  const read = await readWhole(path, new AbortController().signal)
  return read.ok ? read.bytes : null
}
