import type { Decision } from '../core/policy.ts'
import type { Prepared } from '../core/ports.ts'
import type { Preview } from '../core/record.ts'
import { stepSignal, type AgentDeps, type Answer, type Work } from './work.ts'

/**
 * Asks the person and records the answer. Null: cancelled while it was open, which is no yes.
 * Nobody there means no, and the run ends as needs-user.
 */
export async function askPerson(work: Work, call: string, prepared: Prepared, decision: Decision): Promise<Answer | null> {
  const { ledger, deps, run } = work
  const signal = stepSignal(work)
  ledger.append({ type: 'ask', run, call, accesses: prepared.accesses, because: decision.because, ...(prepared.preview ? { preview: withoutSecrets(prepared.preview, deps.redact) } : {}), ...(decision.suggest.length > 0 ? { lasting: decision.suggest } : {}) })
  const answer = deps.canAsk() ? await waitFor(work, call, signal) : ({ verdict: 'deny', by: 'nobody' } satisfies Answer)
  if (!answer) return null
  const lasting = answer.verdict === 'allow' && answer.grant && answer.grant !== 'once' && decision.suggest.length > 0 ? { scope: answer.grant, rules: decision.suggest } : undefined
  ledger.hold({
    type: 'answer', run, call, verdict: answer.verdict, by: answer.by,
    ...(answer.reason ? { reason: answer.reason } : {}), ...(lasting ? { grant: lasting } : {}),
  })
  if (answer.verdict === 'deny' || lasting) ledger.append()
  if (lasting && lasting.scope !== 'session') {
    // It holds for this session in any case.
    await deps.saveGrant(lasting.scope, lasting.rules).catch((error: unknown) => ledger.emit({ type: 'error', message: error instanceof Error ? error.message : String(error), run, active: run }))
  }
  return answer
}

/** Of what stands in files. A command is shown to the letter: it is what will run. */
function withoutSecrets(preview: Preview, redact: AgentDeps['redact']): Preview {
  switch (preview.kind) {
    case 'diff':
      return { ...preview, diff: redact(preview.diff) }
    case 'text':
      return { ...preview, text: redact(preview.text) }
    case 'command':
      return preview
  }
}

function waitFor(work: Work, call: string, signal: AbortSignal): Promise<Answer | null> {
  return new Promise((resolve) => {
    const end = (answer: Answer | null): void => {
      work.questions.delete(call)
      signal.removeEventListener('abort', cancel)
      resolve(answer)
    }
    const cancel = (): void => end(null)
    if (signal.aborted) return end(null)
    signal.addEventListener('abort', cancel)
    work.questions.set(call, end)
  })
}
