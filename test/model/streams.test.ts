import { afterEach, expect, test } from 'vitest'
import { startModelServer, type ModelServer, type Step } from '../support/model-server.ts'
import { ask, callsOf, modelsOf, textOf, turn, user, type Asked } from '../support/model-asks.ts'

/** Streams as servers of public reports send them, over Chat Completions. The number of the report is in the name. */

let server: ModelServer | undefined
afterEach(() => server?.close())

async function play(bytes: Step['bytes'], more: Partial<Step> = {}): Promise<Asked> {
  server = await startModelServer([{ bytes, ...more } as Step])
  return ask(await modelsOf(server).get('chat/m'), { messages: [user('go')] })
}

const chunk = (delta: object, finish_reason?: string | null, more: object = {}): string => `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, ...(finish_reason === undefined ? {} : { finish_reason }) }], ...more })}\n\n`
const call = (fields: object): string => chunk({ tool_calls: [fields] })
const DONE = 'data: [DONE]\n\n'
const inputs = (asked: Asked): [string, unknown][] => callsOf(asked.end.parts).map(({ name, input }) => [name, input])

test('P1: a character split by the network is put together again', async () => {
  const bytes = Buffer.from(chunk({ content: '日本🙂' }) + chunk({ content: 'é' }, 'stop') + DONE)
  const asked = await play([...bytes].map((byte) => Buffer.from([byte])))
  expect(textOf(asked.end.parts)).toBe('日本🙂é')
  expect(asked.end.stop).toBe('end')
})

for (const [name, change] of Object.entries({
  'CRLF': (text: string) => text.replaceAll('\n', '\r\n'),
  'lone CR': (text: string) => text.replaceAll('\n', '\r'),
  'no blank after the colon': (text: string) => text.replaceAll('data: ', 'data:'),
  'one line feed between events': (text: string) => text.replaceAll('\n\n', '\n'),
  'a byte order mark': (text: string) => `\ufeff${text}`,
})) {
  test(`P2: events framed with ${name} are read like any others`, async () => {
    const text = change(chunk({ content: 'one ' }) + chunk({ content: 'two' }) + chunk({}, 'stop') + DONE)
    const asked = await play(text)
    expect([textOf(asked.end.parts), asked.end.stop]).toEqual(['one two', 'end'])
  })
}

test('P2: a CRLF split between two writes is one line end', async () => {
  const asked = await play((chunk({ content: 'a' }) + chunk({ content: 'b' }, 'stop')).replaceAll('\n', '\r\n').split(''))
  expect(textOf(asked.end.parts)).toBe('ab')
})

test('P4: comments before, between and glued to events are no data', async () => {
  const asked = await play([': OPENROUTER PROCESSING\n\n', ': ping\n', `: glued\n${chunk({ content: 'a' })}:x\n${chunk({ content: 'b' }, 'stop')}`, DONE])
  expect(textOf(asked.end.parts)).toBe('ab')
})

test('P4: comments are signs of life for the idle limit', async () => {
  server = await startModelServer([{ bytes: [...Array.from({ length: 12 }, () => ': keep-alive\n\n'), chunk({ content: 'late' }, 'stop'), DONE], delayMs: 50 }])
  const asked = await ask(await modelsOf(server, { idleMs: 300 }).get('chat/m'), { messages: [user('go')] })
  expect(textOf(asked.end.parts)).toBe('late')
})

test('P6: a last event without its blank line counts, usage as well', async () => {
  const asked = await play([chunk({ content: 'all' }), chunk({}, 'stop'), `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } })}`])
  expect(textOf(asked.end.parts)).toBe('all')
  expect(asked.end.usage).toEqual({ input: 7, output: 3 })
})

test('P6: so does a finish chunk', async () => {
  const asked = await play([chunk({ content: 'all' }), chunk({}, 'stop').trimEnd()])
  expect([textOf(asked.end.parts), asked.end.stop]).toEqual(['all', 'end'])
})

test('P7: calls that all have index 0 are told apart by their ids', async () => {
  const one = (id: string, path: string): string => call({ index: 0, id, type: 'function', function: { name: 'read', arguments: JSON.stringify({ path }) } })
  const asked = await play([one('a', '1'), one('b', '2'), chunk({}, 'tool_calls'), DONE])
  expect(inputs(asked)).toEqual([['read', { path: '1' }], ['read', { path: '2' }]])
})

const pieces = (at: (index: number, first: boolean) => object): string[] =>
  [0, 1].flatMap((index) => [
    call({ ...at(index, true), type: 'function', function: { name: index === 0 ? 'read' : 'shell', arguments: '' } }),
    call({ ...at(index, false), function: { arguments: `{"path":` } }),
    call({ ...at(index, false), function: { arguments: `"${index}"}` } }),
  ])
for (const [name, at] of Object.entries({
  'no index': (index: number) => ({ id: `id${index}` }),
  'no index and the id only in the first delta': (index: number, first: boolean) => (first ? { id: `id${index}` } : {}),
  'no id': (index: number) => ({ index }),
  'the id only in the first delta': (index: number, first: boolean) => (first ? { index, id: `id${index}` } : { index }),
  'a null id later': (index: number, first: boolean) => ({ index, id: first ? `id${index}` : null }),
  'an empty id later': (index: number, first: boolean) => ({ index, id: first ? `id${index}` : '' }),
  'neither index nor id': () => ({}),
  'the same id': (index: number, first: boolean) => (first ? { index, id: 'call_0' } : { index }),
})) {
  test(`P8: two calls with ${name} are two calls`, async () => {
    const asked = await play([...pieces(at), chunk({}, 'tool_calls'), DONE])
    expect(inputs(asked)).toEqual([['read', { path: '0' }], ['shell', { path: '1' }]])
    const ids = callsOf(asked.end.parts).map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    expect(ids.join()).not.toMatch(/undefined|null/)
  })
}

test('P8: whole calls without index and id in one chunk are two calls', async () => {
  const whole = (path: string): object => ({ function: { name: 'read', arguments: JSON.stringify({ path }) } })
  const asked = await play([chunk({ tool_calls: [whole('1'), whole('2')] }, 'tool_calls'), DONE])
  expect(inputs(asked)).toEqual([['read', { path: '1' }], ['read', { path: '2' }]])
})

test('P9: arguments as an object are accepted, and go back as text', async () => {
  server = await startModelServer([{ bytes: [call({ index: 0, id: 'a', function: { name: 'read', arguments: { path: 'x' } } }), chunk({}, 'tool_calls'), DONE] }, { text: 'ok' }])
  const model = await modelsOf(server).get('chat/m')
  const asked = await ask(model, { messages: [user('go')] })
  expect(inputs(asked)).toEqual([['read', { path: 'x' }]])
  const next = await ask(model, { messages: [user('go'), ...turn(asked.end)] })
  expect(next.fault).toBeUndefined()
  expect(JSON.stringify(server.requests[1]?.body)).toContain('"arguments":"{\\"path\\":\\"x\\"}"')
})

for (const nothing of ['', undefined, '{}', 'null', ' ']) {
  test(`P10: a call with ${JSON.stringify(nothing)} for arguments is a call with {}`, async () => {
    const asked = await play([call({ index: 0, id: 'a', function: { name: 'read', ...(nothing === undefined ? {} : { arguments: nothing }) } }), chunk({}, 'tool_calls'), DONE])
    expect(callsOf(asked.end.parts)).toEqual([{ type: 'call', id: 'a', name: 'read', input: {} }])
    expect(asked.end.stop).toBe('calls')
  })
}

for (const [name, text] of Object.entries({ 'in the middle of a text': '{"path":"a","content":"abc', 'after a whole object': '{"path":"a","content":"abc"}' })) {
  test(`P12: a reply cut by the token limit ${name} says so`, async () => {
    const asked = await play([call({ index: 0, id: 'a', function: { name: 'write', arguments: text } }), chunk({}, 'length'), DONE])
    expect(asked.end.stop).toBe('length')
    expect(callsOf(asked.end.parts)).toHaveLength(1)
  })
}

test('P13: arguments that are no JSON are marked, and go back as valid JSON', async () => {
  server = await startModelServer([{ bytes: [call({ index: 0, id: 'a', function: { name: 'write', arguments: '{"path":"a","content":"abc' } }), chunk({}, 'tool_calls'), DONE] }, { text: 'ok' }])
  const model = await modelsOf(server).get('chat/m')
  const asked = await ask(model, { messages: [user('go')] })
  expect(callsOf(asked.end.parts)[0]).toMatchObject({ input: {}, invalid: expect.stringContaining('not valid JSON') as string })
  const next = await ask(model, { messages: [user('go'), ...turn(asked.end)] })
  expect(next.fault).toBeUndefined()
  expect(server.requests[1]?.problems).toEqual([])
})

test('P9: arguments that are no object are told, and not taken for none', async () => {
  const asked = await play([chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'read', arguments: ['x'] } }] }), chunk({}, 'tool_calls'), DONE])
  expect(asked.end.parts).toMatchObject([{ type: 'call', name: 'read', input: {}, invalid: expect.stringContaining('not a JSON object') as string }])
})

test('a call in the older form is a call', async () => {
  const asked = await play([chunk({ content: null, function_call: { name: 'read', arguments: '{"pa' } }), chunk({ function_call: { arguments: 'th":"x"}' } }), chunk({}, 'function_call'), DONE])
  expect(asked.end).toMatchObject({ stop: 'calls', parts: [{ type: 'call', name: 'read', input: { path: 'x' } }] })
})

test('P16: a whole text without a reason, but with the last word, is a reply', async () => {
  const asked = await play([chunk({ content: 'all of it' }), DONE])
  expect([textOf(asked.end.parts), asked.end.stop]).toEqual(['all of it', 'end'])
})

test('P16: so is a whole call without either', async () => {
  const asked = await play([call({ index: 0, id: 'a', function: { name: 'read', arguments: '{"path":"x"}' } })])
  expect([inputs(asked), asked.end.stop]).toEqual([[['read', { path: 'x' }]], 'calls'])
})

test.each([['error', 'server'], ['network_error', 'server'], ['insufficient_system_resource', 'overload'], ['abort', 'server']])('P16: a reply that stopped with %s is no reply', async (reason, kind) => {
  const asked = await play([chunk({ content: 'half of' }), chunk({}, reason), DONE])
  expect(asked.fault).toMatchObject({ kind, message: expect.stringContaining(reason) as string })
})

test('P16: half a text and a closed socket is a broken connection', async () => {
  const asked = await play([chunk({ content: 'half of' })], { cut: 1 })
  expect(asked.fault?.kind).toBe('network')
  expect(asked.deltas.map(({ text }) => text).join('')).toBe('half of')
})

test('P16: a text that just stops is no reply', async () => {
  expect((await play([chunk({ content: 'half of' })])).fault).toMatchObject({ kind: 'network', message: expect.stringContaining('in the middle of the reply') as string })
})

test('P16: nothing at all is said to be nothing', async () => {
  expect((await play([])).fault).toMatchObject({ kind: 'garbage', message: expect.stringContaining('answered with nothing') as string })
  await server?.close()
  expect((await play([DONE])).fault?.kind).toBe('garbage')
})

test('P17: an error that a proxy puts into the stream as plain text is an error', async () => {
  const asked = await play([chunk({ reasoning_content: 'let me' }), 'upstream error: reset\n'])
  expect(asked.fault).toMatchObject({ kind: 'server', message: expect.stringContaining('upstream error: reset') as string })
})

test('an error event in the stream ends it with its own message', async () => {
  const asked = await play([chunk({ content: 'a' }), `data: {"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream is gone"}}}\n\n`])
  expect(asked.fault).toMatchObject({ kind: 'server', status: 502, message: expect.stringContaining('upstream is gone') as string })
})

test('P18: a stream that goes silent ends at the idle limit', async () => {
  server = await startModelServer([{ text: 'a few words and then', deltas: 5, silent: 3 }])
  const asked = await ask(await modelsOf(server, { idleMs: 150 }).get('chat/m'), { messages: [user('go')] })
  expect(asked.fault).toMatchObject({ kind: 'idle', message: expect.stringContaining('sent nothing for 150 ms') as string })
  expect((await server.requests[0]?.closed)?.aborted).toBe(true)
})

test('P18: the limit of a provider is its own, and the message says how to set it', async () => {
  server = await startModelServer([{ text: 'a few words and then', deltas: 5, silent: 3 }])
  const providers = { ...server.providers, chat: { ...server.providers.chat, idleSeconds: 0.2 } }
  const asked = await ask(await modelsOf({ providers }).get('chat/m'), { messages: [user('go')] })
  expect(asked.fault).toMatchObject({ kind: 'idle', message: expect.stringMatching(/sent nothing for 200 ms\b.*providers\.chat\.idleSeconds/) as string })
})

test('P18: so does a server that never sends its headers', async () => {
  let release = (): void => undefined
  server = await startModelServer([{ hold: new Promise<void>((resolve) => (release = resolve)) }])
  const asked = await ask(await modelsOf(server, { idleMs: 150 }).get('chat/m'), { messages: [user('go')] })
  release()
  expect(asked.fault?.kind).toBe('idle')
})

test('P18: an abort stops a silent stream, keeps what was there and closes the connection', async () => {
  server = await startModelServer([{ text: 'a few words', calls: [{ name: 'read', input: { path: 'x' } }], deltas: 3, silent: 6 }])
  const stop = new AbortController()
  const model = await modelsOf(server).get('chat/m')
  const events: string[] = []
  let begun = 0
  for await (const event of model.stream({ system: 's', tools: [], messages: [user('go')] }, stop.signal)) {
    if (event.type === 'delta' && event.kind === 'call') {
      begun = performance.now()
      stop.abort()
    }
    if (event.type === 'end') events.push(event.stop, textOf(event.parts), callsOf(event.parts)[0]?.invalid ?? 'valid')
  }
  expect(performance.now() - begun).toBeLessThan(1_000)
  expect(events).toEqual(['interrupted', 'a few words', 'the reply ended before its arguments were complete'])
  expect((await server.requests[0]?.closed)?.aborted).toBe(true)
})

test('P18: an abort before the headers stops at once', async () => {
  let release = (): void => undefined
  server = await startModelServer([{ hold: new Promise<void>((resolve) => (release = resolve)) }])
  const stop = new AbortController()
  const asking = ask(await modelsOf(server).get('chat/m'), { messages: [user('go')] }, stop.signal)
  await server.request(0)
  const begun = performance.now()
  stop.abort()
  expect((await asking).end.stop).toBe('interrupted')
  expect(performance.now() - begun).toBeLessThan(1_000)
  release()
})

const usage = { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 }
for (const [name, events, expected] of [
  ['in the last chunk with text', [chunk({ content: 'a' }), chunk({ content: 'b' }, 'stop', { usage })], { input: 12, output: 4 }],
  ['null in all chunks', [chunk({ content: 'a' }, null, { usage: null }), chunk({ content: 'b' }, 'stop', { usage: null })], 'estimated'],
  ['nowhere', [chunk({ content: 'a' }), chunk({ content: 'b' }, 'stop')], 'estimated'],
  ['cumulative in each chunk', [chunk({ content: 'a' }, null, { usage: { ...usage, completion_tokens: 1 } }), chunk({ content: 'b' }, 'stop', { usage })], { input: 12, output: 4 }],
  ['in the choice', [`data: ${JSON.stringify({ choices: [{ delta: { content: 'ab' }, finish_reason: 'stop', usage }] })}\n\n`], { input: 12, output: 4 }],
  ['as text', [chunk({ content: 'ab' }, 'stop', { usage: { prompt_tokens: '12', completion_tokens: 'NaN' } })], 'estimated'],
  ['in an event without choices', [chunk({ content: 'ab' }, 'stop'), `data: ${JSON.stringify({ usage })}\n\n`], { input: 12, output: 4 }],
  ['with cached tokens in other words', [chunk({ content: 'ab' }, 'stop', { usage: { ...usage, prompt_cache_hit_tokens: 8 } })], { input: 12, output: 4, cacheRead: 8 }],
] as const) {
  test(`P27: usage ${name}`, async () => {
    const asked = await play([...events, DONE])
    expect(textOf(asked.end.parts)).toBe('ab')
    if (expected === 'estimated') {
      expect(asked.end.usage.estimated).toBe(true)
      expect(asked.end.usage.input).toBeGreaterThan(10)
      expect(asked.end.usage.output).toBeGreaterThan(0)
    } else expect(asked.end.usage).toEqual(expected)
  })
}

test('P29: an id that the server uses in every turn stays unique in the session and is paired on the wire', async () => {
  const steps: Step[] = Array.from({ length: 5 }, (_, index) => ({ calls: [{ id: 'call_0', name: index % 2 ? 'read' : 'shell', input: { path: String(index) } }] }))
  server = await startModelServer([...steps, { text: 'done' }])
  const model = await modelsOf(server).get('chat/m')
  let messages = [user('go')]
  const ids: string[] = []
  for (let index = 0; index < 6; index++) {
    const asked = await ask(model, { messages })
    expect(asked.fault).toBeUndefined()
    ids.push(...callsOf(asked.end.parts).map(({ id }) => id))
    messages = [...messages, ...turn(asked.end, (call) => ({ text: `result of ${call.id}` }))]
  }
  expect(ids[0]).toBe('call_0')
  expect(new Set(ids).size).toBe(5)
  expect(server.requests.flatMap(({ problems }) => problems)).toEqual([])
})

test('P25: reasoning_content goes back with calls, also from what is on the disk, and with nothing else', async () => {
  server = await startModelServer([
    ...[1, 2, 3].map((round): Step => ({ reasoning: `thought ${round}`, calls: [{ name: 'read', input: { path: 'x' } }] })),
    { reasoning: 'last thought', text: 'done' },
    { text: 'again' },
  ], { needsReasoning: true })
  const model = await modelsOf(server).get('chat/m')
  let messages = [user('go')]
  for (let index = 0; index < 4; index++) {
    const asked = await ask(model, { messages })
    expect(asked.fault).toBeUndefined()
    messages = [...messages, ...turn(JSON.parse(JSON.stringify(asked.end)) as typeof asked.end)]
  }
  const last = await ask(await modelsOf(server).get('chat/m'), { messages: [...messages, user('more')] })
  expect(textOf(last.end.parts)).toBe('again')
  const sent = JSON.stringify(server.requests.at(-1)?.body)
  expect([sent.includes('thought 1'), sent.includes('last thought')]).toEqual([true, false])
})

test('a field that the SDK would refuse does not cost the text beside it', async () => {
  const asked = await play([`data: {"id":7,"choices":[{"delta":{"role":"model","content":"kept","reasoning":{"x":1},"tool_calls":null},"finish_reason":""}],"usage":"none"}\n\n`, chunk({}, 'stop'), DONE])
  expect(textOf(asked.end.parts)).toBe('kept')
})

test('a server that does not stream is read all the same', async () => {
  server = await startModelServer([{ json: { id: 'x', choices: [{ message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }], usage } }])
  const asked = await ask(await modelsOf(server).get('chat/m'), { messages: [user('go')] })
  expect([textOf(asked.end.parts), asked.end.usage]).toEqual(['whole', { input: 12, output: 4 }])
})

test('a web page in place of an answer is named', async () => {
  server = await startModelServer([{ bytes: '<!doctype html><html><head><title>Sign in to the Wi-Fi</title></head></html>', headers: { 'content-type': 'text/html' } }])
  const asked = await ask(await modelsOf(server).get('chat/m'), { messages: [user('go')] })
  expect(asked.fault).toMatchObject({ kind: 'garbage', message: expect.stringContaining('Sign in to the Wi-Fi') as string })
})

test('what comes after the last word is not waited for', async () => {
  server = await startModelServer([{ bytes: [chunk({ content: 'all' }, 'stop'), DONE, 'never sent'], silent: 2 }])
  const begun = performance.now()
  const asked = await ask(await modelsOf(server).get('chat/m'), { messages: [user('go')] })
  expect(textOf(asked.end.parts)).toBe('all')
  expect(performance.now() - begun).toBeLessThan(2_000)
})

test('a connection that breaks after the reason to stop takes nothing away', async () => {
  const asked = await play([chunk({ content: 'all' }), chunk({}, 'stop')], { cut: 2 })
  expect([textOf(asked.end.parts), asked.end.stop]).toEqual(['all', 'end'])
})

test('a command that prints a key runs once, and again when its key was refused', async () => {
  server = await startModelServer([{ text: 'a' }, { text: 'b' }, { status: 401, json: { error: { message: 'expired' } } }, { text: 'c' }])
  let runs = 0
  const models = modelsOf({ providers: { ...server.providers, chat: { ...server.providers.chat, apiKey: '!key' } } }, { runCommand: () => Promise.resolve(`key-${++runs}`) })
  for (let request = 0; request < 4; request++) await ask(await models.get('chat/m'), { messages: [user('go')] })
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer key-1', 'Bearer key-1', 'Bearer key-1', 'Bearer key-2'])
})
