import { expect, it } from 'vitest'
import { crashRound, randomFrom } from '../support/crash-rounds.ts'

const ROUNDS = Number(process.env['TILLER_ROUNDS'] ?? 200)

it(`kill -9 at ${ROUNDS} random points of a busy run: nothing shown is lost, nothing false is told`, { timeout: ROUNDS * 20_000 }, async () => {
  const seed = Number(process.env['TILLER_SEED'] ?? Date.now() % 1_000_000)
  const random = randomFrom(seed)
  const points: Record<string, number> = {}
  for (let round = 0; round < ROUNDS; round++) {
    const where = await crashRound(random)
    points[where] = (points[where] ?? 0) + 1
  }
  console.log(`headless crash rig, seed ${seed}: ${ROUNDS} rounds, last record before the blow: ${JSON.stringify(points)}`)
  expect(Object.keys(points).length).toBeGreaterThan(3)
})
