import type { Checkpoints, TreeDiff } from './checkpoint.ts'
import type { History } from './file-history.ts'
import type { Known, Point } from './undo-plan.ts'

export interface Points {
  /** Of each path that a tool, a command or an undo may have changed. Absolute. */
  points: Map<string, Point[]>
  /** Changed while a command ran, too, but not kept. */
  uncovered: string[]
}

/** How many programs look at states at the same time. */
const AT_ONCE = 4

/** What checkpoints and tools say of each path in a history. `now`: a state that was taken to compare with. */
export async function pointsOf(checkpoints: Checkpoints, history: History, now: string | null, signal: AbortSignal): Promise<Points> {
  const trees = [...history.trees, ...(now === null ? [] : [{ seq: Number.MAX_SAFE_INTEGER, tree: now }])]
  const diffs = await diffsOf(checkpoints, history, trees, signal)
  const changed = [...diffs.values()].flatMap((diff) => diff.changes.map(({ path }) => path))
  const paths = [...new Set([...history.told.map(({ path }) => path), ...changed])]
  const points = new Map<string, Point[]>(paths.map((path) => [path, []]))
  for (const { path, before, after, ...told } of history.told) points.get(path)?.push({ ...told, kind: 'told', before: known(before), after: known(after) })
  const different = [...new Set(trees.map(({ tree }) => tree))]
  const states = new Map<string, Map<string, Known>>()
  if (paths.length > 0) {
    for (let at = 0; at < different.length; at += AT_ONCE) {
      await Promise.all(different.slice(at, at + AT_ONCE).map(async (tree) => void states.set(tree, await checkpoints.states(tree, paths, signal))))
    }
  }
  for (const { seq, tree } of trees) {
    const uncertain = new Set(diffs.get(seq)?.changes.filter(({ certain }) => !certain).map(({ path }) => path))
    for (const [path, state] of states.get(tree) ?? []) points.get(path)?.push({ kind: 'seen', seq, state, certain: !uncertain.has(path), tree })
  }
  return { points, uncovered: [...new Set([...diffs.values()].flatMap((diff) => diff.uncovered))] }
}

const known = (hash: string | null): Known => (hash === null ? null : { sha256: hash })

/** What changed while a command or an undo ran, by the later state. What changed between is somebody else's, and of no concern. */
async function diffsOf(checkpoints: Checkpoints, { windows }: History, trees: readonly History['trees'][number][], signal: AbortSignal): Promise<Map<number, TreeDiff>> {
  const diffs = new Map<number, TreeDiff>()
  for (const [index, { seq, tree }] of trees.entries()) {
    const before = trees[index - 1]
    if (!before || before.tree === tree || !windows.some((window) => window.from < seq && window.to > before.seq)) continue
    const diff = await checkpoints.diff(before.tree, tree, signal)
    if (diff) diffs.set(seq, diff)
  }
  return diffs
}
