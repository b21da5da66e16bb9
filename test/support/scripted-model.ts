import { ModelError, type Delta, type Model, type ModelEnd, type ModelLimits, type ModelRequest } from '../../src/core/ports.ts'
import type { Fault, Part, Stop, Usage } from '../../src/core/record.ts'

/** One reply of a script: what is said, and what happens around it. */
export interface ScriptedReply {
  text?: string
  calls?: { id?: string; name: string; input: unknown; invalid?: string }[]
  stop?: Stop
  usage?: Usage
  fault?: Fault
  /** Runs before anything is said; the reply waits for it. */
  before?: (request: ModelRequest, signal: AbortSignal) => void | Promise<void>
  /** After the text and before the end; a reply that never ends waits for its signal here. */
  hold?: (signal: AbortSignal) => Promise<void>
}

export interface ScriptedModel extends Model {
  requests: ModelRequest[]
}

export const LIMITS: ModelLimits = { contextWindow: 100_000, maxOutput: 4_000, images: false, price: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1 }, guessed: false }

/** Plays replies one after the other; past the end it says that it has nothing more to say. */
export function scriptedModel(replies: (ScriptedReply | ((request: ModelRequest) => ScriptedReply))[], limits: Partial<ModelLimits> = {}): ScriptedModel {
  const requests: ModelRequest[] = []
  let next = 0
  return {
    id: 'test/scripted',
    limits: { ...LIMITS, ...limits },
    requests,
    async *stream(request, signal) {
      requests.push(structuredClone(request))
      const step = replies[next++] ?? { text: 'Nothing more to say.' }
      const reply = typeof step === 'function' ? step(request) : step
      await reply.before?.(request, signal)
      if (reply.text) yield* pieces(reply.text)
      await reply.hold?.(signal)
      if (signal.aborted) return
      if (reply.fault) throw new ModelError(reply.fault)
      yield end(reply, requests.length)
    },
  }
}

function* pieces(text: string): Iterable<Delta> {
  for (let offset = 0; offset < text.length; offset += 7) yield { type: 'delta', part: 0, kind: 'text', offset, text: text.slice(offset, offset + 7) }
}

function end(reply: ScriptedReply, request: number): ModelEnd {
  const parts: Part[] = reply.text ? [{ type: 'text', text: reply.text }] : []
  for (const [index, call] of (reply.calls ?? []).entries()) {
    parts.push({ type: 'call', id: call.id ?? `c${request}x${index}`, name: call.name, input: call.input, ...(call.invalid ? { invalid: call.invalid } : {}) })
  }
  return { type: 'end', parts, stop: reply.stop ?? (reply.calls?.length ? 'calls' : 'end'), usage: reply.usage ?? { input: 100, output: 10 } }
}

/** Until the signal, as a server that goes silent. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })))
