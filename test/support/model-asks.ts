import { ModelError, type Delta, type Message, type Model, type ModelEnd, type ModelRequest } from '../../src/core/ports.ts'
import type { CallPart, Fault, Part } from '../../src/core/record.ts'
import { createModels, type Models, type ModelsOptions } from '../../src/model/registry.ts'
import type { ModelServer, WireProtocol } from './model-server.ts'

/** A model of each protocol, by names that the packages know. */
export const MODEL: Readonly<Record<WireProtocol, string>> = { chat: 'chat/test-model', anthropic: 'anthropic/claude-opus-5', responses: 'responses/gpt-5.6', google: 'google/gemini-3.5-flash' }
export const PROTOCOLS = Object.keys(MODEL) as WireProtocol[]

export const TOOLS: ModelRequest['tools'] = ['read', 'write', 'edit', 'shell'].map((name) => ({ name, about: `The tool ${name}.`, input: { type: 'object', properties: { path: { type: 'string' }, content: { type: 'string' }, command: { type: 'string' } } } }))

export function modelsOf(server: Pick<ModelServer, 'providers'>, options: Partial<ModelsOptions> = {}): Models {
  return createModels({ providers: server.providers, environment: {}, runCommand: () => Promise.resolve(''), blobs: { get: () => undefined }, now: () => Date.now(), ...options })
}

export interface Asked {
  deltas: Delta[]
  end: ModelEnd
  fault: Fault | undefined
}

/** One request, to its end: a failure is a value here. */
export async function ask(model: Model, request: Partial<ModelRequest> & { messages: Message[] }, signal = new AbortController().signal): Promise<Asked> {
  const deltas: Delta[] = []
  let end: ModelEnd | undefined
  try {
    for await (const event of model.stream({ system: 'You are careful.', tools: TOOLS, ...request }, signal)) {
      if (end) throw new Error('something came after the end')
      if (event.type === 'delta') deltas.push(event)
      else end = event
    }
  } catch (error) {
    if (error instanceof ModelError) return { deltas, end: NONE, fault: error.fault }
    throw error
  }
  if (!end) throw new Error('the stream ended without an end')
  checkDeltas(deltas, end)
  return { deltas, end, fault: undefined }
}

const NONE: ModelEnd = { type: 'end', parts: [], stop: 'error', usage: { input: 0, output: 0 } }

/** The contract of deltas: put together they are the texts of the parts, without a gap. */
function checkDeltas(deltas: Delta[], end: ModelEnd): void {
  const texts: string[] = []
  for (const { part, offset, text, kind } of deltas) {
    if ((texts[part] ?? '').length !== offset) throw new Error(`part ${part}: offset ${offset} after ${(texts[part] ?? '').length}`)
    if (end.parts[part]?.type !== kind) throw new Error(`part ${part} is a ${String(end.parts[part]?.type)}, its delta a ${kind}`)
    texts[part] = (texts[part] ?? '') + text
  }
  end.parts.forEach((part, index) => {
    if (part.type !== 'call' && (texts[index] ?? '') !== part.text) throw new Error(`part ${index}: deltas give ${JSON.stringify(texts[index])}, the end ${JSON.stringify(part.text)}`)
  })
}

export const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
export const callsOf = (parts: Part[]): CallPart[] => parts.filter((part) => part.type === 'call')
export const textOf = (parts: Part[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** A reply and the results of its calls, as the next request has them. */
export function turn(end: ModelEnd, answer: (call: CallPart) => { text: string; failed?: boolean } = () => ({ text: 'done' })): Message[] {
  const reply: Message = { role: 'assistant', parts: end.parts }
  const calls = callsOf(end.parts)
  if (calls.length === 0) return [reply]
  return [reply, { role: 'tool', results: calls.map((call) => ({ call: call.id, name: call.name, failed: false, ...answer(call) })) }]
}
