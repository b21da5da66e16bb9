import { expect, it } from 'vitest'
import { crashRound } from '../support/crash-rounds.ts'
import { randomFrom } from '../support/random.ts'

const ROUNDS = Number(process.env['TILLER_ROUNDS'] ?? 300)

it(`kill -9 at ${ROUNDS} random points of a busy run: nothing shown is lost, nothing false is told`, { timeout: ROUNDS * 30_000 }, async () => {
  const seed = Number(process.env['TILLER_SEED'] ?? Date.now() % 1_000_000)
  const blows: Record<string, number> = {}
  const lasts: Record<string, number> = {}
  const failures: string[] = []
  const sum = { kills: 0, acknowledged: 0, compactions: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    try {
      const crash = await crashRound(randomFrom(seed + round), 12_000)
      for (const key of ['kills', 'acknowledged', 'compactions'] as const) sum[key] += crash[key]
      blows[crash.blow] = (blows[crash.blow] ?? 0) + 1
      lasts[crash.last] = (lasts[crash.last] ?? 0) + 1
    } catch (error) {
      failures.push(`seed ${seed + round}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  console.log(`crash rig, seed ${seed}: ${ROUNDS} rounds, ${sum.kills} kills, ${sum.acknowledged} records acknowledged, ${sum.compactions} compactions, ${failures.length} rounds with something lost, false, invalid or left alive
  where: ${JSON.stringify(blows)}
  last record: ${JSON.stringify(lasts)}`)
  expect(failures).toEqual([])
  if (ROUNDS >= 50) expect(Object.keys(lasts).length).toBeGreaterThan(6)
})
