/** No timer takes more than 24 days. */
const LONGEST_TIMER_MS = 60_000

/** Resolves after `ms` or at once when aborted. By the clock, in pieces: a computer that slept has waited as well. */
export const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const until = Date.now() + ms
    let timer: NodeJS.Timeout | undefined
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const next = (): void => {
      const left = Math.min(ms, until - Date.now())
      if (left <= 0 || signal.aborted) return end()
      timer = setTimeout(next, Math.min(left, LONGEST_TIMER_MS))
    }
    signal.addEventListener('abort', end)
    next()
  })
