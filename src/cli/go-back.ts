import { relative } from 'node:path'
import { isKnownRecord } from '../core/path.ts'
import { missingOnTheWay, TREE_TYPES, treeOf } from '../core/tree.ts'
import { olderRecords } from '../session/older.ts'
import { isPossible, type PlannedEntry, type UndoPlan } from '../session/undo.ts'
import type { FileEntry, FilePlan, UiHost } from '../ui/port.ts'
import type { Connections } from './connections.ts'
import { carryOutPlan, diffOfPlan, planLast, planLastRedo, planTo, type ToUndo } from './undo-runs.ts'

/** Where a conversation can be taken back to, as the screen asks for it. */
export const treeFor = (connections: Connections): UiHost['tree'] => ({
  async points(signal) {
    const { log } = connections.current()
    const older = await olderRecords(log.file, log.base, TREE_TYPES, signal)
    return treeOf([...older, ...log.records.filter(({ seq }) => seq >= log.base)])
  },
  unreadable(to) {
    const { log } = connections.current()
    const missing = missingOnTheWay(log.reach(to), to)
    if (!missing) return `Record ${to} cannot be read.`
    const count = missing.reduce((sum, [from, until]) => sum + until - from + 1, 0)
    return count === 0 ? null : `On the way there ${count === 1 ? 'a record' : `${count} records`} of the log cannot be read (${missing.slice(0, 3).map(([from, until]) => (from === until ? from : `${from} to ${until}`)).join(', ')}): what was said there would be missing.`
  },
})

export const toUndo = (connections: Connections): ToUndo => ({ ...connections.current(), root: connections.place.root })

/** Files to be put back, as the screen asks for them. */
export const putBackFor = (connections: Connections): UiHost['putBack'] => async (what, signal) => {
  await connections.current().ready()
  const of = toUndo(connections)
  if (of.log.readOnly !== null) throw new Error(`Nothing can be put back: ${of.log.readOnly}`)
  const plan = what === 'last' ? await planLast(of, signal) : what === 'redo' ? await planLastRedo(of, signal) : await planTo(of, what.to, signal)
  return plan && planFor(connections, of, plan)
}

function planFor(connections: Connections, of: ToUndo, plan: UndoPlan): FilePlan {
  const { agent } = connections.current()
  const short = (path: string): string => relative(of.root, path)
  const toEntry = (entry: PlannedEntry): FileEntry => ({ id: entry.path, path: short(entry.path), action: entry.action, verdict: isPossible(entry) ? entry.verdict : 'lost', why: entry.why })
  return {
    about: aboutOf(of, plan),
    entries: plan.entries.map(toEntry), notes: plan.notes, redoable: plan.kind === 'undo',
    diff: () => diffOfPlan(of, plan),
    carryOut: (paths) => agent.apart('putting files back', async (signal) => {
      const { done, left } = await carryOutPlan(of, plan, paths, (fact) => agent.note(fact), signal)
      return { done: done.length, left: left.filter(({ entry }) => paths.has(entry.path)).map(({ entry, why }) => ({ path: short(entry.path), why })) }
    }),
  }
}

/** What the run was about whose changes are the first to go. */
function aboutOf({ log }: ToUndo, { kind, to }: UndoPlan): string | null {
  if (kind === 'redo') return null
  const records = log.records.filter(isKnownRecord)
  const step = records.find((record) => record.type === 'step' && record.seq > to)
  const input = step?.type === 'step' ? records.find((record) => record.type === 'input' && step.inputs.includes(record.id)) : undefined
  return input?.type === 'input' ? input.text.slice(0, 300) : null
}
