import type { Agent } from '../loop/agent.ts'

const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
type Signal = keyof typeof CODES

/**
 * The first signal ends what runs, recorded, and then the process; a second one leaves at once, still recorded.
 * `leave` ends every process that is left and exits. Returns the exit code of a signal that came: the end of the run, which
 * it brings about, must not end the program with another one.
 */
export function endOnSignals(agent: () => Agent | null, leave: (code: number) => void, signals: readonly Signal[] = ['SIGINT', 'SIGTERM', 'SIGHUP']): () => number | null {
  let received: number | null = null
  for (const signal of signals) {
    process.on(signal, () => {
      const running = agent()
      const code = CODES[signal]
      if (!running) return leave(code)
      const isFirst = received === null
      received ??= code
      if (!isFirst) {
        try {
          running.abandon(`a second signal, ${signal}`)
        } catch {
          // A log that cannot be written does not keep anybody here.
        }
        return leave(code)
      }
      // As the interrupt command does: what waits goes back to who typed it, and is not run when the session goes on.
      if (signal === 'SIGINT' && running.active() !== null) running.send({ type: 'interrupt' })
      void running.stop(signal === 'SIGINT' ? 'interrupted by the user' : `ended by ${signal}`).finally(() => leave(code))
    })
  }
  return () => received
}
