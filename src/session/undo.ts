import { readlink } from 'node:fs/promises'
import { relative } from 'node:path'
import type { Blobs } from '../core/ports.ts'
import type { FactOf, SessionRecord } from '../core/record.ts'
import { readWhole } from '../os/files.ts'
import type { Checkpoints, TreeDiff } from './checkpoint.ts'
import { describeMeta } from './checkpoint-meta.ts'
import { currentOf, putBack, removeEmpty } from './undo-apply.ts'
import { historyOf, planPath, REDO, REDONE, UNDO, UNDONE, type Entry, type History, type Known, type Point } from './undo-plan.ts'

export interface UndoDeps {
  root: string
  checkpoints: Checkpoints
  /** Before-images that were kept otherwise, by hash. */
  blobs?: Pick<Blobs, 'get'> | undefined
}

export interface UndoPlan {
  kind: 'undo' | 'redo'
  runs: string[]
  entries: PlannedEntry[]
  /** What is not undone, for a person. */
  notes: string[]
  /** The first state that was kept: what folders there were. */
  first: string | null
}

export interface PlannedEntry extends Entry {
  /** The checkpoint that has the content to be put back. null: a blob has it, or there is nothing to put back. */
  tree: string | null
}

/** What undoing these runs would do. Changes nothing; `undoableRuns` says which there are. */
export async function planUndo(deps: UndoDeps, records: readonly SessionRecord[], runs: readonly string[], signal: AbortSignal): Promise<UndoPlan> {
  const history = historyOf(records, runs)
  const taken = history.windows.length > 0 ? await deps.checkpoints.take('to compare', signal) : { tree: null }
  const { points, uncovered } = await pointsOf(deps, history, taken.tree, signal)
  const first = history.trees[0]?.tree ?? null
  const notes = await notesOf(deps, history, uncovered, records, runs)
  return { kind: 'undo', runs: [...runs], entries: await planEntries(deps, points, history.windows), notes, first }
}

/** What undoing the last undo would do; null: there was none, or it was undone. */
export async function planRedo(deps: UndoDeps, records: readonly SessionRecord[], signal?: AbortSignal): Promise<UndoPlan | null> {
  const marks = records.filter((record) => record.type === 'checkpoint' && [UNDO, UNDONE, REDO, REDONE].includes(record.why)) as (FactOf<'checkpoint'> & { seq: number })[]
  const after = marks.findLast(({ why }) => why === UNDONE || why === REDONE)
  const before = marks.findLast(({ why, run, seq }) => why === UNDO && run === after?.run && seq < (after?.seq ?? 0))
  if (after?.why !== UNDONE || !after.tree || !before?.tree) return null
  const diff = await deps.checkpoints.diff(before.tree, after.tree, signal)
  if (!diff) return null
  const points = new Map<string, Point[]>()
  for (const change of diff.changes) {
    points.set(change.path, [
      { kind: 'seen', seq: before.seq, state: change.before, certain: true, tree: before.tree },
      { kind: 'tool', seq: after.seq, before: change.before, after: change.after, maybe: false },
    ])
  }
  const runs = [...new Set(marks.filter(({ why, tree }) => why === UNDONE && tree === after.tree).flatMap(({ run }) => (run === undefined ? [] : [run])))]
  return { kind: 'redo', runs, entries: await planEntries(deps, points, []), notes: [], first: after.tree }
}

async function planEntries({ blobs }: UndoDeps, points: ReadonlyMap<string, Point[]>, windows: History['windows']): Promise<PlannedEntry[]> {
  const entries: PlannedEntry[] = []
  for (const [path, its] of points) {
    const entry = planPath(path, its, windows, await currentOf(path))
    if (!entry) continue
    const { target } = entry
    const kept = its.find((point) => point.kind === 'seen' && point.state !== null && target !== null && point.state.sha256 === target.sha256)
    const tree = kept?.kind === 'seen' ? kept.tree : null
    if (target === null || tree !== null || blobs?.get(target.sha256)) entries.push({ ...entry, tree })
    else entries.push({ ...entry, verdict: 'refuse', why: 'no copy of it was kept', tree })
  }
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** What checkpoints and tools say of each path that differs anywhere between the first state and now. */
async function pointsOf({ checkpoints }: UndoDeps, history: History, now: string | null, signal: AbortSignal): Promise<{ points: Map<string, Point[]>; uncovered: string[] }> {
  const trees = [...history.trees, ...(now === null ? [] : [{ seq: Number.MAX_SAFE_INTEGER, tree: now }])]
  const diffs: (TreeDiff | null)[] = []
  for (const [index, { tree }] of trees.entries()) {
    const last = trees[index - 1]?.tree
    diffs.push(last === undefined || last === tree ? null : await checkpoints.diff(last, tree, signal))
  }
  const paths = [...new Set([...history.tools.map(({ path }) => path), ...diffs.flatMap((diff) => diff?.changes.map(({ path }) => path) ?? [])])]
  const points = new Map<string, Point[]>(paths.map((path) => [path, []]))
  for (const tool of history.tools) {
    const state = (hash: string | null): Known => (hash === null ? null : { sha256: hash })
    points.get(tool.path)?.push({ kind: 'tool', seq: tool.seq, before: state(tool.before), after: state(tool.after), maybe: tool.maybe })
  }
  const states = new Map<string, Map<string, Known>>()
  for (const { seq, tree } of trees) {
    const found = states.get(tree) ?? (await checkpoints.states(tree, paths, signal))
    states.set(tree, found)
    const uncertain = new Set(diffs[trees.findIndex((each) => each.seq === seq)]?.changes.filter(({ certain }) => !certain).map(({ path }) => path))
    for (const [path, state] of found) points.get(path)?.push({ kind: 'seen', seq, state, certain: !uncertain.has(path), tree })
  }
  return { points, uncovered: [...new Set(diffs.flatMap((diff) => diff?.uncovered ?? []))] }
}

async function notesOf({ checkpoints, root }: UndoDeps, { trees, windows, commands }: History, uncovered: readonly string[], records: readonly SessionRecord[], runs: readonly string[]): Promise<string[]> {
  const short = (path: string): string => relative(root, path)
  const last = trees.at(-1)
  const meta = last ? await checkpoints.meta(last.tree) : null
  const limits = meta && describeMeta(meta)
  const missing = records.find((record) => record.type === 'checkpoint' && record.run !== undefined && runs.includes(record.run) && record.tree === null)
  return [
    ...(windows.length > 0 ? [`Commands ran; what they did beyond the files here is not undone (commits, branches, pushes, packages, files elsewhere): ${[...new Set(commands)].slice(0, 5).map((command) => command.split('\n')[0]?.slice(0, 80)).join(' · ')}`] : []),
    ...(uncovered.length > 0 ? [`Changed, but too large to be kept: ${uncovered.slice(0, 5).map(short).join(', ')}`] : []),
    ...(limits ? [`Not covered: ${limits}`] : []),
    ...(windows.length > 0 && missing?.type === 'checkpoint' ? [`A state of the files is missing (${missing.note ?? 'no reason known'}), so not all changes of commands are known.`] : []),
  ]
}

/** For a person, before anything is done. */
export function previewUndo(plan: UndoPlan, root: string): string {
  const line = ({ path, action, verdict, why }: PlannedEntry): string => `  ${verdict === 'yes' ? action : verdict === 'ask' ? `${action}?` : 'keep'}  ${relative(root, path)}  (${why})`
  const lines = plan.entries.map(line)
  return [...(lines.length > 0 ? lines : ['  Nothing here is to be put back.']), ...plan.notes].join('\n')
}

/** Of the files as they are now and as they would be; `made` the other way round: what the runs made of them. */
export async function undoDiff(deps: UndoDeps, plan: UndoPlan, way: 'back' | 'made' = 'back'): Promise<string> {
  const { createTwoFilesPatch } = await import('diff')
  const parts: string[] = []
  for (const entry of plan.entries) {
    const name = relative(deps.root, entry.path)
    const [now, then] = [await bytesNow(entry), (await bytesOf(deps, entry)) ?? Buffer.alloc(0)]
    const binary = now === null || [now, then].some((bytes) => bytes.length > 1024 * 1024 || bytes.subarray(0, 8_000).includes(0))
    parts.push(binary ? `${name}: binary or large\n` : createTwoFilesPatch(`a/${name}`, `b/${name}`, ...(way === 'back' ? ([now.toString(), then.toString()] as const) : ([then.toString(), now.toString()] as const)), '', ''))
  }
  return parts.join('\n')
}

export interface Undone {
  done: PlannedEntry[]
  left: { entry: PlannedEntry; why: string }[]
}

/**
 * Puts back what the plan says: entries that need no yes, and those in `chosen`. Each file is replaced only if it is still as planned.
 * `record` is told a checkpoint before and one after, which make it undoable itself; it writes them to the log.
 */
export async function applyUndo(deps: UndoDeps, plan: UndoPlan, chosen: ReadonlySet<string>, record: (fact: FactOf<'checkpoint'>) => void, signal: AbortSignal): Promise<Undone> {
  const wanted = plan.entries.filter(({ verdict, path }) => verdict === 'yes' || chosen.has(path))
  const undone: Undone = { done: [], left: plan.entries.filter((entry) => !wanted.includes(entry)).map((entry) => ({ entry, why: entry.why })) }
  if (wanted.length === 0) return undone
  const mark = async (why: string): Promise<void> => {
    const { tree, note } = await deps.checkpoints.take(why, signal, wanted.map(({ path }) => path))
    for (const run of plan.runs) record({ type: 'checkpoint', run, why, tree, ...(note === undefined ? {} : { note }) })
  }
  await mark(plan.kind === 'undo' ? UNDO : REDO)
  // What was made goes first: a folder may have to make room for a file, or a file for a folder.
  const deletions = wanted.filter(({ action }) => action === 'delete').toReversed()
  for (const entry of [...deletions, ...wanted.filter(({ action }) => action === 'restore')]) {
    const why = signal.aborted ? 'cancelled' : await putBack(entry, await bytesOf(deps, entry))
    if (why !== null) undone.left.push({ entry, why })
    else undone.done.push(entry)
    if (why === null && entry.action === 'delete' && plan.first !== null) await removeEmpty(entry.path, deps.root, (folder) => deps.checkpoints.holds(plan.first ?? '', folder))
  }
  await mark(plan.kind === 'undo' ? UNDONE : REDONE)
  return undone
}

async function bytesOf({ checkpoints, blobs }: UndoDeps, { tree, path, target }: PlannedEntry): Promise<Buffer | null> {
  if (target === null) return null
  if (tree !== null) return checkpoints.file(tree, path)
  const kept = blobs?.get(target.sha256)
  return kept === undefined ? null : Buffer.from(kept)
}

async function bytesNow({ current, path }: PlannedEntry): Promise<Buffer | null> {
  if (current === null) return Buffer.alloc(0)
  if (current.link) return Buffer.from(await readlink(path))
  const read = await readWhole(path, new AbortController().signal)
  return read.ok ? read.bytes : null
}
