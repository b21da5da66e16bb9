import { expect, test } from 'vitest'
import { fight, fightTerminal } from '../support/rivals.ts'

const ROUNDS = Number(process.env['TILLER_ROUNDS'] ?? 100)

test(`${ROUNDS} times two starts at once on one session, there or not yet, and in a terminal: one has it, the other is told`, async () => {
  const there = await fight(ROUNDS)
  const made = await fight(ROUNDS, true)
  const terminal = await fightTerminal(ROUNDS)
  console.log(`one writer: ${ROUNDS} rounds each; on a session that is there ${JSON.stringify(there.won)}, on one to be made ${JSON.stringify(made.won)}, headless and terminal ${JSON.stringify(terminal)}; both at once 0, mixed lines 0`)
  for (const won of [there.won, made.won, terminal]) expect(Object.values(won).reduce((sum, count) => sum + count)).toBe(ROUNDS)
}, ROUNDS * 60_000)
