import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startModelServer, type Step, type WireProtocol } from '../support/model-server.ts'
import { ask, MODEL, modelsOf, PROTOCOLS, turn, user } from '../support/model-asks.ts'

/** The bytes in fixtures/wire, over a real server, whole and in pieces of seven bytes. */

const folder = new URL('../../fixtures/wire/', import.meta.url)
const call = (id: string, name: string, input: object, opaque?: unknown): object => ({ type: 'call', id, name, input, ...(opaque ? { opaque } : {}) })
const text = (value: string, opaque?: unknown): object => ({ type: 'text', text: value, ...(opaque ? { opaque } : {}) })
const reasoning = (value: string, opaque?: unknown): object => ({ type: 'reasoning', text: value, ...(opaque ? { opaque } : {}) })
const claude = (state: object): object => ({ by: 'anthropic:anthropic:claude-opus-5', data: { sdk: { anthropic: state } } })
const openai = (state: object): object => ({ by: 'openai:responses:gpt-5.6', data: { sdk: { openai: state } } })
const gemini = (state: object): object => ({ by: 'google:google:gemini-3.5-flash', data: { sdk: { google: state } } })
const chat = (data: object): object => ({ by: 'openai-compatible:chat', data })

const EXPECTED: Record<string, { parts: object[]; stop: string; usage: object } | { fault: object; said?: string }> = {
  'anthropic/interleaved-thinking.sse': {
    parts: [reasoning('Which file is it?', claude({ signature: 'c2lnLW9uZQ==' })), reasoning('', claude({ redactedData: 'cmVkYWN0ZWQ=' })), text('Two looks at once.'), call('toolu_01First', 'read', { path: 'src/a.ts' }), call('toolu_01Second', 'git', {})],
    stop: 'calls', usage: { input: 1_540, output: 77, cacheRead: 1_200, cacheWrite: 300 },
  },
  'anthropic/overloaded-in-stream.sse': { fault: { kind: 'overload', message: expect.stringContaining('Overloaded') as string }, said: 'I was about to' },
  'anthropic/refusal.sse': { fault: { kind: 'filter', message: expect.stringContaining('something that the usage policy does not allow') as string } },
  'responses/reasoning-and-calls.sse': {
    parts: [reasoning('**Looking**', openai({ itemId: 'rs_0a', reasoningEncryptedContent: 'bGF0ZQ==' })), call('call_0aFirst', 'read', { path: 'a' }, openai({ itemId: 'fc_0a' })), call('call_0aSecond', 'git', {}, openai({ itemId: 'fc_0b' }))],
    stop: 'calls', usage: { input: 900, output: 80, cacheRead: 512, reasoning: 64 },
  },
  // P26
  'responses/late-call-id.sse': {
    parts: [text('I look.', openai({ itemId: 'msg_0c' })), call('call_0cFirst', 'read', { path: 'a' }, openai({ itemId: 'fc_0c' })), call('call_0cSecond', 'read', { path: 'b' }, openai({ itemId: 'fc_0d' }))],
    stop: 'calls', usage: { input: 30, output: 9 },
  },
  'responses/failed.sse': { fault: { kind: 'server', message: expect.stringContaining('The server had an error while processing your request.') as string } },
  'google/signatures.sse': {
    parts: [reasoning('**Planning**'), text('I read both.'), call(expect.any(String) as string, 'read', { path: 'a' }, gemini({ thoughtSignature: 'c2lnLWZpcnN0' })), call(expect.any(String) as string, 'git', {})],
    stop: 'calls', usage: { input: 50, output: 60, cacheRead: 20, reasoning: 40 },
  },
  'google/malformed-call.sse': { fault: { kind: 'garbage', message: expect.stringContaining('stopped with MALFORMED_FUNCTION_CALL: Malformed function call: read(path=a') as string } },
  'google/prompt-blocked.sse': { fault: { kind: 'filter', message: expect.stringContaining('PROHIBITED_CONTENT') as string } },
  'chat/openrouter-reasoning.sse': {
    parts: [reasoning('Let me see.', chat({ field: 'reasoning', details: [{ type: 'reasoning.text', text: 'Let me see.', index: 0, format: 'anthropic-claude-v1', signature: 'c2lnLW9y' }] })), call('toolu_or1', 'read', { path: 'a' })],
    stop: 'calls', usage: { input: 100, output: 30, cacheRead: 60, cacheWrite: 25, reasoning: 8 },
  },
  'chat/llamacpp.sse': {
    parts: [reasoning('The file.', chat({ field: 'reasoning_content' })), text('Reading.'), call('Xq7GJyr0PvQzjGLTqLjUI3CFwJnPsdAy', 'read', { path: 'a' })],
    stop: 'calls', usage: { input: 40, output: 12 },
  },
  'chat/ollama.sse': {
    parts: [reasoning('Both.', chat({ field: 'reasoning' })), call('call_t8w1', 'read', { path: 'a' }), call('call_t8w2', 'read', { path: 'b' })],
    stop: 'calls', usage: { input: expect.any(Number) as number, output: expect.any(Number) as number, estimated: true },
  },
}

test('every recording has an expectation', () => {
  const files = PROTOCOLS.flatMap((protocol) => readdirSync(new URL(`${protocol}/`, folder)).map((file) => `${protocol}/${file}`))
  expect(files.toSorted()).toEqual(Object.keys(EXPECTED).toSorted())
})

for (const [file, expected] of Object.entries(EXPECTED)) {
  test(`${file} is read as what it says`, async () => {
    const bytes = readFileSync(new URL(file, folder))
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) => bytes.subarray(index * 7, index * 7 + 7))
    for (const form of [bytes, pieces] satisfies Step['bytes'][]) {
      await using server = await startModelServer([{ bytes: form }])
      const asked = await ask(await modelsOf(server).get(MODEL[file.split('/')[0] as WireProtocol]), { messages: [user('go')] })
      if ('fault' in expected) {
        expect(asked.fault).toMatchObject(expected.fault)
        expect(asked.deltas.map((delta) => delta.text).join('')).toBe(expected.said ?? '')
      } else {
        expect(asked.fault).toBeUndefined()
        expect(asked.end).toMatchObject({ parts: expected.parts, stop: expected.stop, usage: expected.usage })
        expect(Object.keys(asked.end.usage).toSorted()).toEqual(Object.keys(expected.usage).toSorted())
      }
    }
  })
}

test("OpenRouter's details of reasoning go back as they came", async () => {
  await using server = await startModelServer([{ bytes: readFileSync(new URL('chat/openrouter-reasoning.sse', folder)) }, { text: 'ok' }])
  const model = await modelsOf(server).get(MODEL.chat)
  const asked = await ask(model, { messages: [user('go')] })
  await ask(model, { messages: [user('go'), ...turn(asked.end)] })
  const sent = (server.requests[1]!.body['messages'] as Record<string, unknown>[])[2]
  expect(sent).toMatchObject({ role: 'assistant', content: null, reasoning_details: [{ type: 'reasoning.text', text: 'Let me see.', signature: 'c2lnLW9y', index: 0, format: 'anthropic-claude-v1' }] })
  expect(sent).not.toHaveProperty('reasoning_content')
})
