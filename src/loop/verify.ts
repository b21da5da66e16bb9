import type { FactOf, RecordOf } from '../core/record.ts'
import { stepSignal, type Outcome, type Work } from './work.ts'

export type Verdict = (Outcome & { status: 'done' | 'verified' | 'unverified' }) | { again: string } | { stopped: true } | { /** A text cut in. */ cut: true }

/**
 * Done is checked, not claimed: where a run has changed something and checks are configured, they run now. A failing one goes
 * back to the model until the attempts are used up.
 */
export async function verify(work: Work, attempt: number, force = false): Promise<Verdict> {
  const { deps, ledger } = work
  const changed = ledger.state.live.run?.changed ?? null
  if (deps.checks.length === 0) return { status: 'done', reason: changed === null ? 'the model finished' : 'the model finished; no check is configured' }
  const unchanged: Verdict = { status: 'done', reason: 'the model finished; nothing was changed' }
  if (!force && changed === null) return unchanged
  const before = ledger.state.live.run?.checkpoint?.tree ?? null
  const tree = await treeNow(work)
  if (work.stop.signal.aborted) return { stopped: true }
  if (!force && tree !== null && tree === before) return unchanged
  const verified: Verdict = { status: 'verified', reason: `${deps.checks.join(', ')} passed after the last change`, ...(tree === null ? {} : { tree }) }
  const earlier = checksOf(work)
  if (!force && tree !== null && deps.checks.every((command) => earlier.some((check) => check.command === command && check.exit === 0 && check.tree === tree))) return verified
  const failed: FactOf<'check'>[] = []
  for (const command of deps.checks) {
    if (work.cut.signal.aborted) return { cut: true }
    const check = await runCheck(work, command, attempt, tree)
    if (work.stop.signal.aborted) return { stopped: true }
    if (work.cut.signal.aborted) return { cut: true }
    if (check.exit !== 0) failed.push(check)
  }
  if (failed.length === 0) return verified
  const names = failed.map((check) => `${check.command} (exit ${check.exit ?? 'none'})`).join(', ')
  if (attempt >= deps.checkAttempts) return { status: 'unverified', reason: `${names} still fails after ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}`, ...(tree === null ? {} : { tree }) }
  return { again: failed.map((check) => toldOf(check, earlier)).join('\n\n') }
}

/** The state of the files that the checks are about to judge; null: it is not known. */
async function treeNow({ deps, ledger, run, stop }: Work): Promise<string | null> {
  const why = 'before the checks'
  const { tree, note } = await deps.host.checkpoint(why, stop.signal)
  ledger.hold({ type: 'checkpoint', run, why, tree, ...(note ? { note } : {}) })
  return tree
}

const checksOf = ({ ledger, run }: Work): RecordOf<'check'>[] => ledger.recent.filter((record) => record.type === 'check' && record.run === run) as RecordOf<'check'>[]

function toldOf({ command, exit, text }: FactOf<'check'>, earlier: readonly RecordOf<'check'>[]): string {
  const before = earlier.findLast((check) => check.command === command)
  const again = before && before.exit === exit && before.text === text ? ' in exactly the same way as before: what was changed in between did not touch the cause' : ''
  return `The check \`${command}\` failed with exit ${exit ?? 'none'}${again}:\n\n${text ?? ''}`
}

async function runCheck(work: Work, command: string, attempt: number, tree: string | null): Promise<FactOf<'check'>> {
  const { deps, ledger, run } = work
  const shell = deps.tools.find((tool) => tool.name === 'shell')
  const begun = deps.host.now()
  const record = (exit: number | null, text: string, output?: FactOf<'check'>['output']): FactOf<'check'> => {
    const check: FactOf<'check'> = { type: 'check', run, command, exit, attempt, text: deps.redact(text), ms: deps.host.now() - begun, tree, ...(output ? { output } : {}) }
    ledger.append(check)
    return check
  }
  if (!shell) return record(null, 'There is no shell tool to run it with.')
  const signal = stepSignal(work)
  const here = { call: `check-${deps.host.id()}`, root: deps.policy.root, cwd: deps.cwd, seen: () => undefined, images: false, signal }
  try {
    const prepared = await shell.prepare({ command }, here)
    if ('refused' in prepared) return record(null, prepared.refused)
    const output = await prepared.run(
      signal,
      { output: (text) => ledger.emit({ type: 'output', run, call: here.call, text }), spawned: (process) => void ledger.append({ type: 'spawn', run, call: here.call, ...process }) },
      { sandbox: false },
    )
    return record(output.exit ?? null, output.text, output.output)
  } catch (error) {
    return record(null, error instanceof Error ? error.message : String(error))
  }
}
