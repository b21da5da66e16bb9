import { test } from 'vitest'
import { tryInterleavings } from '../support/interleave-check.ts'

const RUNS = Number(process.env['TILLER_ROUNDS'] ?? 20_000)

test(`${RUNS} orders of everything that waits, with a person who steers, cancels, approves and leaves: no text is lost, no call is without its one result`, { timeout: RUNS * 200 }, async () => {
  console.log(await tryInterleavings(RUNS))
})
