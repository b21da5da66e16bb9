import { compact, windowOf } from './compact.ts'
import { verify } from './verify.ts'
import { stepSignal, type Work } from './work.ts'

// What a person can ask for where no run is active. Each gives a sentence about why it was not done, or null.

const NOTHING = 'There is nothing to compact yet.'

export async function compactNow(work: Work, about: string | undefined): Promise<string | null> {
  const { deps, ledger: { state, path } } = work
  const id = state.model ?? deps.defaults.model
  if (!id || !path.some((record) => record.type === 'reply')) return NOTHING
  const model = await deps.model(id)
  // Who asks for it wants it now: of a short session, too, most gives way.
  const keepTokens = Math.min(deps.compaction.keepTokens, state.live.contextTokens) / 4
  const signal = stepSignal(work)
  const left = await compact(work, model, { keepTokens, window: windowOf(work, model), signal, about })
  if (!left) return null
  if (signal.aborted) return 'Compaction was interrupted; nothing was changed.'
  return left.why === null ? NOTHING : `Nothing was compacted and nothing was changed: ${left.why}`
}

export async function checkNow(work: Work): Promise<string | null> {
  const { deps, ledger, run } = work
  if (deps.checks.length === 0) return 'No check is configured. Name one in .agentrc ("checks": ["npm test"]) or with --check.'
  const verdict = await verify(work, deps.checkAttempts, true)
  ledger.append({ type: 'outcome', run, ...('status' in verdict ? verdict : { status: 'interrupted', reason: 'stopped during a check' }) })
  return null
}
