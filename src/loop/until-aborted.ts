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

/** The same for one value: null where the signal came first. */
export async function orAborted<T>(value: Promise<T>, signal: AbortSignal): Promise<T | null> {
  // What comes of it later is nobody's any more.
  value.catch(() => undefined)
  if (signal.aborted) return null
  const over = new AbortController()
  const aborted = new Promise<null>((resolve) => {
    signal.addEventListener('abort', () => resolve(null), { once: true, signal: over.signal })
  })
  try {
    return await Promise.race([value, aborted])
  } finally {
    over.abort()
  }
}
