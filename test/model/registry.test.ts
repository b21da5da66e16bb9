import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { ModelError } from '../../src/core/ports.ts'
import { allProviders } from '../../src/model/providers.ts'
import type { ModelsOptions } from '../../src/model/registry.ts'
import { startModelServer } from '../support/model-server.ts'
import { ask, modelsOf, textOf, user } from '../support/model-asks.ts'

const faultOf = (work: Promise<unknown>): Promise<string> => work.then(() => 'no fault', (error: ModelError) => `${error.fault.kind}: ${error.fault.message}`)
const none = { providers: {} } as never

describe('names', () => {
  test.each([
    ['gpt-5', 'is not a model name. Expected provider/model'],
    ['/x', 'is not a model name'],
    ['openai/', 'is not a model name'],
    ['opneai/gpt-5', 'There is no provider "opneai" for "opneai/gpt-5". Known are: anthropic, openai, google, openrouter, ollama, lmstudio, llamacpp'],
  ])('"%s" says what is wrong with it', async (id, said) => expect(await faultOf(modelsOf(none).get(id))).toContain(said))

  test('a model may have slashes in its own name', async () => {
    await using server = await startModelServer([{ text: 'x' }])
    await ask(await modelsOf(server).get('chat/meta-llama/llama-4:free'), { messages: [user('go')] })
    expect(server.requests[0]?.body['model']).toBe('meta-llama/llama-4:free')
  })

  test('a provider without an address says so', async () => {
    expect(await faultOf(modelsOf({ providers: { mine: {} } } as never).get('mine/m'))).toContain('providers.mine.baseURL is missing')
  })
})

test('to load what a model needs ahead of time asks neither for a key nor its server', async () => {
  await using server = await startModelServer([])
  const asked: string[] = []
  const providers = Object.fromEntries(Object.entries(server.providers).map(([name, { type, baseURL }]) => [name, { type, baseURL, apiKey: '!print-key' }]))
  const models = modelsOf({ providers: providers as never }, { runCommand: (command) => Promise.resolve(asked.push(command)).then(() => 'key') })
  for (const name of Object.keys(providers)) await models.warm(`${name}/m`)
  expect([asked, server.requests]).toEqual([[], []])
  await expect(models.warm('nobody/m')).rejects.toThrow('There is no provider')
})

describe('addresses', () => {
  const address = (config: object, environment = {}): string | undefined => allProviders({ mine: config }, environment).get('mine')?.baseURL
  test.each([
    [{ type: 'openai-compatible', baseURL: 'http://127.0.0.1:8080' }, 'http://127.0.0.1:8080/v1'],
    [{ type: 'openai-compatible', baseURL: 'http://127.0.0.1:8080/' }, 'http://127.0.0.1:8080/v1'],
    [{ type: 'openai-compatible', baseURL: 'https://models.example.com' }, 'https://models.example.com'],
    [{ type: 'openai-compatible', baseURL: 'https://x.example/api/v3/chat/completions' }, 'https://x.example/api/v3'],
    [{ type: 'anthropic', baseURL: 'https://proxy.example' }, 'https://proxy.example/v1'],
    [{ type: 'anthropic', baseURL: 'https://proxy.example/anthropic/v1/messages' }, 'https://proxy.example/anthropic/v1'],
    [{ type: 'openai', baseURL: 'https://proxy.example/openai/v1/' }, 'https://proxy.example/openai/v1'],
    [{ type: 'google', baseURL: 'https://proxy.example' }, 'https://proxy.example/v1beta'],
    [{ type: 'anthropic' }, 'https://api.anthropic.com/v1'],
  ])('%j', (config, expected) => expect(address(config)).toBe(expected))

  test('the usual variables move the built-in ones', () => {
    const at = (environment: Record<string, string>, name: string): string | undefined => allProviders({}, environment).get(name)?.baseURL
    expect(at({ ANTHROPIC_BASE_URL: 'https://gate.example' }, 'anthropic')).toBe('https://gate.example/v1')
    expect(at({ OLLAMA_HOST: '0.0.0.0' }, 'ollama')).toBe('http://127.0.0.1:11434/v1')
    expect(at({ OLLAMA_HOST: 'box:1234' }, 'ollama')).toBe('http://box:1234/v1')
    expect(at({}, 'ollama')).toBe('http://127.0.0.1:11434/v1')
  })
})

describe('keys', () => {
  const sent = async (config: object, options: Partial<ModelsOptions> = {}): Promise<IncomingMessage['headers']> => {
    await using server = await startModelServer([{ text: 'x' }])
    const { fault } = await ask(await modelsOf({ providers: { mine: { type: 'openai-compatible', baseURL: server.baseURL('chat'), ...config } } as never }, options).get('mine/m'), { messages: [user('go')] })
    expect(fault).toBeUndefined()
    return server.requests[0]!.headers
  }
  const environment = { MY_KEY: 'from-variable', OPENAI_API_KEY: 'of-openai' }

  test('a key itself, $NAME, !command, a variable by name, and none for a server on this machine', async () => {
    expect((await sent({ apiKey: 'itself' }))['authorization']).toBe('Bearer itself')
    expect((await sent({ apiKey: '$MY_KEY' }, { environment }))['authorization']).toBe('Bearer from-variable')
    expect((await sent({ apiKeyEnv: 'MY_KEY' }, { environment }))['authorization']).toBe('Bearer from-variable')
    const asked: string[] = []
    const runCommand = (command: string): Promise<string> => (asked.push(command), Promise.resolve('from-command\n'))
    expect((await sent({ apiKey: '!pass show model' }, { runCommand }))['authorization']).toBe('Bearer from-command')
    expect(asked).toEqual(['pass show model'])
    expect((await sent({ apiKeyEnv: 'NOT_SET' }, { environment }))['authorization']).toBeUndefined()
  })

  test('headers go along, from variables as well', async () => {
    expect(await sent({ headers: { 'x-team': 'blue', 'x-secret': '$MY_KEY', 'x-mixed': 'Token ${MY_KEY}' } }, { environment })).toMatchObject({ 'x-team': 'blue', 'x-secret': 'from-variable', 'x-mixed': 'Token from-variable' })
  })

  test('each protocol has its own header for it', async () => {
    await using server = await startModelServer([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
    const models = modelsOf(server)
    for (const id of ['anthropic/claude-opus-5', 'responses/gpt-5', 'google/gemini-2.5-pro']) await ask(await models.get(id), { messages: [user('go')] })
    expect(server.requests.map(({ headers }) => headers['x-api-key'] ?? headers['authorization'] ?? headers['x-goog-api-key'])).toEqual(['test-key-of-anthropic', 'Bearer test-key-of-responses', 'test-key-of-google'])
  })

  test('without a key, nothing is sent and the error says which variable to set', async () => {
    for (const [id, names] of [['anthropic/claude-opus-5', 'ANTHROPIC_API_KEY'], ['google/gemini-2.5-pro', 'GEMINI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY']] as const) {
      const { fault } = await ask(await modelsOf(none).get(id), { messages: [user('go')] })
      expect(fault).toMatchObject({ kind: 'auth', message: expect.stringContaining(`Set ${names}.`) as string })
    }
  })

  test('a command that fails or prints nothing is named', async () => {
    const models = (runCommand: ModelsOptions['runCommand']) => modelsOf({ providers: { mine: { type: 'openai-compatible', baseURL: 'http://127.0.0.1:1/v1', apiKey: '!broken' } } as never }, { runCommand })
    expect((await ask(await models(() => Promise.reject(new Error('exit 1'))).get('mine/m'), { messages: [user('go')] })).fault).toMatchObject({ kind: 'auth', message: expect.stringContaining('providers.mine.apiKey failed: exit 1') as string })
    expect((await ask(await models(() => Promise.resolve(' \n')).get('mine/m'), { messages: [user('go')] })).fault?.message).toContain('printed nothing')
  })
})

describe('what is known of a model', () => {
  const limitsOf = async (id: string, providers: object = {}) => (await modelsOf({ providers } as never, { now: () => Date.parse('2026-11-29') }).get(id)).limits

  test('the catalog knows the usual ones, also by dated names', async () => {
    expect(await limitsOf('anthropic/claude-haiku-4-5-20251001')).toEqual({ contextWindow: 200_000, maxOutput: 64_000, images: true, guessed: false, price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 } })
    expect(await limitsOf('openai/gpt-5.4-mini-2026-03-17')).toMatchObject({ contextWindow: 400_000, price: { input: 0.75, output: 4.5 } })
    expect(await limitsOf('openrouter/anthropic/claude-opus-4.5')).toMatchObject({ contextWindow: 200_000, price: { input: 5, output: 25 } })
  })

  test('a member of a family that the catalog does not have is a guess, and its price is unknown', async () => {
    expect(await limitsOf('anthropic/claude-next-9')).toMatchObject({ guessed: true, price: null, images: true })
    expect(await limitsOf('openai/gpt-5-unheard-of')).toMatchObject({ guessed: true, price: null })
    expect(await limitsOf('openrouter/some/model')).toEqual({ contextWindow: null, maxOutput: null, images: false, price: null, guessed: false })
  })

  test("the person's word goes before all", async () => {
    const providers = { anthropic: { models: { 'claude-next-9': { contextWindow: 9_000, maxOutput: 900, images: false, price: { input: 7, output: 8 } } } } }
    expect(await limitsOf('anthropic/claude-next-9', providers)).toEqual({ contextWindow: 9_000, maxOutput: 900, images: false, guessed: false, price: { input: 7, output: 8, cacheRead: 7, cacheWrite: 7 } })
  })

  test('an announced price holds from its day on', async () => {
    const priceOn = async (day: string) => (await modelsOf(none, { now: () => Date.parse(day) }).get('google/gemini-4-argon')).limits.price?.input
    expect([await priceOn('2026-11-30'), await priceOn('2026-12-01')]).toEqual([2, 4])
  })

  test('list() needs no network: the catalog and what is configured, ready where there is a key', () => {
    const models = modelsOf({ providers: { mine: { type: 'openai-compatible', baseURL: 'http://127.0.0.1:9/v1', models: { big: { contextWindow: 5 } } } } } as never, { environment: { OPENAI_API_KEY: 'k' } })
    const listed = models.list()
    expect(listed.find(({ id }) => id === 'mine/big')).toMatchObject({ from: 'config', ready: true, limits: { contextWindow: 5 } })
    expect(listed.find(({ id }) => id === 'openai/gpt-5')).toMatchObject({ from: 'catalog', ready: true, effort: true })
    expect(listed.find(({ id }) => id === 'anthropic/claude-opus-5')).toMatchObject({ ready: false })
  })
})

/** A server that answers fixed JSON by path. */
async function answering(answers: Record<string, unknown>): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      const { model = '' } = (chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}) as { model?: string }
      const answer = answers[`${request.url}${model && ` ${model}`}`]
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? {}))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))) }
}

const NOBODY = 'http://127.0.0.1:1/v1'

describe('local servers are asked for their real limits', () => {
  test('Ollama: the window it is loaded with, else the one set, else its largest as a guess', async () => {
    await using server = await answering({
      '/api/tags': { models: [{ model: 'qwen3:8b' }, { model: 'set:1b' }, { model: 'cold:1b' }] },
      '/api/ps': { models: [{ model: 'qwen3:8b', context_length: 32_768 }] },
      '/api/show qwen3:8b': { capabilities: ['completion', 'tools', 'thinking'], model_info: { 'qwen3.context_length': 40_960 } },
      '/api/show set:1b': { capabilities: ['vision'], parameters: 'stop "x"\nnum_ctx                        16384', model_info: { 'x.context_length': 131_072 } },
      '/api/show cold:1b': { model_info: { 'x.context_length': 131_072 } },
    })
    const models = modelsOf({ providers: { ollama: { baseURL: `${server.url}/v1` }, lmstudio: { baseURL: NOBODY }, llamacpp: { baseURL: NOBODY } } } as never)
    const found = await models.discover()
    expect(found.map(({ id, limits, effort }) => [id, limits.contextWindow, limits.guessed, limits.images, effort])).toEqual([
      ['ollama/qwen3:8b', 32_768, false, false, true], ['ollama/set:1b', 16_384, false, true, false], ['ollama/cold:1b', 131_072, true, false, false],
    ])
    expect((await models.get('ollama/qwen3:8b')).limits).toEqual({ contextWindow: 32_768, maxOutput: null, images: false, guessed: false, price: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } })
    expect(await models.firstUsable()).toBe('ollama/qwen3:8b')
  })

  test('LM Studio and llama.cpp', async () => {
    await using studio = await answering({ '/api/v0/models': { data: [{ id: 'text-embed', type: 'embeddings' }, { id: 'gemma', type: 'vlm', state: 'loaded', max_context_length: 131_072, loaded_context_length: 8_192 }] } })
    await using cpp = await answering({ '/props': { default_generation_settings: { n_ctx: 24_576 }, modalities: { vision: true } }, '/v1/models': { data: [{ id: 'qwen.gguf' }] } })
    const models = modelsOf({ providers: { ollama: { baseURL: NOBODY }, lmstudio: { baseURL: `${studio.url}/v1` }, llamacpp: { baseURL: `${cpp.url}/v1` } } } as never)
    expect((await models.discover()).map(({ id, limits }) => [id, limits.contextWindow, limits.guessed, limits.images])).toEqual([['lmstudio/gemma', 8_192, false, true], ['llamacpp/qwen.gguf', 24_576, false, true]])
  })

  test('a server that is not there leaves the limits unknown, and names itself when it is used', async () => {
    const models = modelsOf({ providers: { ollama: { baseURL: NOBODY }, lmstudio: { baseURL: NOBODY }, llamacpp: { baseURL: NOBODY } } } as never)
    expect(await models.discover()).toEqual([])
    const model = await models.get('ollama/x')
    expect(model.limits.contextWindow).toBeNull()
    expect((await ask(model, { messages: [user('go')] })).fault?.message).toContain('ollama cannot be reached at 127.0.0.1:1')
  })
})

describe('the model to begin with', () => {
  const nobody = { ollama: { baseURL: NOBODY }, lmstudio: { baseURL: NOBODY }, llamacpp: { baseURL: NOBODY } }
  const first = (environment: Record<string, string>, providers: object = {}, more: Partial<ModelsOptions> = {}): Promise<string | undefined> => modelsOf({ providers: { ...nobody, ...providers } } as never, { environment, ...more }).firstUsable()

  test('of the first provider with a key', async () => {
    expect(await first({ OPENAI_API_KEY: 'k' })).toBe('openai/gpt-6.2-sol')
    expect(await first({ OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' })).toBe('anthropic/claude-sonnet-5-5')
    expect(await first({ GOOGLE_GENERATIVE_AI_API_KEY: 'k' })).toBe('google/gemini-4-argon')
    expect(await first({ OPENAI_API_KEY: 'k' }, { mine: { type: 'openai-compatible', baseURL: 'https://x.example/v1', apiKey: 'k', models: { big: {} } } })).toBe('mine/big')
  })

  test('else of a configured server on this machine, else none', async () => {
    await using server = await startModelServer([], { models: ['here'] })
    expect(await first({}, { mine: { type: 'openai-compatible', baseURL: server.baseURL('chat') } })).toBe('mine/here')
    expect(await first({})).toBeUndefined()
  })

  test('offline, a key for the network is of no use', async () => {
    expect(await first({ OPENAI_API_KEY: 'k' }, {}, { offline: true })).toBeUndefined()
  })
})

test('what a provider offers is asked with its own key', async () => {
  await using server = await startModelServer([], { models: ['a', 'b'] })
  const models = modelsOf(server)
  for (const name of ['chat', 'anthropic', 'responses', 'google']) expect((await models.ask(name)).map(({ id }) => id)).toEqual([`${name}/a`, `${name}/b`])
})

test('effort goes to those that take it, in their own words', async () => {
  const sent = async (id: string, effort: 'none' | 'low' | 'medium' | 'high' | 'max', models = {}): Promise<unknown> => {
    await using server = await startModelServer([{ text: 'x' }])
    const [name, model] = id.split('/') as ['chat', string]
    await ask(await modelsOf({ providers: { ...server.providers, [name]: { ...server.providers[name], models: { [model]: models } } } as never }).get(id), { messages: [user('go')], effort })
    const body = server.requests[0]!.body as Record<string, Record<string, unknown> | undefined>
    return body['reasoning_effort'] ?? body['reasoning'] ?? (body['thinking'] && { ...body['thinking'], ...body['output_config'] }) ?? body['generationConfig']?.['thinkingConfig']
  }
  expect(await sent('chat/m', 'high')).toBeUndefined()
  expect(await sent('chat/gpt-oss:20b', 'max')).toBe('high')
  expect(await sent('chat/m', 'max', { effort: ['low', 'max'] })).toBe('max')
  expect(await sent('chat/gpt-oss:20b', 'none')).toBeUndefined()
  expect(await sent('responses/gpt-5.6', 'max')).toMatchObject({ effort: 'max' })
  expect(await sent('responses/gpt-5', 'max')).toMatchObject({ effort: 'high' })
  expect(await sent('responses/gpt-4.1', 'high')).toBeUndefined()
  expect(await sent('anthropic/claude-opus-5', 'low')).toMatchObject({ type: 'adaptive', effort: 'low' })
  expect(await sent('anthropic/claude-sonnet-4-5', 'high')).toMatchObject({ type: 'enabled', budget_tokens: 38_400 })
  expect(await sent('anthropic/claude-sonnet-4-5', 'none')).toMatchObject({ type: 'disabled' })
  expect(await sent('google/gemini-3.5-flash', 'max')).toMatchObject({ thinkingLevel: 'high', includeThoughts: true })
  expect(await sent('google/gemini-2.5-flash', 'none')).toMatchObject({ thinkingBudget: 0 })
})

test('the limit of the output leaves room for the input', async () => {
  await using server = await startModelServer([{ text: 'x' }, { text: 'x' }])
  const model = await modelsOf(server).get('anthropic/claude-sonnet-4-5')
  await ask(model, { messages: [user('short')], effort: 'none' })
  await ask(model, { messages: [user('x'.repeat(480_000))], effort: 'none' })
  expect(server.requests.map(({ body }) => body['max_tokens'])).toEqual([64_000, expect.any(Number)])
  expect(server.requests[1]!.body['max_tokens'] as number).toBeLessThan(40_000)
  expect(server.requests[1]!.body['max_tokens'] as number).toBeGreaterThan(4_000)
})

test('a thought that lost its conversation is dropped by the newest Claude models, not refused', async () => {
  const { anthropic } = await import('../../src/model/anthropic.ts')
  const limits = { contextWindow: 1, maxOutput: 1, images: true, price: null, guessed: false }
  const options = anthropic.options({ request: { system: '', tools: [], messages: [], effort: 'high' }, facts: { provider: 'anthropic', model: 'claude-opus-5-5', host: 'api.anthropic.com', limits, effort: true }, prompt: [], maxOutput: undefined })
  expect(options.providerOptions?.['anthropic']).toMatchObject({ thinking: { blockBinding: { prefixMismatchBehavior: 'drop_block' } }, effort: 'high' })
})

test('text comes as it was written, whatever it is', async () => {
  const strange = '<think>a</think> \u001b[31m data: [DONE]\r\n\ttab\u2028"quotes" \\ 日本 🙂'
  await using server = await startModelServer([{ text: strange, deltas: 9 }])
  expect(textOf((await ask(await modelsOf(server).get('chat/m'), { messages: [user('go')] })).end.parts)).toBe(strange)
})
