import type { ModelLimits } from './ports.ts'
import type { Usage } from './record.ts'

/** US dollars; null: the price is unknown, which is not zero. */
export function costOf(usage: Usage, price: ModelLimits['price']): number | null {
  if (!price) return null
  const cached = (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
  const fresh = Math.max(0, usage.input - cached)
  const rates = price.above && usage.input > price.above.tokens ? price.above : price
  return (fresh * rates.input + (usage.cacheRead ?? 0) * rates.cacheRead + (usage.cacheWrite ?? 0) * rates.cacheWrite + usage.output * rates.output) / 1_000_000
}
