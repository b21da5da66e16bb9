import { afterEach, describe, expect, test } from 'vitest'
import { startModelServer, type ModelServer, type Step, type WireProtocol } from '../support/model-server.ts'
import { ask, callsOf, MODEL, modelsOf, PROTOCOLS, textOf, turn, user, type Asked } from '../support/model-asks.ts'
import type { Message } from '../../src/core/ports.ts'

/** The same work over each of the four protocols, every request held against the provider's published rules. */

let server: ModelServer | undefined
afterEach(() => server?.close())

const work: Step[] = [
  { reasoning: 'First the file must be there.', text: 'I write the file.', calls: [{ name: 'write', input: { path: 'a.txt', content: 'älpha\nbeta\n' } }] },
  { reasoning: 'Now read it back.', calls: [{ name: 'read', input: { path: 'a.txt' } }] },
  { text: 'An edit and a look at once.', calls: [{ name: 'edit', input: { path: 'a.txt', edits: [{ old: 'beta', new: 'BETA' }] } }, { name: 'shell', input: { command: 'cat a.txt' } }] },
  { text: 'A long file:', calls: [{ name: 'write', input: { path: 'b.txt', content: 'x'.repeat(2_000) } }], stop: 'length' },
  { calls: [{ name: 'shell', input: {} }] },
  { text: 'Done.', usage: { input: 1_000, output: 40, cacheRead: 600, reasoning: 12 } },
]

describe.each(PROTOCOLS)('over %s', (protocol) => {
  test('write, read, edit and shell, two calls in one reply, a reply cut by its limit', async () => {
    server = await startModelServer(work)
    const model = await modelsOf(server).get(MODEL[protocol])
    let messages: Message[] = [user('Do it.')]
    const replies: Asked[] = []
    for (const step of work) {
      const asked = await ask(model, { messages, effort: 'medium' })
      expect(asked.fault).toBeUndefined()
      expect(callsOf(asked.end.parts).map(({ name, input }) => [name, input])).toEqual((step.calls ?? []).map(({ name, input }) => [name, input]))
      replies.push(asked)
      messages = [...messages, ...turn(asked.end, (call) => (call.name === 'shell' ? { text: 'exit 1', failed: true } : { text: '' }))]
    }
    expect(server.requests.flatMap(({ problems }) => problems)).toEqual([])
    expect(replies.map(({ end }) => end.stop)).toEqual(['calls', 'calls', 'calls', 'length', 'calls', 'end'])
    expect(textOf(replies.at(-1)?.end.parts ?? [])).toBe('Done.')
    expect(replies.at(-1)?.end.usage).toMatchObject({ input: 1_000, output: 40, cacheRead: 600 })
    expect(new Set(replies.flatMap(({ end }) => callsOf(end.parts).map(({ id }) => id))).size).toBe(6)
  })

  test('the wire facts are those of the body that was sent, and its beginning stays the same', async () => {
    server = await startModelServer([{ calls: [{ name: 'read', input: { path: 'a' } }] }, { text: 'ok' }])
    const model = await modelsOf(server).get(MODEL[protocol])
    const first = await ask(model, { messages: [user('go')] })
    const again = await ask(model, { messages: [user('go'), ...turn(first.end)] })
    const { createHash } = await import('node:crypto')
    for (const [index, asked] of [first, again].entries()) {
      const { raw } = server.requests[index]!
      expect(asked.end.wire).toMatchObject({ sha256: createHash('sha256').update(raw).digest('hex'), bytes: raw.length })
      expect(asked.end.wire?.package).toMatch(/^@ai-sdk\/[a-z-]+@\d+\.\d+\.\d+$/)
    }
    const [one, two] = server.requests.map(({ body }) => body)
    for (const field of ['tools', 'system', 'systemInstruction']) expect(two?.[field]).toEqual(one?.[field])
  })

  test('a refusal is a reply that was stopped by a filter', async () => {
    server = await startModelServer([{ text: 'I cannot', stop: 'filter' }])
    const asked = await ask(await modelsOf(server).get(MODEL[protocol]), { messages: [user('go')] })
    expect([asked.end.stop, textOf(asked.end.parts)]).toEqual(['filter', 'I cannot'])
  })

  test('a 429 says how long to wait, and nothing is tried again in here', async () => {
    server = await startModelServer([{ status: 429, headers: { 'retry-after': '7' }, json: { error: { message: 'Slow down, please.', type: 'rate_limit_error' } } }])
    const asked = await ask(await modelsOf(server).get(MODEL[protocol]), { messages: [user('go')] })
    expect(asked.fault).toMatchObject({ kind: 'rate-limit', status: 429, retryAfterMs: 7_000, message: expect.stringContaining('Slow down, please.') as string })
    expect(server.requests).toHaveLength(1)
  })

  test('a stream that is dropped is a broken connection, whatever came before', async () => {
    server = await startModelServer([{ text: 'I begin and', calls: [{ name: 'read', input: { path: 'a' } }], deltas: 4, cut: 3 }])
    const asked = await ask(await modelsOf(server).get(MODEL[protocol]), { messages: [user('go')] })
    expect(asked.fault?.kind).toBe('network')
  })

  test('a stream that ends early, but properly, is not taken for a whole reply', async () => {
    server = await startModelServer([{ text: 'I begin and never come to the point', deltas: 4, close: 4 }])
    const asked = await ask(await modelsOf(server).get(MODEL[protocol]), { messages: [user('go')] })
    expect(asked.fault?.kind).toBe('network')
  })

  test('an abort in the middle keeps what was said and closes the connection', async () => {
    server = await startModelServer([{ text: 'one two three four', deltas: 4, silent: 4 }])
    const stop = new AbortController()
    let begun = 0
    let end
    for await (const event of (await modelsOf(server).get(MODEL[protocol])).stream({ system: 's', tools: [], messages: [user('go')] }, stop.signal)) {
      if (event.type === 'end') end = event
      else {
        begun ||= performance.now()
        stop.abort()
      }
    }
    expect(performance.now() - begun).toBeLessThan(1_000)
    expect(end?.stop).toBe('interrupted')
    expect('one two three four'.startsWith(textOf(end?.parts ?? []))).toBe(true)
    expect((await server.requests[0]?.closed)?.aborted).toBe(true)
  })

  test('images go to a model that sees, also in results; to another one a note', async () => {
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64')
    const image = { blob: { sha256: 'p', bytes: png.length }, mediaType: 'image/png', name: 'dot.png' }
    const conversation = (): Message[] => [
      { role: 'user', parts: [{ type: 'text', text: 'Look.' }, { type: 'image', image }] },
      { role: 'assistant', parts: [{ type: 'call', id: 'c1', name: 'read', input: { path: 'dot.png' } }] },
      { role: 'tool', results: [{ call: 'c1', name: 'read', failed: false, text: 'dot.png, 1 x 1', images: [image] }] },
      user('And now?'),
    ]
    for (const sees of [true, false]) {
      await server?.close()
      server = await startModelServer([{ text: 'a dot' }])
      const [name, model] = MODEL[protocol].split('/') as [WireProtocol, string]
      const providers = { ...server.providers, [name]: { ...server.providers[name], models: { [model]: { images: sees } } } }
      const asked = await ask(await modelsOf({ providers }, { blobs: { get: () => png } }).get(MODEL[protocol]), { messages: conversation() })
      expect(asked.fault).toBeUndefined()
      const sent = server.requests[0]?.raw.toString() ?? ''
      expect(sent.split(png.toString('base64')).length - 1).toBe(sees ? 2 : 0)
      expect(sent.includes('this model cannot see images')).toBe(!sees)
    }
  })

  test('strange histories are put into a form that the rules allow', async () => {
    server = await startModelServer([{ text: 'fine' }])
    const long = `call_x|fc_${'y'.repeat(80)}`
    const messages: Message[] = [
      { role: 'assistant', parts: [{ type: 'text', text: 'A reply comes first after a compaction.' }] },
      user('  '),
      user('and'),
      user('more'),
      { role: 'assistant', parts: [
        { type: 'reasoning', text: 'of another provider', opaque: { by: 'elsewhere:x', data: { sdk: { anthropic: { signature: 'reasoning_content' }, openai: { itemId: 'rs_1', reasoningEncryptedContent: 'z' }, google: { thoughtSignature: 'q' } } } } },
        { type: 'text', text: ' ' },
        { type: 'call', id: `${long}1`, name: 'functions.read', input: { path: 'a' } },
        { type: 'call', id: `${long}2`, name: '', input: null, invalid: 'not JSON' },
      ] },
      { role: 'tool', results: [{ call: `${long}1`, name: 'functions.read', failed: false, text: '' }, { call: `${long}2`, name: '', failed: true, text: 'no' }] },
      { role: 'assistant', parts: [{ type: 'call', id: 'same', name: 'read', input: {} }, { type: 'call', id: 'same', name: 'shell', input: {} }] },
      { role: 'tool', results: [{ call: 'same', name: 'read', failed: false, text: 'first' }, { call: 'same', name: 'shell', failed: false, text: 'second' }] },
      { role: 'assistant', parts: [{ type: 'reasoning', text: 'cut off in thought' }, { type: 'text', text: '\n' }] },
      user('go on'),
    ]
    const asked = await ask(await modelsOf(server).get(MODEL[protocol]), { messages, effort: 'high' })
    expect(server.requests[0]?.problems).toEqual([])
    expect(textOf(asked.end.parts)).toBe('fine')
  })
})

test('a session that changes its provider at each turn stays valid, and each gets its own state back', async () => {
  const thinking = (round: number): Step[] => [
    { reasoning: `thought ${round}`, text: `said ${round}`, calls: [{ name: 'read', input: { path: `${round}` }, id: 'call_0' }, { name: 'shell', input: { command: 'ls' } }] },
    { reasoning: `second thought ${round}`, text: `done ${round}` },
  ]
  server = await startModelServer(Array.from({ length: 10 }, (_, round) => thinking(round)).flat())
  const models = modelsOf(server)
  let messages: Message[] = []
  const order: WireProtocol[] = ['anthropic', 'chat', 'responses', 'google', 'anthropic', 'google', 'chat', 'responses', 'anthropic', 'chat']
  for (const protocol of order) {
    messages = [...messages, user(`now with ${protocol}`)]
    const model = await models.get(MODEL[protocol])
    for (let step = 0; step < 2; step++) {
      const asked = await ask(model, { messages, effort: 'high' })
      expect(asked.fault).toBeUndefined()
      // What goes to the disk is what comes back.
      messages = [...messages, ...(JSON.parse(JSON.stringify(turn(asked.end))) as Message[])]
    }
  }
  expect(server.requests.map(({ problems }) => problems).flat()).toEqual([])
  const lastOf = (protocol: WireProtocol): string => server?.requests.findLast((request) => request.protocol === protocol)?.raw.toString() ?? ''
  // Thoughts of rounds 0, 4 and 8 are Anthropic's, of 1 and 6 the compatible server's, and so on.
  expect(['thought 0', 'thought 4', 'thought 1'].map((thought) => lastOf('anthropic').includes(`"${thought}"`))).toEqual([true, true, false])
  expect(['thought 1', 'thought 6', 'thought 0'].map((thought) => lastOf('chat').includes(`"${thought}"`))).toEqual([true, true, false])
  expect(['thought 2', 'thought 7', 'thought 3'].map((thought) => lastOf('responses').includes(`"${thought}"`))).toEqual([true, true, false])
})

test('a change of provider in the middle of the calls goes on where it was', async () => {
  for (const [from, to] of [['chat', 'anthropic'], ['anthropic', 'google'], ['google', 'responses'], ['responses', 'chat']] as const) {
    await server?.close()
    server = await startModelServer([{ reasoning: 'hm', text: 'Wait.', calls: [{ name: 'read', input: { path: 'a' } }] }, { text: 'ok' }])
    const models = modelsOf(server)
    const first = await ask(await models.get(MODEL[from]), { messages: [user('go')], effort: 'high' })
    const target = to === 'anthropic' ? 'anthropic/claude-sonnet-4-5' : MODEL[to]
    const second = await ask(await models.get(target), { messages: [user('go'), ...turn(first.end)], effort: 'high' })
    expect(server.requests[1]?.problems).toEqual([])
    expect(textOf(second.end.parts)).toBe('ok')
  }
})
