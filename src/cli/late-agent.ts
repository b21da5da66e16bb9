import { emptyState, type State } from '../core/state.ts'
import type { Agent } from '../loop/agent.ts'

/** The agent of a session that is still being read. Until it is there nothing runs, and what is sent to it waits. Who opens it says what went wrong. */
export function lateAgent(opening: () => Promise<Agent>): Agent & { open(): Promise<void>; ready(): Promise<unknown> } {
  const nothing: State = emptyState()
  let agent: Agent | null = null
  let left: string | null = null
  const later: ((agent: Agent) => void)[] = []
  const then = (act: (agent: Agent) => void): void => void (agent ? act(agent) : later.push(act))
  return {
    async open() {
      agent = await opening()
      if (left !== null) void agent.stop(left)
      for (const act of later.splice(0)) act(agent)
    },
    ready: () => new Promise<Agent>(then),
    get state() {
      return agent?.state ?? nothing
    },
    send: (command) => then((opened) => opened.send(command)),
    subscribe: (listener) => {
      let stop: (() => void) | null = () => undefined
      then((opened) => {
        if (stop) stop = opened.subscribe(listener)
      })
      return () => {
        stop?.()
        stop = null
      }
    },
    active: () => agent?.active() ?? null,
    idle: () => agent?.idle() ?? Promise.resolve(),
    nobody: () => then((opened) => opened.nobody()),
    // Nobody waits for a large session to be read, only to leave it.
    stop: (reason) => {
      left = reason
      return agent?.stop(reason) ?? Promise.resolve()
    },
    abandon: (reason) => agent?.abandon(reason),
    apart: async (what, task) => (agent ?? (await new Promise<Agent>(then))).apart(what, task),
    note: (fact) => then((opened) => opened.note(fact)),
  }
}
