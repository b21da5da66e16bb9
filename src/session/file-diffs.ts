import { relative } from 'node:path'
import type { SessionRecord } from '../core/record.ts'
import { historyOf, type History } from './file-history.ts'
import { pointsOf } from './file-points.ts'
import { currentOf } from './undo-apply.ts'
import { same, stepsOf, type Known, type Point, type Step } from './undo-plan.ts'
import { bytesNow, bytesOf, sourceOf, type UndoDeps, type UndoPlan } from './undo.ts'

/** What an undo would change, as a diff: from the files as they are now to what they would be. */
export async function undoDiff(deps: UndoDeps, plan: UndoPlan): Promise<string> {
  const parts: string[] = []
  for (const entry of plan.entries) {
    const then = entry.target === null ? Buffer.alloc(0) : await bytesOf(deps, entry.path, entry.from, entry.target)
    parts.push(await patch(relative(deps.root, entry.path), { state: entry.current, bytes: await bytesNow(entry) }, { state: entry.target, bytes: then }))
  }
  return parts.join('')
}

/**
 * What the agent made of the files between two records, as a diff. What a person changed in between or since is not in it: where somebody else
 * was at a file between two changes of the agent, there are two diffs of it.
 */
export async function madeDiff(deps: UndoDeps, records: readonly SessionRecord[], from: number, to: number, signal: AbortSignal): Promise<string> {
  const history = historyOf(records, from, to)
  const later = laterState(records, history, to)
  const now = later === null && endsUnseen(history) ? (await deps.checkpoints.take('to compare', signal)).tree : null
  const { points } = await pointsOf(deps.checkpoints, later === null ? history : { ...history, trees: [...history.trees, later] }, now, signal)
  const parts: string[] = []
  for (const [path, its] of [...points].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const { before, after } of stretches(stepsOf(its, history.windows))) {
      parts.push(await patch(relative(deps.root, path), await contentOf(deps, path, before, its), await contentOf(deps, path, after, its)))
    }
  }
  return parts.join('')
}

/** A command ran whose end no checkpoint saw. */
function endsUnseen({ windows, trees }: History): boolean {
  const last = trees.at(-1)?.seq ?? -1
  return windows.some(({ to }) => to > last)
}

/** The first state after the part of the log that is asked for, where its own end was not seen. */
function laterState(records: readonly SessionRecord[], history: History, to: number): History['trees'][number] | null {
  if (!endsUnseen(history)) return null
  const found = records.find((record) => record.type === 'checkpoint' && record.seq > to && record.tree !== null)
  return found?.type === 'checkpoint' && found.tree !== null ? { seq: found.seq, tree: found.tree } : null
}

/** Changes of the agent with nobody else's in between, each as one. */
function stretches(steps: readonly Step[]): { before: Known; after: Known }[] {
  const found: { before: Known; after: Known }[] = []
  let goesOn = false
  for (const { by, before, after } of steps) {
    const last = found.at(-1)
    if (by === 'other') goesOn = false
    else if (goesOn && last) last.after = after
    else {
      found.push({ before, after })
      goesOn = true
    }
  }
  return found.filter(({ before, after }) => !same(before, after))
}

interface Content {
  state: Known
  /** null: no copy was kept. */
  bytes: Buffer | null
}

async function contentOf(deps: UndoDeps, path: string, state: Known, points: readonly Point[]): Promise<Content> {
  if (state === null) return { state, bytes: Buffer.alloc(0) }
  const kept = await bytesOf(deps, path, sourceOf(state, points, deps.blobs), state)
  if (kept) return { state, bytes: kept }
  const current = await currentOf(path)
  return { state, bytes: current?.sha256 === state.sha256 ? await bytesNow({ path, current }) : null }
}

const MOST_BYTES = 1024 * 1024
const LONGEST_MS = 2_000

/** One file's part of a diff, with what cannot be shown said in the way of git. */
async function patch(name: string, before: Content, after: Content): Promise<string> {
  const [a, b] = [before.state === null ? '/dev/null' : `a/${name}`, after.state === null ? '/dev/null' : `b/${name}`]
  const modes = before.state?.mode !== undefined && after.state?.mode !== undefined && before.state.mode !== after.state.mode ? `old mode ${octal(before.state.mode)} of ${name}\nnew mode ${octal(after.state.mode)} of ${name}\n` : ''
  if (before.state?.sha256 === after.state?.sha256) return modes
  const [old, fresh] = [before.bytes, after.bytes]
  const says = (what: string): string => `${modes}Binary files ${a} and ${b} differ${what}\n`
  if (!old || !fresh) return says(' (no copy was kept)')
  if (isBinary(old) || isBinary(fresh)) return says('')
  if (old.length > MOST_BYTES || fresh.length > MOST_BYTES) return says(' (too large to be shown)')
  const { structuredPatch, formatPatch, FILE_HEADERS_ONLY } = await import('diff')
  const found = structuredPatch(a, b, old.toString(), fresh.toString(), undefined, undefined, { context: 3, timeout: LONGEST_MS })
  return found ? modes + formatPatch(found, FILE_HEADERS_ONLY) : says(' (too much for a diff)')
}

const octal = (mode: number): string => `100${mode.toString(8).padStart(3, '0')}`

const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, 8_000).includes(0)
