import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { startModelServer, type Step } from '../support/model-server.ts'
import { ask, MODEL, modelsOf, PROTOCOLS, user } from '../support/model-asks.ts'
import type { Fault } from '../../src/core/record.ts'

/** What a provider says when it says no, as one kind and one sentence. */

async function refused(step: Step, model = MODEL.chat): Promise<Fault> {
  await using server = await startModelServer([step])
  const { fault } = await ask(await modelsOf(server).get(model), { messages: [user('go')] })
  expect(server.requests).toHaveLength(1)
  return fault!
}

const error = (message: string, more: object = {}): { error: object } => ({ error: { message, ...more } })
const google = (code: number, status: string, message: string, details: object[] = []): object => ({ error: { code, message, status, details } })

describe.each<[string, Step, Partial<Fault>, string?]>([
  ['Anthropic: a wrong key', { status: 401, json: { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } } }, { kind: 'auth', status: 401 }, 'invalid x-api-key'],
  ['OpenAI: a wrong key', { status: 401, json: error('Incorrect API key provided: sk-proj-abcdef0123456789. You can find your API key at https://x.', { code: 'invalid_api_key' }) }, { kind: 'auth' }, 'Incorrect API key'],
  ['Google: a wrong key', { status: 400, json: google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [{ reason: 'API_KEY_INVALID' }]) }, { kind: 'auth' }],
  ['a key without the right', { status: 403, json: error('Your key has no access to this.', { type: 'permission_error' }) }, { kind: 'auth', status: 403 }],
  ['OpenAI: an unknown model', { status: 404, json: error('The model `gpt-99` does not exist or you do not have access to it.', { code: 'model_not_found' }) }, { kind: 'not-found' }],
  ['OpenRouter: an unknown model, as a 400', { status: 400, json: error('gpt-99 is not a valid model ID', { code: 400 }) }, { kind: 'not-found' }],
  ['Ollama: an unknown model', { status: 404, json: { error: 'model "qwen9" not found, try pulling it first' } }, { kind: 'not-found' }],
  ['a wrong path', { status: 404, bytes: '<html><head><title>404 Not Found</title></head></html>', headers: { 'content-type': 'text/html' } }, { kind: 'not-found' }, '404 Not Found'],
  ['a rate limit in seconds', { status: 429, headers: { 'retry-after': '11180' }, json: error('Slow down', { type: 'rate_limit_error' }) }, { kind: 'rate-limit', retryAfterMs: 11_180_000 }, 'wait 3.1 h'],
  ['a rate limit in milliseconds', { status: 429, headers: { 'retry-after-ms': '250', 'retry-after': '9' }, json: error('Slow down') }, { kind: 'rate-limit', retryAfterMs: 250 }],
  ['OpenAI: a rate limit with the time in words', { status: 429, json: error('Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 1.5s.', { code: 'rate_limit_exceeded' }) }, { kind: 'rate-limit', retryAfterMs: 1_500 }],
  ['Google: a rate limit', { status: 429, json: google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.', [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '37s' }]) }, { kind: 'rate-limit', retryAfterMs: 37_000 }],
  ['OpenAI: no quota left', { status: 429, json: error('You exceeded your current quota, please check your plan and billing details.', { type: 'insufficient_quota', code: 'insufficient_quota' }) }, { kind: 'quota' }],
  ['Anthropic: no credit left', { status: 400, json: { type: 'error', error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' } } }, { kind: 'quota' }],
  ['OpenRouter: no credit left', { status: 402, json: error('Insufficient credits', { code: 402 }) }, { kind: 'quota', status: 402 }],
  ['Anthropic: overloaded', { status: 529, json: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } }, { kind: 'overload', status: 529 }],
  ['unavailable', { status: 503, json: google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.') }, { kind: 'overload', status: 503 }],
  ['a server error', { status: 500, json: { error: { type: 'api_error', message: 'Internal server error' } } }, { kind: 'server', status: 500 }],
  ['a gateway with a web page', { status: 502, bytes: '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>' }, { kind: 'server', status: 502 }, '502 Bad Gateway'],
  // C5
  ['a bad request', { status: 400, json: error('bad thing') }, { kind: 'bad-request', status: 400 }, 'bad thing'],
  ['a bad request that says nothing', { status: 400, bytes: '' }, { kind: 'bad-request', status: 400 }, 'said nothing more'],
  ['FastAPI: a bad request', { status: 422, json: { detail: [{ loc: ['body'], msg: 'field required' }] } }, { kind: 'bad-request', status: 422 }, 'field required'],
  ['vLLM: a bad request', { status: 400, json: { object: 'error', message: 'top_p must be in (0, 1]', type: 'BadRequestError', code: 400 } }, { kind: 'bad-request' }, 'top_p must be'],
  ['Azure: a content filter', { status: 400, json: error("The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", { code: 'content_filter' }) }, { kind: 'filter' }],
  // X9, X10
  ['OpenAI: too long', { status: 400, json: error("This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.", { code: 'context_length_exceeded' }) }, { kind: 'overflow', contextWindow: 8_192 }],
  ['Anthropic: too long', { status: 400, json: { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 212000 tokens > 200000 maximum' } } }, { kind: 'overflow', contextWindow: 200_000 }],
  ['Anthropic: too long with its output', { status: 400, json: error('input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again') }, { kind: 'overflow', contextWindow: 200_000 }],
  ['Google: too long', { status: 400, json: google(400, 'INVALID_ARGUMENT', 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).') }, { kind: 'overflow', contextWindow: 1_048_576 }],
  ['llama.cpp: too long', { status: 400, json: error('the request exceeds the available context size, try increasing it', { type: 'exceed_context_size_error', n_prompt_tokens: 9_000, n_ctx: 8_192 }) }, { kind: 'overflow', contextWindow: 8_192 }],
  ['llama.cpp, older: too long', { status: 500, json: error('the request exceeds the available context size (8192 tokens)') }, { kind: 'overflow', contextWindow: 8_192 }],
  ['exceeds n_ctx', { status: 400, json: error('prompt (9000 tokens) exceeds n_ctx (8192)') }, { kind: 'overflow', contextWindow: 8_192 }],
  ['LM Studio: too long', { status: 400, json: { error: 'Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.' } }, { kind: 'overflow', contextWindow: 4_096 }],
  ['xAI: too long', { status: 400, json: error("This model's maximum prompt length is 131072 but the request contains 537812 tokens.") }, { kind: 'overflow', contextWindow: 131_072 }],
  ['input exceeds the context window', { status: 400, json: error('Your input exceeds the context window of this model. Please adjust your input and try again.') }, { kind: 'overflow' }],
  ['vLLM: too long', { status: 400, json: { object: 'error', message: "This model's maximum context length is 32768 tokens. However, you requested 34000 tokens (30000 in the messages, 4000 in the completion).", type: 'BadRequestError', code: 400 } }, { kind: 'overflow', contextWindow: 32_768 }],
  ['a body that is too large', { status: 413, json: { type: 'error', error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } } }, { kind: 'overflow', status: 413 }],
])('%s', (_name, step, expected, said) => {
  test(`is ${expected.kind}`, async () => {
    const fault = await refused(step)
    expect(fault).toMatchObject(expected)
    expect(fault.message).toContain('127.0.0.1')
    if (said !== undefined) expect(fault.message).toContain(said)
    expect(fault.message).not.toMatch(/sk-proj-abc|test-key-of/)
  })
})

test.each(PROTOCOLS)('over %s a refusal with a body and one without are both told', async (protocol) => {
  expect(await refused({ status: 400, json: error('bad thing') }, MODEL[protocol])).toMatchObject({ kind: 'bad-request', message: expect.stringContaining('bad thing') as string })
  expect((await refused({ status: 400, bytes: '' }, MODEL[protocol])).message).toContain('(400)')
})

test('an unknown model: the error names those that are there, the nearest first', async () => {
  await using server = await startModelServer([{ status: 404, json: error('no such model', { code: 'model_not_found' }) }], { models: ['alpha', 'sonnet-large', 'sonnet-small', 'b', 'c', 'd', 'e', 'f'] })
  const { fault } = await ask(await modelsOf(server).get('chat/sonet-large'), { messages: [user('go')] })
  expect(fault?.message).toMatch(/It offers: sonnet-large, sonnet-small, .* and 2 more\. Choose one with \/model or --model\./)
})

test('a key that the server repeats is not in the error', async () => {
  await using server = await startModelServer([{ status: 401, json: error('the key my-very-secret-key-123 is wrong\u001b[31m') }])
  const providers = { ...server.providers, chat: { ...server.providers.chat, apiKey: '$SECRET' } }
  const { fault } = await ask(await modelsOf({ providers }, { environment: { SECRET: 'my-very-secret-key-123' } }).get(MODEL.chat), { messages: [user('go')] })
  expect(fault?.message).toContain('the key *** is wrong')
  expect(fault?.message).toContain('Check SECRET.')
  expect(fault?.message).not.toContain('\u001b')
})

const offer = (baseURL: string): { providers: never } => ({ providers: { chat: { type: 'openai-compatible', baseURL } } as never })

test('a server that is not there: the error names the address and what to do', async () => {
  const server = await startModelServer([])
  await server.close()
  const { fault } = await ask(await modelsOf(offer(server.baseURL('chat'))).get(MODEL.chat), { messages: [user('go')] })
  expect(fault).toMatchObject({ kind: 'network', message: `chat cannot be reached at 127.0.0.1:${server.port}: nothing listens there (ECONNREFUSED). Start the server, or check baseURL.` })
})

test('a host that does not exist', async () => {
  const { fault } = await ask(await modelsOf({ providers: { chat: { type: 'openai-compatible', baseURL: 'http://no-such-host.invalid/v1', apiKey: 'k' } } as never }).get(MODEL.chat), { messages: [user('go')] })
  expect(fault).toMatchObject({ kind: 'network', message: expect.stringContaining('no-such-host.invalid') as string })
})

test('a server that hangs up before it answers', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const { fault } = await ask(await modelsOf(offer(`http://127.0.0.1:${port}/v1`)).get(MODEL.chat), { messages: [user('go')] })
  expect(fault).toMatchObject({ kind: 'network', message: expect.stringContaining(`127.0.0.1:${port}`) as string })
  await new Promise((resolve) => server.close(resolve))
})

test('a server that speaks no HTTP, and https spoken to http', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).resume().end('SSH-2.0-OpenSSH_9.9\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  for (const scheme of ['http', 'https']) {
    const { fault } = await ask(await modelsOf(offer(`${scheme}://127.0.0.1:${port}/v1`)).get(MODEL.chat), { messages: [user('go')] })
    expect(fault).toMatchObject({ kind: 'network', message: expect.stringContaining(`127.0.0.1:${port}: it does not speak ${scheme === 'http' ? 'HTTP' : 'TLS'}`) as string })
  }
  await new Promise((resolve) => server.close(resolve))
})

test('a server that sends on to another address does not get the key there', async () => {
  await using elsewhere = await startModelServer([{ text: 'never' }])
  await using server = await startModelServer([{ status: 307, headers: { location: `${elsewhere.url}/v1/chat/completions` } }])
  const { fault } = await ask(await modelsOf(server).get(MODEL.chat), { messages: [user('go')] })
  expect(fault).toMatchObject({ kind: 'bad-request', status: 307, message: expect.stringContaining(elsewhere.url) as string })
  expect(elsewhere.requests).toEqual([])
})

test('Google: a daily quota is a quota, not a moment to wait', async () => {
  const fault = await refused({ status: 429, json: google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }] }]) }, MODEL.google)
  expect(fault.kind).toBe('quota')
})

test('a name and a password in the address go along as a header, and into no message', async () => {
  await using server = await startModelServer([{ text: 'x' }, { status: 400, json: error('no') }])
  const models = modelsOf(offer(server.baseURL('chat').replace('//', '//me:s3cret-word@')))
  await ask(await models.get(MODEL.chat), { messages: [user('go')] })
  expect(server.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:s3cret-word').toString('base64')}`)
  expect((await ask(await models.get(MODEL.chat), { messages: [user('go')] })).fault?.message).not.toContain('s3cret')
})
