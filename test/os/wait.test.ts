import { expect, test } from 'vitest'
import { wait } from '../../src/os/wait.ts'

const soon = (): Promise<string> => new Promise((resolve) => setTimeout(resolve, 30, 'soon'))

test('a wait is as long as it is asked to be, and ends at once with its signal', async () => {
  const begun = performance.now()
  await wait(20, new AbortController().signal)
  expect(performance.now() - begun).toBeGreaterThan(18)
  const stop = new AbortController()
  const long = wait(60_000, stop.signal)
  stop.abort()
  await long
  await wait(60_000, stop.signal)
  expect(performance.now() - begun).toBeLessThan(20_000)
})

test('a wait of more than 24 days is no wait of one millisecond', async () => {
  const stop = new AbortController()
  const long = wait(99_999_999_000, stop.signal).then(() => 'over')
  expect(await Promise.race([long, soon()])).toBe('soon')
  stop.abort()
  await long
})
