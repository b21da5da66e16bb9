import type { FactOf } from '../core/record.ts'
import type { Work } from './work.ts'

export type Verdict = { status: 'done' | 'verified' | 'unverified'; reason: string } | { again: string } | { stopped: true }

/**
 * Done is checked, not claimed: where a run has changed something and checks are configured, they run now. A failing one goes
 * back to the model until the attempts are used up.
 */
export async function verify(work: Work, attempt: number, force = false): Promise<Verdict> {
  const { deps, ledger } = work
  const changed = ledger.state.live.run?.changed ?? null
  if (deps.checks.length === 0) return { status: 'done', reason: changed === null ? 'the model finished' : 'the model finished; no check is configured' }
  if (!force && (changed === null || (await sameTree(work)))) return { status: 'done', reason: 'the model finished; nothing was changed' }
  const failed: FactOf<'check'>[] = []
  for (const command of deps.checks) {
    const check = await runCheck(work, command, attempt)
    if (work.stop.signal.aborted) return { stopped: true }
    if (check.exit !== 0) failed.push(check)
  }
  if (failed.length === 0) return { status: 'verified', reason: `${deps.checks.join(', ')} passed after the last change` }
  const names = failed.map((check) => `${check.command} (exit ${check.exit ?? 'none'})`).join(', ')
  if (attempt >= deps.checkAttempts) return { status: 'unverified', reason: `${names} still fails after ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}` }
  return { again: failed.map((check) => `The check \`${check.command}\` failed with exit ${check.exit ?? 'none'}:\n\n${check.text ?? ''}`).join('\n\n') }
}

/** Whether the work tree is, after all, as it was before the run's first change. */
async function sameTree(work: Work): Promise<boolean> {
  const before = work.ledger.state.live.run?.checkpoint?.tree
  if (!before) return false
  const { tree, note } = await work.deps.host.checkpoint('at the end', work.stop.signal)
  work.ledger.hold({ type: 'checkpoint', run: work.run, why: 'at the end', tree, ...(note ? { note } : {}) })
  return tree === before
}

async function runCheck(work: Work, command: string, attempt: number): Promise<FactOf<'check'>> {
  const { deps, ledger, run } = work
  const shell = deps.tools.find((tool) => tool.name === 'shell')
  const begun = deps.host.now()
  const record = (exit: number | null, text: string, output?: FactOf<'check'>['output']): FactOf<'check'> => {
    const check: FactOf<'check'> = { type: 'check', run, command, exit, attempt, text: deps.redact(text), ms: deps.host.now() - begun, ...(output ? { output } : {}) }
    ledger.append(check)
    return check
  }
  if (!shell) return record(null, 'There is no shell tool to run it with.')
  const here = { call: `check-${deps.host.id()}`, root: deps.policy.root, cwd: deps.cwd, seen: () => undefined, images: false, signal: work.stop.signal }
  try {
    const prepared = await shell.prepare({ command }, here)
    if ('refused' in prepared) return record(null, prepared.refused)
    const output = await prepared.run(
      work.stop.signal,
      { output: (text) => ledger.emit({ type: 'output', run, call: here.call, text }), spawned: (process) => void ledger.append({ type: 'spawn', run, call: here.call, ...process }) },
      { sandbox: false },
    )
    return record(output.exit ?? null, output.text, output.output)
  } catch (error) {
    return record(null, error instanceof Error ? error.message : String(error))
  }
}
