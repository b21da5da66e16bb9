import { flushCompileCache } from 'node:module'
import type { Tool } from '../core/ports.ts'
import { declareInput } from '../core/tool-input.ts'
import type { Agent } from '../loop/agent.ts'
import type { Models } from '../model/registry.ts'
import { startReaper } from '../os/reaper.ts'
import { preparePipes } from '../os/pipes.ts'
import { loadShellGrammar } from '../os/shell-grammar.ts'
import type { Checkpoints } from '../session/checkpoint.ts'

/** After the first frame, and before most people have written a prompt. */
const IDLE_MS = 400
/** A model that answers this quickly is not to be held up. */
const WAITING_MS = 150

/** While the person writes: what the first request needs. What is found wrong is said when it is asked for in earnest. */
export function warmForRequest(models: Models, model: string | null, tools: readonly Tool[]): void {
  setTimeout(() => {
    for (const { input } of tools) declareInput(input)
    const loaded = model === null ? Promise.resolve() : models.warm(model)
    // What a start needs is compiled by now: the next one finds it so, however this one ends.
    void loaded.catch(() => undefined).then(() => setTimeout(flushCompileCache, IDLE_MS).unref())
  }, IDLE_MS).unref()
}

/** While the model thinks for the first time: what its first change and its first command need. */
export function warmForCommand(agent: Agent, states: Checkpoints, runsCommands: boolean): void {
  let timer: NodeJS.Timeout | undefined
  const unsubscribe = agent.subscribe(({ type }) => {
    clearTimeout(timer)
    if (type === 'step') timer = setTimeout(warm, WAITING_MS).unref()
    if (type === 'start') unsubscribe()
  })
  const warm = (): void => {
    unsubscribe()
    warmForChange(agent, states)
    if (runsCommands) void loadShellGrammar().catch(() => undefined).then(preparePipes).then(startReaper).catch(() => undefined)
  }
}

/** Of a large folder the first state takes seconds: also while the person writes. Where nothing may be changed it is not needed. */
export function warmForChange(agent: Agent, states: Checkpoints): void {
  if (agent.state.mode !== 'plan') states.warm()
}
