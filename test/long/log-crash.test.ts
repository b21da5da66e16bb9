import { expect, test } from 'vitest'
import { crashRounds } from '../session/crash.ts'

test('200 times kill -9: nothing that was acknowledged is missing', async () => {
  const { acknowledged, lost, torn, misread } = await crashRounds(200)
  console.log(`log: 200 kills, ${acknowledged} records acknowledged, ${lost.length} lost, ${torn} torn lines`)
  expect(lost).toEqual([])
  expect(misread).toEqual([])
}, 3_000_000)
