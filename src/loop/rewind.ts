import { missingOnTheWay } from '../core/tree.ts'
import type { Ledger } from './ledger.ts'

/** Why there is no going back to this record; null: there is. With `anyway` what cannot be read on the way there is put up with. */
export function whyNotBack(reached: ReturnType<Ledger['reach']>, to: number, anyway: boolean): string | null {
  const missing = missingOnTheWay(reached, to)
  if (!missing) return `There is no record ${to} that could be read, so there is no going back to it.`
  const [gap] = missing
  if (!gap || anyway) return null
  const which = gap[0] === gap[1] ? `record ${gap[0]}` : `records ${gap[0]} to ${gap[1]}`
  return `On the way to record ${to}, ${which} cannot be read, and what was said there would be missing. Nothing was changed. Rewind to a record before that, or say "anyway": true.`
}
