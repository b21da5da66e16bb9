import { dirname, join } from 'node:path'
import type { Agent } from '../loop/agent.ts'
import { isDue, pruneCheckpoints } from '../session/checkpoint-prune.ts'
import { sessionEntry } from '../session/list.ts'
import type { SessionFault } from '../session/fault.ts'
import { removeSession } from '../session/store.ts'

/** So long nothing must have been done. */
const QUIET_MS = 2 * 60_000

/** Once a day, while nobody does anything, states of the files that no session needs any more are dropped; whatever begins then ends it. Returns how to stop. */
export function tidyWhenQuiet(agent: Agent, place: { dir: string; root: string }, quietMs = QUIET_MS): () => void {
  let timer: NodeJS.Timeout | undefined
  let tidying: AbortController | undefined
  const wait = (): void => {
    tidying?.abort()
    clearTimeout(timer)
    timer = setTimeout(begin, quietMs).unref()
  }
  const begin = (): void => {
    if (agent.active() !== null || !isDue(place, Date.now())) return wait()
    tidying = new AbortController()
    // What could not be dropped now is dropped another time.
    void pruneCheckpoints(place, { now: Date.now(), signal: tidying.signal }).catch(() => null)
  }
  const unsubscribe = agent.subscribe(wait)
  wait()
  return () => {
    unsubscribe()
    clearTimeout(timer)
    tidying?.abort()
  }
}

/** Removes sessions, up to the first that cannot be. `tidied`: the states of files that no other session needs are gone, too. */
export function removeSessions(files: readonly string[], signal: AbortSignal): { fault: SessionFault | null; tidied: Promise<void> } {
  const places = new Map<string, { dir: string; root: string }>()
  let fault: SessionFault | null = null
  for (const file of files) {
    const { root } = sessionEntry(file)
    fault = removeSession(file, Date.now())
    if (fault) break
    const dir = join(dirname(file), 'checkpoints')
    places.set(`${dir}\0${root}`, { dir, root })
  }
  const tidy = async (): Promise<void> => {
    for (const place of places.values()) await pruneCheckpoints(place, { now: Date.now(), signal, force: true }).catch(() => null)
  }
  return { fault, tidied: tidy() }
}
