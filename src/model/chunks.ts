import type { JSONValue } from '@ai-sdk/provider'
import { fail, type Exchange } from './exchange.ts'
import { fault } from './fault.ts'
import type { Frame } from './frames.ts'
import type { State } from './protocol.ts'
import { isObject } from './server-error.ts'

type Json = Record<string, unknown>

/**
 * A chunk of Chat Completions with nothing in it that the SDK would refuse: one bad field must not cost the text beside it.
 * What servers of public reports do otherwise: arguments as an object, usage in odd places, a message in place of a delta.
 */
export function repairChunk({ data }: Frame, exchange: Exchange): Frame[] {
  if (isDone({ data })) return []
  let chunk: unknown
  try {
    chunk = JSON.parse(data)
  } catch {
    fail(exchange, fault.cut(exchange.target, data))
    return []
  }
  if (!isObject(chunk)) return []
  const choice = Array.isArray(chunk['choices']) && isObject(chunk['choices'][0]) ? chunk['choices'][0] : undefined
  const usage = [chunk['usage'], choice?.['usage'], isObject(chunk['x_groq']) ? chunk['x_groq']['usage'] : undefined].find(isObject)
  const clean = {
    ...pick(chunk, 'id', 'string'), ...pick(chunk, 'model', 'string'), ...pick(chunk, 'created', 'number'),
    choices: choice ? [repairChoice(choice, exchange)] : [],
    ...(usage ? { usage: repairUsage(usage) } : {}),
  }
  return [{ data: JSON.stringify(clean) }]
}

export const isDone = ({ data }: Frame): boolean => data.trim() === '[DONE]'

/** A whole completion, from a server that does not stream, as one chunk. */
export function wholeReply(reply: Json, exchange: Exchange): Frame[] {
  return Array.isArray(reply['choices']) ? repairChunk({ data: JSON.stringify(reply) }, exchange) : []
}

function repairChoice(choice: Json, exchange: Exchange): Json {
  const delta = isObject(choice['delta']) ? choice['delta'] : isObject(choice['message']) ? choice['message'] : {}
  noteReasoning(delta, exchange)
  const calls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'].filter(isObject) : isObject(delta['function_call']) ? [{ index: 0, function: delta['function_call'] }] : null
  const reason = choice['finish_reason']
  return {
    index: 0,
    delta: {
      ...(typeof delta['content'] === 'string' || Array.isArray(delta['content']) ? { content: delta['content'] } : {}),
      ...pick(delta, 'refusal', 'string'), ...pick(delta, 'reasoning_content', 'string'), ...pick(delta, 'reasoning', 'string'),
      ...(calls ? { tool_calls: calls.map(repairCall) } : {}),
    },
    ...(typeof reason === 'string' && reason !== '' ? { finish_reason: reason } : {}),
  }
}

function repairCall(call: Json): Json {
  const named = isObject(call['function']) ? call['function'] : {}
  const given = named['arguments']
  return {
    ...pick(call, 'index', 'number'), ...pick(call, 'id', 'string'), ...(isObject(call['extra_content']) ? { extra_content: call['extra_content'] } : {}),
    function: { ...pick(named, 'name', 'string'), ...(typeof given === 'string' ? { arguments: given } : given === undefined || given === null ? {} : { arguments: JSON.stringify(given) }) },
  }
}

function repairUsage(usage: Json): Json {
  const details = isObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {}
  const cached = [details['cached_tokens'], usage['prompt_cache_hit_tokens'], usage['cached_tokens']].find(isCount)
  const output = isObject(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {}
  return {
    ...pick(usage, 'prompt_tokens', 'number'), ...pick(usage, 'completion_tokens', 'number'),
    prompt_tokens_details: { ...(cached === undefined ? {} : { cached_tokens: cached }), ...pick(details, 'cache_write_tokens', 'number') },
    completion_tokens_details: pick(output, 'reasoning_tokens', 'number'),
  }
}

/** Under which name the server gives its reasoning, and OpenRouter's details of it: both must come back as they came. */
function noteReasoning(delta: Json, exchange: Exchange): void {
  for (const field of ['reasoning_content', 'reasoning']) {
    if (typeof delta[field] === 'string' && delta[field] !== '') exchange.extra['field'] ??= field
  }
  if (!Array.isArray(delta['reasoning_details'])) return
  const kept = (exchange.extra['details'] ??= []) as Json[]
  for (const detail of delta['reasoning_details'].filter(isObject)) {
    const same = kept.find((other) => other['type'] === detail['type'] && other['index'] === detail['index'])
    if (!same) kept.push({ ...detail })
    else for (const [key, value] of Object.entries(detail)) if (value !== null) same[key] = GROWING.has(key) && typeof same[key] === 'string' && typeof value === 'string' ? same[key] + value : value
  }
}

const GROWING = new Set(['text', 'summary', 'data'])

export function reasoningOf({ extra }: Exchange): State {
  return {
    ...(typeof extra['field'] === 'string' ? { field: extra['field'] } : {}),
    ...(Array.isArray(extra['details']) ? { details: extra['details'] as JSONValue } : {}),
  }
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

function pick(from: Json, key: string, type: 'string' | 'number'): Json {
  return typeof from[key] === type ? { [key]: from[key] } : {}
}
