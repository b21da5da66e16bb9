import type { FactOf } from '../core/record.ts'
import type { Ledger } from './ledger.ts'

/** Gives an open run its end without waiting for what runs. False: none is open. */
export function closeRun(ledger: Ledger, status: 'interrupted' | 'failed', reason: string): boolean {
  // A reply that is held counts: its calls need a result, too.
  ledger.append()
  const open = ledger.state.live.run
  if (!open) return false
  const results = [...open.calls].map(([call, { started }]): FactOf<'result'> =>
    started
      ? { type: 'result', run: open.id, call, status: 'unknown', text: `What became of it is not known (${reason}).` }
      : { type: 'result', run: open.id, call, status: 'skipped', text: `Not run (${reason}).` })
  ledger.append(...results, { type: 'outcome', run: open.id, status, reason })
  return true
}
