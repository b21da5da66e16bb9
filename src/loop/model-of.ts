import { ModelError, type Model } from '../core/ports.ts'
import type { Fault } from '../core/record.ts'
import { orAborted } from './until-aborted.ts'
import type { Work } from './work.ts'

/** Its name; null: none is set. */
export const askedNext = (work: Work): string | null => work.fallback ?? work.ledger.state.model ?? work.deps.defaults.model

/** The model that this run asks next: the one that is set, or the one it fell back to. */
export async function modelOf(work: Work): Promise<Model | { fault: Fault }> {
  const id = askedNext(work)
  if (!id) return { fault: { kind: 'not-found', message: 'No model is set. Name one with /model or --model, or see tiller models.' } }
  try {
    // What it takes to get a key may wait for a person elsewhere.
    const model = await orAborted(work.deps.model(id), work.stop.signal)
    if (!model) return { fault: { kind: 'network', message: 'interrupted' } }
    work.images = model.limits.images
    return model
  } catch (error) {
    if (error instanceof ModelError) return { fault: error.fault }
    return { fault: { kind: 'bad-request', message: error instanceof Error ? error.message : String(error) } }
  }
}
