/** A stream that does not heed its signal is left behind: the person does not wait for it. */
export async function* untilAborted<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  if (signal.aborted) return
  const iterator = stream[Symbol.asyncIterator]()
  const aborted = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => resolve(null), { once: true })
  })
  for (;;) {
    const next = iterator.next()
    const result = await Promise.race([next, aborted])
    if (result === null) {
      next.catch(() => undefined)
      iterator.return?.()?.catch?.(() => undefined)
      return
    }
    if (result.done) return
    yield result.value
  }
}
