import { createInterface } from 'node:readline/promises'
import { dirname, join, relative } from 'node:path'
import { checkpoints } from '../../session/checkpoint.ts'
import { openBlobs } from '../../session/blob.ts'
import { blobsOf } from '../../session/companion.ts'
import { isPossible, type UndoPlan } from '../../session/undo.ts'
import { existingSession, fileOf, newestHere } from '../open-session.ts'
import { UsageError, type Options } from '../options.ts'
import { carryOutPlan, certain, describePlan, diffOfPlan, planLast, planLastRedo, type ToUndo } from '../undo-runs.ts'
import { surroundings } from './surroundings.ts'

/** `tiller undo [id]`: shows what it would do, asks, does it, and can be undone itself with `--redo`. */
export async function undo(options: Options, id: string | undefined, flags: Record<string, unknown>): Promise<number> {
  const { place, folder } = await surroundings(options)
  const log = id === undefined ? newestHere(place, folder) : existingSession(await fileOf(id, folder))
  const root = log.session?.root ?? place.root
  const of: ToUndo = { log, root, checkpoints: checkpoints({ dir: join(dirname(log.file), 'checkpoints'), root }), blobs: openBlobs(blobsOf(log.file)) }
  const { signal } = new AbortController()
  try {
    const redo = flags['redo'] === true
    const plan = await (redo ? planLastRedo(of, signal) : planLast(of, signal))
    if (!plan) {
      process.stderr.write('tiller: there is nothing to put back\n')
      return 1
    }
    if (flags['diff'] === true) {
      process.stdout.write(await diffOfPlan(of, plan))
      return 0
    }
    process.stdout.write(`${describePlan(of, plan)}\n`)
    if (flags['dryRun'] === true) return 0
    const chosen = await agreed(plan, of.root, flags['yes'] === true)
    if (!chosen) {
      process.stderr.write('tiller: nothing was changed\n')
      return 1
    }
    const { done, left } = await carryOutPlan(of, plan, chosen, (fact) => void log.append([fact]), signal)
    const failed = left.filter(({ entry }) => chosen.has(entry.path))
    for (const { entry, why } of failed) process.stderr.write(`tiller: ${relative(of.root, entry.path)} was left as it is: ${why}\n`)
    process.stdout.write(`${done.length} put back${left.length > 0 ? `, ${left.length} left as they are` : ''}.${redo || done.length === 0 ? '' : ' tiller undo --redo takes it back.'}\n`)
    return failed.length > 0 ? 1 : 0
  } finally {
    log.close()
  }
}

/** The paths to be put back; null: none of them, after all. With `--yes` what is certain. */
async function agreed(plan: UndoPlan, root: string, yes: boolean): Promise<Set<string> | null> {
  const chosen = certain(plan)
  if (yes) return chosen
  if (!process.stdin.isTTY) throw new UsageError('undo: nobody can be asked here: say --yes, or --dry-run to only look')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const ask = async (question: string): Promise<boolean> => /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  try {
    if (chosen.size > 0 && !(await ask(chosen.size === 1 ? 'Put it back?' : `Put these ${chosen.size} back?`))) return null
    for (const entry of plan.entries) {
      if (entry.verdict !== 'yes' && isPossible(entry) && (await ask(`${relative(root, entry.path)}: ${entry.why}. Put it back${chosen.size > 0 ? ', too' : ''}?`))) chosen.add(entry.path)
    }
    return chosen.size > 0 ? chosen : null
  } finally {
    lines.close()
  }
}
