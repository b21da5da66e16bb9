import { circle, usedUp } from '../core/limits.ts'
import { settle } from './call.ts'
import { modelOf } from './model-of.ts'
import { pause } from './pause.ts'
import { askModel } from './retry.ts'
import { interrupted, tell, type Outcome, type Work } from './work.ts'

/** Null: there is room for another request, or the person made some. */
export async function atLimit(work: Work): Promise<Outcome | null> {
  const used = usedUp(work.ledger.state, work.deps.limits, work.deps.host.now())
  if (!used) return null
  const begun = work.ledger.state.live.run !== null
  const choice = await pause(work, { why: 'limit', text: used.text, choices: begun ? ['raise', 'summarise', 'stop'] : ['raise', 'stop'], reached: used.reached })
  // Another one may be reached as well.
  if (choice === 'raise') return atLimit(work)
  if (choice === 'summarise') await summarise(work, used.text)
  return interrupted(work) ?? { status: 'limit', reason: used.text }
}

/** One last reply that calls nothing. */
async function summarise(work: Work, reached: string): Promise<void> {
  tell(work, `Stop here: ${reached}. Call no more tools. Say in a few sentences what was done, what was found out, and what is open.`)
  const model = await modelOf(work)
  if ('fault' in model || interrupted(work)) return
  const reply = await askModel(work, model)
  for (const part of reply.parts) if (part.type === 'call' && reply.stop !== 'interrupted' && reply.stop !== 'error') settle(work, part.id, 'rejected', `Not run: ${reached}.`)
}

/** The model is told what repeats; when it goes on all the same, the person is asked. */
export async function goingRound(work: Work): Promise<Outcome | null> {
  const round = circle(work.ledger.recent, work.run, work.deps.limits)
  if (!round) return null
  if (!round.stop) {
    tell(work, `You have now repeated ${round.what} ${round.times} times in a row. Repeating it will not help: look at why, and do something else, or say what stands in the way.`)
    return null
  }
  const text = `going in circles: ${round.what}, ${round.times} times in a row`
  const choice = await pause(work, { why: 'circle', text, choices: ['go-on', 'stop'] })
  if (choice === 'go-on') return null
  return interrupted(work) ?? { status: 'limit', reason: text }
}
