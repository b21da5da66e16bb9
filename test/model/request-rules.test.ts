import { describe, expect, test } from 'vitest'
import { checkRequest } from '../support/request-rules.ts'
import type { WireProtocol } from '../support/model-server.ts'

/** The validators themselves: a good request passes, and each single fault in it is found. */

type Json = Record<string, unknown>
const known = { issued: new Set(['ours']) }
const headers = { 'anthropic-version': '2023-06-01', 'x-api-key': 'k' }

const good: Record<WireProtocol, () => Json> = {
  chat: () => ({
    model: 'm', stream: true, stream_options: { include_usage: true },
    tools: [{ type: 'function', function: { name: 'read', parameters: { type: 'object' } } }],
    messages: [
      { role: 'system', content: 's' }, { role: 'user', content: 'u' },
      { role: 'assistant', content: null, reasoning_content: 'r', tool_calls: [{ id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } }, { id: 'b', type: 'function', function: { name: 'read', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'a', content: 'x' }, { role: 'tool', tool_call_id: 'b', content: 'x' },
    ],
  }),
  anthropic: () => ({
    model: 'm', max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1_024 }, system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'u' }] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 't', signature: 'ours' }, { type: 'tool_use', id: 'a', name: 'read', input: {} }, { type: 'tool_use', id: 'b', name: 'read', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }, { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'x' }] }, { type: 'text', text: 'more' }] },
    ],
  }),
  responses: () => ({
    model: 'm', store: false,
    input: [
      { role: 'developer', content: 's' }, { role: 'user', content: [{ type: 'input_text', text: 'u' }] },
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'ours', summary: [] }, { type: 'function_call', call_id: 'a', name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'x' },
    ],
  }),
  google: () => ({
    contents: [
      { role: 'user', parts: [{ text: 'u' }] },
      { role: 'model', parts: [{ functionCall: { id: 'a', name: 'read', args: {} }, thoughtSignature: 'ours' }] },
      { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'read', response: { content: 'x' } } }] },
    ],
  }),
}

const check = (protocol: WireProtocol, body: Json): string[] => checkRequest(protocol, body, headers, '/v1beta/models/gemini-3-pro:streamGenerateContent', known)
const list = (body: Json, key: string): Json[] => body[key] as Json[]

const faults: [WireProtocol, string, (body: Json) => void][] = [
  ['chat', 'a missing result', (body) => list(body, 'messages').splice(3, 1)],
  ['chat', 'a result without its call', (body) => (list(body, 'messages')[4]!['tool_call_id'] = 'z')],
  ['chat', 'one id twice', (body) => (((list(body, 'messages')[2]!['tool_calls'] as Json[])[1]!['id'] = 'a'))],
  ['chat', 'arguments that are no JSON', (body) => (((list(body, 'messages')[2]!['tool_calls'] as Json[])[0]!['function'] = { name: 'read', arguments: '{"a' }))],
  ['chat', 'two users in a row', (body) => list(body, 'messages').splice(1, 0, { role: 'user', content: 'u' })],
  ['chat', 'empty text', (body) => (list(body, 'messages')[1]!['content'] = '')],
  ['chat', 'an id that is too long', (body) => (((list(body, 'messages')[2]!['tool_calls'] as Json[])[0]!['id'] = 'x'.repeat(41)))],
  ['anthropic', 'a signature of somebody else', (body) => ((list(body, 'messages')[1]!['content'] as Json[])[0]!['signature'] = 'theirs')],
  ['anthropic', 'calls without thinking before them, with a budget', (body) => (list(body, 'messages')[1]!['content'] as Json[]).shift()],
  ['anthropic', 'text before results', (body) => (list(body, 'messages')[2]!['content'] as Json[]).reverse()],
  ['anthropic', 'a missing result', (body) => (list(body, 'messages')[2]!['content'] as Json[]).shift()],
  ['anthropic', 'blank text', (body) => ((list(body, 'messages')[0]!['content'] as Json[])[0]!['text'] = ' \n')],
  ['anthropic', 'an id with odd characters', (body) => ((list(body, 'messages')[1]!['content'] as Json[])[1]!['id'] = 'a|b')],
  ['anthropic', 'a budget as large as the output', (body) => (body['max_tokens'] = 1_024)],
  ['anthropic', 'a reply at the end', (body) => list(body, 'messages').push({ role: 'assistant', content: [{ type: 'text', text: 'x' }] })],
  ['responses', 'storing', (body) => (body['store'] = true)],
  ['responses', 'encrypted content of somebody else', (body) => (list(body, 'input')[2]!['encrypted_content'] = 'theirs')],
  ['responses', 'reasoning without what follows it', (body) => list(body, 'input').splice(3, 2)],
  ['responses', 'a missing result', (body) => list(body, 'input').pop()],
  ['responses', 'a reference to something stored', (body) => list(body, 'input').push({ type: 'item_reference', id: 'x' })],
  ['google', 'a call without its signature', (body) => delete (list(body, 'contents')[1]!['parts'] as Json[])[0]!['thoughtSignature']],
  ['google', 'a signature of somebody else', (body) => ((list(body, 'contents')[1]!['parts'] as Json[])[0]!['thoughtSignature'] = 'theirs')],
  ['google', 'a missing response', (body) => ((list(body, 'contents')[2]!['parts'] as Json[])[0] = { text: 'x' })],
  ['google', 'a response of another name', (body) => ((list(body, 'contents')[2]!['parts'] as Json[])[0]!['functionResponse'] = { id: 'a', name: 'write', response: {} })],
]

describe.each(Object.keys(good) as WireProtocol[])('%s', (protocol) => {
  test('a good request passes', () => expect(check(protocol, good[protocol]())).toEqual([]))
  test.each(faults.filter(([of]) => of === protocol).map(([, name, spoil]) => [name, spoil] as const))('%s is found', (_name, spoil) => {
    const body = good[protocol]()
    spoil(body)
    expect(check(protocol, body)).not.toEqual([])
  })
})
