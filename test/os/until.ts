import { setTimeout as wait } from 'node:timers/promises'

/** Waits for what must become true; a test that waits for a time instead fails on a slow machine. */
export async function until(isTrue: () => boolean | Promise<boolean>, what = 'what was waited for', ms = 20_000): Promise<void> {
  const deadline = performance.now() + ms
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`${what} did not happen within ${ms} ms`)
    await wait(20)
  }
}
