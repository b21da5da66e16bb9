import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Message, ModelError } from '../../src/core/ports.ts'
import { createReplay, openReplay } from '../../src/model/replay.ts'
import { ask, callsOf, modelsOf, textOf, turn, user } from '../support/model-asks.ts'

const folder = mkdtempSync(join(tmpdir(), 'tiller-replay-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const line = (record: object, seq: number): string => JSON.stringify({ seq, at: seq, ...record })
const reply = (parts: object[], stop: string, more: object = {}): object => ({ type: 'reply', run: 'r1', parts, stop, usage: { input: 5, output: 6 }, ...more })
const text = (value: string): object => ({ type: 'text', text: value })
const shell = (command: string, id = 'c1'): object => ({ type: 'call', id, name: 'shell', input: { command } })

const script = [
  { type: 'session', version: 1, id: 's', cwd: '/w', root: '/w' },
  { type: 'input', id: 'i1', text: 'fix it' },
  reply([text('I look.'), shell('ls')], 'calls'),
  { type: 'input', id: 'i2', text: 'be quick', when: 'next' },
  reply([], 'error', { fault: { kind: 'overload', message: 'x' } }),
  reply([{ type: 'reasoning', text: 'hm', opaque: { by: 'x', data: 1 } }, shell('make', 'c1')], 'calls'),
  { type: 'something-new', what: 1 },
  reply([text('Done.')], 'end'),
].map(line)

test('plays the replies one after the other, with fresh ids where they repeat, without the failed attempt and foreign state', async () => {
  const model = createReplay('replay/x', script)!
  let messages: Message[] = [user('fix it')]
  const said = []
  for (let step = 0; step < 4; step++) {
    const { end } = await ask(model, { messages })
    said.push(end)
    messages = [...messages, ...turn(end)]
  }
  expect(said.map(({ parts, stop }) => [textOf(parts), callsOf(parts).map(({ input }) => input), stop])).toEqual([
    ['I look.', [{ command: 'ls' }], 'calls'], ['', [{ command: 'make' }], 'calls'], ['Done.', [], 'end'], [expect.stringContaining('the script ends here'), [], 'end'],
  ])
  const ids = said.flatMap(({ parts }) => callsOf(parts).map(({ id }) => id))
  expect(ids[0]).toBe('c1')
  expect(new Set(ids).size).toBe(2)
  expect(JSON.stringify(said)).not.toContain('opaque')
})

test('goes on where the conversation stands: after a retry, a rewind and a resume', async () => {
  const first = await ask(createReplay('replay/x', script)!, { messages: [user('fix it')] })
  const held = [user('fix it'), ...turn(first.end)]
  const fresh = createReplay('replay/x', script)!
  for (let attempt = 0; attempt < 2; attempt++) expect(callsOf((await ask(fresh, { messages: held })).end.parts)[0]?.input).toEqual({ command: 'make' })
  expect(textOf((await ask(fresh, { messages: [user('fix it')] })).end.parts)).toBe('I look.')
})

test('says that it saw a message which the script did not expect, and goes on', async () => {
  const model = createReplay('replay/x', script)!
  const first = await ask(model, { messages: [user('fix it')] })
  const steered = await ask(model, { messages: [user('fix it'), ...turn(first.end), user('also update\nthe docs')] })
  expect(textOf(steered.end.parts)).toBe('Scripted model: I saw your message «also update the docs» and go on with the script.')
  expect(callsOf(steered.end.parts)[0]?.input).toEqual({ command: 'make' })
  const last = await ask(model, { messages: [user('fix it'), ...turn(first.end), user('also update\nthe docs'), ...turn(steered.end)] })
  expect(textOf(last.end.parts)).toBe('Done.')
})

test('a message that the script has is no surprise, and a script may have its own words for others', async () => {
  const expected = createReplay('replay/x', script)!
  const first = await ask(expected, { messages: [user('fix it')] })
  expect(textOf((await ask(expected, { messages: [user('fix it'), ...turn(first.end), user('be quick')] })).end.parts)).toBe('')
  const own = createReplay('replay/x', [...script, line(reply([text('Noted; first the build.')], 'end', { whenSteered: true }), 20)])!
  await ask(own, { messages: [user('fix it')] })
  expect(textOf((await ask(own, { messages: [user('fix it'), ...turn(first.end), user('and the docs')] })).end.parts)).toBe('Noted; first the build.')
})

test('at a pace it comes in pieces, and stops in the middle when told to', async () => {
  const model = createReplay('replay/x', script, { msPerDelta: 1 })!
  expect((await ask(model, { messages: [user('fix it')] })).deltas.length).toBeGreaterThan(2)
  const stop = new AbortController()
  const asking = ask(createReplay('replay/x', script, { msPerDelta: 60_000 })!, { messages: [user('fix it')] }, stop.signal)
  stop.abort()
  expect((await asking).end).toMatchObject({ stop: 'interrupted', parts: [] })
})

test('"replay/<file>" opens it; a file that is missing or holds nothing says so', async () => {
  const file = join(folder, 's.jsonl')
  writeFileSync(file, script.join('\n'))
  const model = await modelsOf({ providers: {} } as never, { cwd: folder }).get('replay/s.jsonl')
  expect(textOf((await ask(model, { messages: [user('fix it')] })).end.parts)).toBe('I look.')
  expect(model.limits.price).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })
  const fault = (name: string): Promise<string> => openReplay('replay/x', join(folder, name)).then(() => '', (error: ModelError) => error.fault.message)
  expect(await fault('none.jsonl')).toContain('cannot be read (ENOENT)')
  writeFileSync(join(folder, 'empty.jsonl'), script[0]!)
  expect(await fault('empty.jsonl')).toContain('holds no reply to play')
})

test("the demo's script plays to its end", async () => {
  const model = createReplay('replay/demo', readFileSync(new URL('../../fixtures/sessions/demo.jsonl', import.meta.url), 'utf8').split('\n'))!
  let messages: Message[] = [user('go')]
  let stop = ''
  for (let step = 0; step < 20 && stop !== 'end'; step++) {
    const { end } = await ask(model, { messages })
    messages = [...messages, ...turn(end)]
    stop = end.stop
  }
  const last = messages.at(-1)
  expect(last?.role === 'assistant' && textOf(last.parts)).toMatch(/^Done\./)
})

test('a step whose calls were cut short is played again, so that the script never says that it was done', async () => {
  const model = createReplay('replay/x', script)!
  const first = await ask(model, { messages: [user('fix it')] })
  const cut = (text: string): Message[] => [user('fix it'), turn(first.end)[0]!, { role: 'tool', results: [{ call: callsOf(first.end.parts)[0]!.id, name: 'shell', failed: true, text }] }, user('[The user interrupted the work above.]\ngo on')]
  for (const text of ['Not run: cancelled before it was approved.', 'half\n\n[interrupted after 1 s and ended]']) {
    const again = await ask(model, { messages: cut(text) })
    expect(callsOf(again.end.parts).map(({ input }) => input)).toEqual([{ command: 'ls' }])
    expect(textOf(again.end.parts)).toMatch(/I saw your message «go on»/)
  }
  expect(callsOf((await ask(model, { messages: cut('a file') })).end.parts).map(({ input }) => input)).toEqual([{ command: 'make' }])
})

test('where a call was denied, it says that the script does not know', async () => {
  const model = createReplay('replay/x', script)!
  const first = await ask(model, { messages: [user('fix it')] })
  const denied = turn(first.end).map((message): Message => (message.role === 'tool' ? { ...message, results: message.results.map((result) => ({ ...result, failed: true, text: 'Not run: the user denied it.' })) } : message))
  const { end } = await ask(model, { messages: [user('fix it'), ...denied] })
  expect(textOf(end.parts)).toMatch(/^Scripted model: a call was denied\./)
  expect(callsOf(end.parts)[0]?.input).toEqual({ command: 'make' })
  expect(textOf((await ask(model, { messages: [user('fix it'), ...denied, ...turn(end)] })).end.parts)).toBe('Done.')
})
