import { createHash, randomUUID } from 'node:crypto'
import type { Step, WireProtocol } from './model-server.ts'

/** The events of a scripted reply, as the provider of a protocol sends them: each is one network write. */
export function writeReply(protocol: WireProtocol, step: Step, model: string, issue: (value: string) => string): string[] {
  switch (protocol) {
    case 'chat': return chat(step, model)
    case 'anthropic': return anthropic(step, model, issue)
    case 'responses': return responses(step, model, issue)
    case 'google': return google(step, model, issue)
  }
}

export function piecesOf(text: string, deltas = 3): string[] {
  const size = Math.max(1, Math.ceil(text.length / deltas))
  const pieces: string[] = []
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size))
  return pieces
}

const argumentsOf = (input: unknown): string => (typeof input === 'string' ? input : JSON.stringify(input ?? {}))
const usageOf = (step: Step): { input: number; output: number; cacheRead?: number; cacheWrite?: number; reasoning?: number } | undefined => (step.usage === null ? undefined : (step.usage ?? { input: 100, output: 20 }))
const stopOf = (step: Step): Step['stop'] => (step.stop === undefined ? (step.calls?.length ? 'calls' : 'end') : step.stop)
const newId = (prefix: string): string => `${prefix}${randomUUID().replaceAll('-', '').slice(0, 24)}`
const data = (value: unknown, event?: string): string => `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`

function chat(step: Step, model: string): string[] {
  const base = { id: newId('chatcmpl-'), object: 'chat.completion.chunk', created: 1_796_000_000, model }
  const chunk = (delta: unknown, finish_reason: string | null = null): string => data({ ...base, choices: [{ index: 0, delta, finish_reason }] })
  const events = [chunk({ role: 'assistant', content: '' })]
  for (const piece of piecesOf(step.reasoning ?? '', step.deltas)) events.push(chunk({ reasoning_content: piece }))
  for (const piece of piecesOf(step.text ?? '', step.deltas)) events.push(chunk({ content: piece }))
  for (const [index, call] of (step.calls ?? []).entries()) {
    events.push(chunk({ tool_calls: [{ index, id: call.id ?? newId('call_'), type: 'function', function: { name: call.name, arguments: '' } }] }))
    for (const piece of piecesOf(argumentsOf(call.input), step.deltas)) events.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }))
  }
  const reasons = { end: 'stop', calls: 'tool_calls', length: 'length', filter: 'content_filter' }
  const stop = stopOf(step)
  if (stop) events.push(chunk({}, reasons[stop]))
  const usage = usageOf(step)
  if (usage) events.push(data({ ...base, choices: [], usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output, prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0 }, completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 } } }))
  return [...events, 'data: [DONE]\n\n']
}

function anthropic(step: Step, model: string, issue: (value: string) => string): string[] {
  const event = (value: { type: string; [field: string]: unknown }): string => data(value, value.type)
  const usage = usageOf(step) ?? { input: 0, output: 0 }
  const cached = { cache_read_input_tokens: usage.cacheRead ?? 0, cache_creation_input_tokens: usage.cacheWrite ?? 0 }
  const fresh = usage.input - cached.cache_read_input_tokens - cached.cache_creation_input_tokens
  const events = [event({ type: 'message_start', message: { id: newId('msg_'), type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: fresh, ...cached, output_tokens: 1 } } }), event({ type: 'ping' })]
  let index = 0
  const block = (start: unknown, deltas: unknown[]): void => {
    events.push(event({ type: 'content_block_start', index, content_block: start }))
    for (const delta of deltas) events.push(event({ type: 'content_block_delta', index, delta }))
    events.push(event({ type: 'content_block_stop', index: index++ }))
  }
  if (step.reasoning !== undefined) {
    const signature = issue(`sig-${sha(step.reasoning)}`)
    block({ type: 'thinking', thinking: '', signature: '' }, [...piecesOf(step.reasoning, step.deltas).map((thinking) => ({ type: 'thinking_delta', thinking })), { type: 'signature_delta', signature }])
  }
  if (step.text) block({ type: 'text', text: '' }, piecesOf(step.text, step.deltas).map((text) => ({ type: 'text_delta', text })))
  for (const call of step.calls ?? []) block({ type: 'tool_use', id: call.id ?? newId('toolu_'), name: call.name, input: {} }, piecesOf(argumentsOf(call.input), step.deltas).map((partial_json) => ({ type: 'input_json_delta', partial_json })))
  const reasons = { end: 'end_turn', calls: 'tool_use', length: 'max_tokens', filter: 'refusal' }
  const stop = stopOf(step)
  if (stop) events.push(event({ type: 'message_delta', delta: { stop_reason: reasons[stop], stop_sequence: null }, usage: { output_tokens: usage.output } }), event({ type: 'message_stop' }))
  return events
}

function responses(step: Step, model: string, issue: (value: string) => string): string[] {
  const events: string[] = []
  let sequence_number = 0
  const event = (type: string, fields: object): void => void events.push(data({ type, sequence_number: sequence_number++, ...fields }, type))
  const response = { id: newId('resp_'), object: 'response', created_at: 1_796_000_000, model, status: 'in_progress', error: null, incomplete_details: null, output: [] as unknown[], usage: null as unknown }
  event('response.created', { response })
  let output_index = 0
  const item = (added: object, done: object, between: () => void): void => {
    event('response.output_item.added', { output_index, item: added })
    between()
    event('response.output_item.done', { output_index, item: done })
    response.output.push(done)
    output_index++
  }
  if (step.reasoning !== undefined) {
    const id = newId('rs_')
    const encrypted_content = issue(`enc-${sha(step.reasoning)}`)
    const summary = [{ type: 'summary_text', text: step.reasoning }]
    item({ id, type: 'reasoning', summary: [], encrypted_content: 'early' }, { id, type: 'reasoning', summary, encrypted_content }, () => {
      event('response.reasoning_summary_part.added', { item_id: id, output_index, summary_index: 0, part: { type: 'summary_text', text: '' } })
      for (const delta of piecesOf(step.reasoning ?? '', step.deltas)) event('response.reasoning_summary_text.delta', { item_id: id, output_index, summary_index: 0, delta })
      event('response.reasoning_summary_text.done', { item_id: id, output_index, summary_index: 0, text: step.reasoning })
      event('response.reasoning_summary_part.done', { item_id: id, output_index, summary_index: 0, part: summary[0] })
    })
  }
  if (step.text) {
    const id = newId('msg_')
    const content = [{ type: 'output_text', text: step.text, annotations: [] }]
    item({ id, type: 'message', role: 'assistant', status: 'in_progress', content: [] }, { id, type: 'message', role: 'assistant', status: 'completed', content }, () => {
      event('response.content_part.added', { item_id: id, output_index, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } })
      for (const delta of piecesOf(step.text ?? '', step.deltas)) event('response.output_text.delta', { item_id: id, output_index, content_index: 0, delta })
      event('response.output_text.done', { item_id: id, output_index, content_index: 0, text: step.text })
    })
  }
  for (const call of step.calls ?? []) {
    const id = newId('fc_')
    const whole = argumentsOf(call.input)
    const head = { id, type: 'function_call', call_id: call.id ?? newId('call_'), name: call.name }
    item({ ...head, status: 'in_progress', arguments: '' }, { ...head, status: stopOf(step) === 'length' ? 'incomplete' : 'completed', arguments: whole }, () => {
      for (const delta of piecesOf(whole, step.deltas)) event('response.function_call_arguments.delta', { item_id: id, output_index, delta })
      event('response.function_call_arguments.done', { item_id: id, output_index, arguments: whole })
    })
  }
  const usage = usageOf(step)
  const end = { ...response, usage: usage ? { input_tokens: usage.input, input_tokens_details: { cached_tokens: usage.cacheRead ?? 0 }, output_tokens: usage.output, output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 }, total_tokens: usage.input + usage.output } : null }
  const stop = stopOf(step)
  if (stop === 'length' || stop === 'filter') event('response.incomplete', { response: { ...end, status: 'incomplete', incomplete_details: { reason: stop === 'length' ? 'max_output_tokens' : 'content_filter' } } })
  else if (stop) event('response.completed', { response: { ...end, status: 'completed' } })
  return events
}

function google(step: Step, model: string, issue: (value: string) => string): string[] {
  const usage = usageOf(step)
  const usageMetadata = usage && { promptTokenCount: usage.input, candidatesTokenCount: usage.output - (usage.reasoning ?? 0), thoughtsTokenCount: usage.reasoning ?? 0, cachedContentTokenCount: usage.cacheRead ?? 0, totalTokenCount: usage.input + usage.output }
  const chunk = (parts: unknown[], finishReason?: string): string => data({ candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason ? { finishReason } : {}) }], ...(usageMetadata ? { usageMetadata } : {}), modelVersion: model, responseId: 'r' })
  const events = piecesOf(step.reasoning ?? '', step.deltas).map((text) => chunk([{ text, thought: true }]))
  for (const piece of piecesOf(step.text ?? '', step.deltas)) events.push(chunk([{ text: piece }]))
  for (const [index, call] of (step.calls ?? []).entries()) {
    const signature = index === 0 && step.reasoning !== undefined ? { thoughtSignature: issue(`ts-${sha(step.reasoning)}`) } : {}
    events.push(chunk([{ functionCall: { ...(call.id === undefined ? {} : { id: call.id }), name: call.name, args: typeof call.input === 'string' ? JSON.parse(call.input) : (call.input ?? {}) }, ...signature }]))
  }
  const reasons = { end: 'STOP', calls: 'STOP', length: 'MAX_TOKENS', filter: 'SAFETY' }
  const stop = stopOf(step)
  if (stop) events.push(chunk([{ text: '' }], reasons[stop]))
  return events
}

const sha = (text: string): string => createHash('sha256').update(text).digest('base64').slice(0, 32)
