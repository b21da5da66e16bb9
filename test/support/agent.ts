import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod/mini'
import type { AgentEvent, Host, Output, Prepared, Tool } from '../../src/core/ports.ts'
import type { Access, FactOf, FactType, RecordOf, SessionRecord } from '../../src/core/record.ts'
import { openAgent, type Agent } from '../../src/loop/agent.ts'
import type { Look } from '../../src/loop/reconcile.ts'
import type { AgentDeps } from '../../src/loop/work.ts'
import { memoryLog } from './memory-log.ts'
import { scriptedModel, type ScriptedModel, type ScriptedReply } from './scripted-model.ts'

export const host = (): Host => ({
  now: () => Date.now(),
  id: () => randomBytes(6).toString('hex').slice(0, 9),
  random: () => 0.5,
  sha256: (data) => createHash('sha256').update(data).digest('hex'),
  wait: (_ms, signal) => new Promise((resolve) => (signal.aborted ? resolve() : setTimeout(resolve, 1))),
  blobs: { put: (data) => ({ sha256: createHash('sha256').update(data).digest('hex'), bytes: data.length }), get: () => undefined },
  checkpoint: () => Promise.resolve({ tree: null }),
})

/** A tool that does what the test says. */
export function tool(name: string, run: (signal: AbortSignal, input: unknown) => Promise<Output> | Output, accesses: Access[] = [{ kind: 'read', path: '/w/f' }], more: Partial<Prepared> = {}): Tool {
  return {
    name, about: name, input: z.looseObject({}) as Tool['input'],
    prepare: (input) => Promise.resolve({ accesses, changes: [], run: async (signal) => run(signal, input), ...more }),
  }
}

export const nothingSeen: Look = { hashOf: () => Promise.resolve(null), tidy: () => Promise.resolve(), lives: () => Promise.resolve(false), outputOf: () => Promise.resolve(''), commitOn: () => Promise.resolve(null) }

export interface Rig {
  agent: Agent
  model: ScriptedModel
  log: ReturnType<typeof memoryLog>
  events: AgentEvent[]
  of<T extends FactType>(type: T): RecordOf<T>[]
  /** Resolves with the first event, past or future, that fits. */
  until(fits: (event: AgentEvent) => boolean): Promise<AgentEvent>
  errors(): string[]
}

export async function rig(replies: (ScriptedReply | ((request: ScriptedModel['requests'][number]) => ScriptedReply))[], deps: Partial<AgentDeps> = {}, options: { before?: SessionRecord[]; look?: Look; limits?: Parameters<typeof scriptedModel>[1] } = {}): Promise<Rig> {
  const model = scriptedModel(replies, options.limits)
  const log = memoryLog(options.before)
  const events: AgentEvent[] = []
  const waiting: { fits: (event: AgentEvent) => boolean; resolve: (event: AgentEvent) => void }[] = []
  const agent = await openAgent(log, {
    host: host(), tools: [], model: () => Promise.resolve(model), system: () => Promise.resolve({ text: 'You are a test.' }), cwd: '/w',
    policy: { root: '/w', rules: [], sandbox: false }, limits: { steps: 50, sameCall: 3, failedEdits: 3 }, checks: [], checkAttempts: 3,
    compaction: { auto: true, reserveTokens: 1_000, keepTokens: 2_000 }, redact: (text) => text, canAsk: () => true, canPause: () => false, fallback: null, saveGrant: () => Promise.resolve(),
    defaults: { model: 'test/scripted', effort: 'medium', mode: 'full' }, ...deps,
  }, options.look ?? nothingSeen)
  agent.subscribe((event) => {
    events.push(event)
    for (const each of waiting.filter(({ fits }) => fits(event))) each.resolve(event)
  })
  return {
    agent, model, log, events,
    of: (type) => log.all.filter((record) => record.type === type) as never,
    until: (fits) => new Promise((resolve) => {
      const past = events.find(fits)
      if (past) resolve(past)
      else waiting.push({ fits, resolve })
    }),
    errors: () => events.flatMap((event) => (event.type === 'error' ? [event.message] : [])),
  }
}

export const outcomeOf = (rig: Rig): FactOf<'outcome'>['status'] | undefined => rig.of('outcome').at(-1)?.status
