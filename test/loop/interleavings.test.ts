import { test } from 'vitest'
import { tryInterleavings } from '../support/interleave-check.ts'

test('steer, cancel, approve, compact, check, leave and finish against each other at every point: no text is lost or delivered twice, no call is without its one result', { timeout: 120_000 }, async () => {
  console.log(await tryInterleavings(250))
})
