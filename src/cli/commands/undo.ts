import { createInterface } from 'node:readline/promises'
import { dirname, join, relative } from 'node:path'
import { checkpoints } from '../../session/checkpoint.ts'
import { openBlobs } from '../../session/blob.ts'
import { blobsOf } from '../../session/companion.ts'
import type { UndoPlan } from '../../session/undo.ts'
import { existingSession, fileOf, newestHere } from '../open-session.ts'
import { UsageError, type Options } from '../options.ts'
import { carryOutPlan, describePlan, planLast, type ToUndo } from '../undo-runs.ts'
import { surroundings } from './surroundings.ts'

/** `tiller undo [id]`: shows what it would do, asks, does it, and can be undone itself with `--redo`. */
export async function undo(options: Options, id: string | undefined, flags: Record<string, unknown>): Promise<number> {
  const { place, folder } = await surroundings(options)
  const log = id === undefined ? newestHere(place, folder) : existingSession(await fileOf(id, folder))
  const of: ToUndo = { log, root: log.session?.root ?? place.root, checkpoints: checkpoints({ dir: join(dirname(log.file), 'checkpoints'), root: place.root }), blobs: openBlobs(blobsOf(log.file)) }
  const { signal } = new AbortController()
  try {
    const plan = await planLast(of, flags['redo'] === true, signal)
    if (!plan) {
      process.stderr.write('tiller: there is nothing to put back\n')
      return 1
    }
    process.stdout.write(`${describePlan(of, plan)}\n`)
    if (flags['dryRun'] === true) return 0
    const chosen = await agreed(plan, place.root, flags['yes'] === true)
    if (!chosen) {
      process.stderr.write('tiller: nothing was changed\n')
      return 1
    }
    const { done, left } = await carryOutPlan(of, plan, chosen, (fact) => void log.append([fact]), signal)
    process.stdout.write(`${done.length} put back${left.length > 0 ? `, ${left.length} left as they are` : ''}. tiller undo --redo takes it back.\n`)
    return 0
  } finally {
    log.close()
  }
}

/** The paths that needed a yes and got one; null: no at all. With `--yes` only what is certain. */
async function agreed(plan: UndoPlan, root: string, yes: boolean): Promise<Set<string> | null> {
  if (yes) return new Set()
  if (!process.stdin.isTTY) throw new UsageError('undo: nobody can be asked here: say --yes, or --dry-run to only look')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const ask = async (question: string): Promise<boolean> => /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  try {
    if (plan.entries.some(({ verdict }) => verdict === 'yes') && !(await ask('Put these back?'))) return null
    const chosen = new Set<string>()
    for (const { path, verdict, why } of plan.entries) if (verdict === 'ask' && (await ask(`${relative(root, path)}: ${why}. Put it back, too?`))) chosen.add(path)
    return chosen
  } finally {
    lines.close()
  }
}
