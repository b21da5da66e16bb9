import { setImmediate as breathe } from 'node:timers/promises'

/** For work that is long: asked between its pieces, it lets others run when this has had its few milliseconds. A key waits no longer than that. */
export function turns(ms = 4): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < ms) return
    await breathe()
    since = performance.now()
  }
}
