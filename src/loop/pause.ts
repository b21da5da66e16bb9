import type { Choice, FactOf } from '../core/record.ts'
import type { Work } from './work.ts'

/** A run that waits for the person to say how it goes on. */
export interface Pause {
  why: FactOf<'pause'>['why']
  choices: readonly Choice[]
  choose(choice: Choice, by: FactOf<'choice'>['by']): void
}

/** Asks the person how the run goes on, and records both. Null: nobody is there to say, or the run was stopped meanwhile. */
export async function pause(work: Work, question: Omit<FactOf<'pause'>, 'type' | 'run'>): Promise<Choice | null> {
  const { deps, ledger, run } = work
  if (!deps.canPause()) return null
  ledger.append({ type: 'pause', run, ...question })
  const said = await waitFor(work, question)
  if (!said) return null
  ledger.append({ type: 'choice', run, ...said, ...(said.choice === 'raise' && question.reached ? { reached: question.reached } : {}) })
  // A text that cut in had nothing to cut.
  if (work.cut.signal.aborted) work.cut = new AbortController()
  return said.choice
}

function waitFor(work: Work, { why, choices }: Pick<Pause, 'why' | 'choices'>): Promise<Pick<FactOf<'choice'>, 'choice' | 'by'> | null> {
  const { signal } = work.stop
  return new Promise((resolve) => {
    const end = (said: Pick<FactOf<'choice'>, 'choice' | 'by'> | null): void => {
      work.pause = null
      signal.removeEventListener('abort', cancel)
      resolve(said)
    }
    const cancel = (): void => end(null)
    if (signal.aborted) return end(null)
    signal.addEventListener('abort', cancel)
    work.pause = { why, choices, choose: (choice, by) => end({ choice, by }) }
  })
}
