import { setTimeout as wait } from 'node:timers/promises'
import { family, isAlive, send, type Family, type ProcessEntry } from './process-table.ts'

export interface EndedFamily {
  killed: ProcessEntry[]
  /** Still there after KILL: of another user, or stuck in the kernel. */
  alive: ProcessEntry[]
}

/** How long KILL is repeated for those that were started meanwhile. */
const KILL_MS = 700

/** TERM to all of a family, KILL to what is left after the grace, again and again until nothing new turns up. */
export async function endFamily(of: Family, graceMs: number): Promise<EndedFamily> {
  const seen = new Map<string, ProcessEntry>()
  const look = async (): Promise<ProcessEntry[]> => {
    const found = await family(of)
    for (const entry of found) seen.set(`${entry.pid} ${entry.started}`, entry)
    return found
  }
  signalAll(of, await look(), 'SIGTERM')
  const left = (await untilGone(() => [...seen.values()], look, graceMs)) ? [] : await killAll(of, look)
  const living = new Set(left.map((entry) => `${entry.pid} ${entry.started}`))
  return { killed: [...seen].filter(([key]) => !living.has(key)).map(([, entry]) => entry), alive: left }
}

/** Looks at those it knows, and for new ones only when these are gone: a look at the whole machine costs milliseconds. */
async function untilGone(known: () => ProcessEntry[], look: () => Promise<ProcessEntry[]>, graceMs: number): Promise<boolean> {
  const until = performance.now() + graceMs
  for (let pause = 5; performance.now() < until; pause = Math.min(100, pause * 1.3)) {
    await wait(Math.min(pause, Math.max(0, until - performance.now())))
    if (!known().some(isAlive) && (await look()).length === 0) return true
  }
  return false
}

async function killAll(of: Family, look: () => Promise<ProcessEntry[]>): Promise<ProcessEntry[]> {
  const until = performance.now() + KILL_MS
  for (let left = await look(); ; left = await look()) {
    if (left.length === 0 || performance.now() > until) return left
    signalAll(of, left, 'SIGKILL')
    await wait(10)
  }
}

function signalAll(of: Family, members: readonly ProcessEntry[], signal: 'SIGTERM' | 'SIGKILL'): void {
  // Only while it has a member: the number of an empty group may be somebody else's by now.
  if (members.some((entry) => entry.group === of.leader)) send(-of.leader, signal)
  for (const entry of members) {
    if (entry.group !== of.leader) send(entry.pid, signal)
    if (signal === 'SIGTERM') send(entry.pid, 'SIGCONT') // a stopped process takes no TERM
  }
}
