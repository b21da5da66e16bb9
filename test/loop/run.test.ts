import { expect, test } from 'vitest'
import { context } from '../../src/core/context.ts'
import { live } from '../../src/core/path.ts'
import { host, outcomeOf, rig, tool } from '../support/agent.ts'
import { untilAborted } from '../support/scripted-model.ts'

const ok = tool('look', () => ({ status: 'ok', text: 'seen' }))
const change = (name: string, run: Parameters<typeof tool>[1]) => tool(name, run, [{ kind: 'write', path: `/w/${name}` }])

test('a prompt is answered and the run is done', async () => {
  const r = await rig([{ text: 'Hello.' }])
  r.agent.send({ type: 'input', text: 'hi' })
  await r.agent.idle()
  expect(r.log.all.map((record) => record.type)).toEqual(['input', 'system', 'step', 'reply', 'outcome'])
  expect(outcomeOf(r)).toBe('done')
})

test('each call has exactly one result, and the model gets them in the order of its calls', async () => {
  let release: () => void = () => undefined
  const slow = tool('slow', () => new Promise((resolve) => { release = () => resolve({ status: 'ok', text: 'slow' }) }))
  const r = await rig([{ calls: [{ id: 'a', name: 'slow', input: {} }, { id: 'b', name: 'look', input: {} }] }, { text: 'ok' }], { tools: [slow, ok] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'result' && event.call === 'b')
  release()
  await r.agent.idle()
  expect(r.of('result').map((result) => result.call)).toEqual(['b', 'a'])
  const sent = r.model.requests[1]?.messages.at(-1)
  expect(sent?.role === 'tool' && sent.results.map((result) => result.call)).toEqual(['a', 'b'])
})

test('a reply that the token limit cut off runs none of its calls', async () => {
  let ran = 0
  const counted = tool('look', () => { ran++; return { status: 'ok', text: '' } })
  const r = await rig([{ calls: [{ name: 'look', input: {} }, { name: 'look', input: {} }], stop: 'length' }, { text: 'ok' }], { tools: [counted] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(ran).toBe(0)
  expect(r.of('result').map((result) => result.status)).toEqual(['rejected', 'rejected'])
  expect(r.of('result')[0]?.text).toMatch(/cut off at the output limit.*smaller pieces/)
})

test('an unknown tool, broken JSON and wrong arguments are refused with what would be right', async () => {
  const r = await rig([{ calls: [{ name: 'nope', input: {} }, { name: 'look', input: {}, invalid: 'the arguments are not valid JSON (Unexpected end)' }] }, { text: 'ok' }], { tools: [ok] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('result').map((result) => `${result.status}: ${result.text}`)).toEqual([
    'rejected: Not run: there is no tool nope. The tools are look.',
    'rejected: Not run: the arguments are not valid JSON (Unexpected end). Send the call again with one JSON object.',
  ])
})

test('calls that change something wait for those before them and hold those after them', async () => {
  const order: string[] = []
  const note = (name: string, reads: boolean) => tool(name, async () => { order.push(`${name}+`); await Promise.resolve(); order.push(`${name}-`); return { status: 'ok', text: '' } }, reads ? [{ kind: 'read', path: '/w/f' }] : [{ kind: 'write', path: '/w/f' }])
  const r = await rig([{ calls: ['r1', 'w1', 'w2', 'r2'].map((name) => ({ name, input: {} })) }, {}], { tools: [note('r1', true), note('w1', false), note('w2', false), note('r2', true)] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(order).toEqual(['r1+', 'r1-', 'w1+', 'w1-', 'w2+', 'w2-', 'r2+', 'r2-'])
})

test('steering sent while a call runs is in the next request, after the results', async () => {
  const r = await rig([{ calls: [{ name: 'slow', input: {} }] }, { text: 'ok' }], {
    tools: [tool('slow', () => { r.agent.send({ type: 'input', text: 'A' }); r.agent.send({ type: 'input', text: 'B' }); return { status: 'ok', text: 'result' } })],
  })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.model.requests[1]?.messages.slice(-2)).toEqual([
    { role: 'tool', results: [{ call: expect.any(String), name: 'slow', failed: false, text: 'result' }] },
    { role: 'user', parts: [{ type: 'text', text: 'A' }, { type: 'text', text: 'B' }] },
  ])
  expect(r.of('outcome')).toHaveLength(1)
})

test('steering that comes with the last reply joins the run', async () => {
  const r = await rig([{ text: 'done', hold: () => { r.agent.send({ type: 'input', text: 'one more' }); return Promise.resolve() } }, { text: 'really done' }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('outcome')).toHaveLength(1)
  expect(JSON.stringify(r.model.requests[1])).toContain('one more')
})

test('follow-ups start the next run after the outcome, one at a time', async () => {
  const r = await rig([{ text: '1', hold: () => { r.agent.send({ type: 'input', text: 'x', when: 'after' }); r.agent.send({ type: 'input', text: 'y', when: 'after' }); return Promise.resolve() } }, { text: '2' }, { text: '3' }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('outcome')).toHaveLength(3)
  expect(new Set(r.of('step').map((step) => step.run)).size).toBe(3)
  expect(JSON.stringify(r.model.requests[1])).not.toContain('"y"')
})

test('a follow-up sent while a call runs waits for the outcome, too', async () => {
  const r = await rig([{ calls: [{ name: 'slow', input: {} }] }, { text: 'first' }, { text: 'second' }], {
    tools: [tool('slow', () => { r.agent.send({ type: 'input', text: 'and then', when: 'after' }); return { status: 'ok', text: 'result' } })],
  })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(JSON.stringify(r.model.requests[1])).not.toContain('and then')
  expect(JSON.stringify(r.model.requests[2])).toContain('and then')
  expect(new Set(r.of('step').map((step) => step.run)).size).toBe(2)
})

test('an input that cuts in stops what runs, skips the rest, and is delivered alone; other texts stay queued', async () => {
  const stuck = tool('stuck', async (signal) => { await untilAborted(signal); return { status: 'interrupted', text: 'stopped' } })
  const r = await rig([{ calls: [{ name: 'stuck', input: {} }, { name: 'w', input: {} }] }, { calls: [{ name: 'look', input: {} }] }, { text: 'ok' }], { tools: [stuck, change('w', () => ({ status: 'ok', text: '' })), ok] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'start')
  r.agent.send({ type: 'input', text: 'later' })
  r.agent.send({ type: 'input', text: 'NOW', when: 'now' })
  await r.agent.idle()
  expect(r.of('result').map((result) => result.status)).toEqual(['interrupted', 'skipped', 'ok'])
  expect(JSON.stringify(r.model.requests[1])).toContain('NOW')
  expect(JSON.stringify(r.model.requests[1])).not.toContain('later')
  expect(JSON.stringify(r.model.requests[2])).toContain('later')
  expect(r.of('outcome')).toHaveLength(1)
})

test('an interrupt ends the run: what runs is stopped, the rest skipped, what waits goes back', async () => {
  const stuck = tool('stuck', async (signal) => { await untilAborted(signal); return { status: 'interrupted', text: 'partial' } })
  const r = await rig([{ calls: [{ name: 'stuck', input: {} }, { name: 'w', input: {} }] }, { text: 'and then' }], { tools: [stuck, change('w', () => ({ status: 'ok', text: '' }))] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'start')
  r.agent.send({ type: 'input', text: 'waiting' })
  r.agent.send({ type: 'interrupt' })
  r.agent.send({ type: 'input', text: 'sent after it' })
  await r.agent.idle()
  expect(r.of('result').map((result) => result.status)).toEqual(['interrupted', 'skipped'])
  expect(r.of('withdraw')).toHaveLength(1)
  expect(r.of('outcome').map((outcome) => outcome.status)).toEqual(['interrupted', 'done'])
  const next = JSON.stringify(r.model.requests[1])
  expect(next).toContain('sent after it')
  expect(next).not.toContain('waiting')
  expect(next).toContain('interrupted')
})

test('an interrupted reply keeps its text, and no half call', async () => {
  const r = await rig([{ text: 'I was about to', hold: untilAborted }, { text: 'ok' }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'delta' && event.offset >= 7)
  r.agent.send({ type: 'interrupt' })
  await r.agent.idle()
  expect(r.of('reply')[0]).toMatchObject({ stop: 'interrupted', parts: [{ type: 'text', text: 'I was about to' }] })
  r.agent.send({ type: 'input', text: 'hi' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('done')
})

test('a tool that does not stop is left behind as unknown, and keeps its path until it ends', async () => {
  const deaf = tool('deaf', () => new Promise(() => undefined), [{ kind: 'write', path: '/w/f' }], { changes: [{ path: '/w/f', before: null, intended: 'x' }] })
  const again = tool('again', () => ({ status: 'ok', text: '' }), [{ kind: 'write', path: '/w/f' }], { changes: [{ path: '/w/f', before: null, intended: 'y' }] })
  const r = await rig([{ calls: [{ name: 'deaf', input: {} }] }, { calls: [{ name: 'again', input: {} }] }, {}], { tools: [deaf, again] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'start')
  r.agent.send({ type: 'input', text: 'cut', when: 'now' })
  await r.agent.idle()
  expect(r.of('result').map((result) => result.status)).toEqual(['unknown', 'failed'])
  expect(r.of('result')[1]?.text).toMatch(/may still write this file/)
})

test('a tool that throws is a failed result, and the run goes on', async () => {
  const broken = tool('broken', () => { throw new Error('oh no') })
  const r = await rig([{ calls: [{ name: 'broken', input: {} }] }, { text: 'ok' }], { tools: [broken] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('result')[0]).toMatchObject({ status: 'failed', text: expect.stringContaining('oh no') })
  expect(outcomeOf(r)).toBe('done')
})

test('a command for another run is refused whole, and names both', async () => {
  const r = await rig([{ text: 'x', hold: () => { r.agent.send({ type: 'input', text: 'stale', run: 'r-old' }); r.agent.send({ type: 'interrupt', run: 'r-old' }); return Promise.resolve() } }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.errors()).toHaveLength(2)
  expect(r.errors()[0]).toContain('r-old')
  expect(r.errors()[0]).toContain(r.of('outcome')[0]!.run)
  expect(r.of('input')).toHaveLength(1)
  expect(outcomeOf(r)).toBe('done')
})

test('a taken-back text is not delivered', async () => {
  const r = await rig([{ text: 'x', hold: () => { r.agent.send({ type: 'input', text: 'oops' }); r.agent.send({ type: 'withdraw' }); return Promise.resolve() } }, {}])
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.model.requests).toHaveLength(1)
})

test('call ids that a server repeats or leaves out are made unique', async () => {
  const r = await rig([{ calls: [{ id: 'call_0', name: 'look', input: {} }, { id: 'call_0', name: 'look', input: { a: 1 } }] }, { calls: [{ id: 'call_0', name: 'look', input: { b: 1 } }, { id: 'with space', name: 'look', input: {} }] }, {}], { tools: [ok] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  const ids = r.of('result').map((result) => result.call)
  expect(new Set(ids).size).toBe(4)
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
})

test('the request of every step is rebuilt from the log, and its hash fits', async () => {
  const r = await rig([{ text: 'a', calls: [{ name: 'look', input: {} }] }, { calls: [{ name: 'nope', input: {} }] }, { text: 'end' }, { text: 'more' }], { tools: [ok] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  r.agent.send({ type: 'input', text: 'go on' })
  await r.agent.idle()
  const { sha256 } = host()
  expect(r.of('step')).toHaveLength(4)
  for (const step of r.of('step')) {
    const request = context(live(r.log.all.slice(0, step.seq + 1)))
    expect(sha256(JSON.stringify(request))).toBe(step.request.sha256)
  }
})

test('a disk that is full stops the run, and says so', async () => {
  const r = await rig([{ calls: [{ name: 'look', input: {} }] }, {}], { tools: [ok] })
  r.log.failAt = 3
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.errors().join()).toMatch(/ENOSPC/)
  // Nobody is to wait for an outcome: no run is active any more.
  expect(r.events.findLast((event) => event.type === 'error')).toMatchObject({ message: expect.stringContaining('The run stopped') as string, active: null })
  expect(r.model.requests.length).toBeLessThanOrEqual(1)
  r.agent.send({ type: 'input', text: 'again' })
  expect(r.errors().join()).toMatch(/could not be saved/)
})

test('when there is space again, what could not be written is written first, and the run that broke has its outcome', async () => {
  const r = await rig([{ calls: [{ id: 'c1', name: 'look', input: {} }] }, { text: 'back' }], { tools: [ok] })
  r.log.failAt = 3
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  const before = r.log.all.length
  delete r.log.failAt
  r.agent.send({ type: 'input', text: 'again' })
  await r.agent.idle()
  const types = r.log.all.slice(before).map((record) => record.type)
  expect(types.indexOf('reply')).toBeLessThan(types.indexOf('outcome'))
  expect(r.of('outcome').map((outcome) => outcome.status)).toEqual(['failed', 'done'])
  expect(r.of('result')).toHaveLength(1)
  expect(r.log.all.map((record) => record.seq)).toEqual(r.log.all.map((_, index) => index))
})

test('an empty reply is no answer: the model is told so, and in the end that is how the run failed', async () => {
  const answers = await rig([{ text: '' }, { text: 'now it speaks' }])
  answers.agent.send({ type: 'input', text: 'go' })
  await answers.agent.idle()
  expect(outcomeOf(answers)).toBe('done')
  expect(JSON.stringify(answers.model.requests[1]?.messages.at(-1))).toMatch(/go.*your reply was empty/)
  const silent = await rig(Array.from({ length: 5 }, () => ({ text: ' ' })))
  silent.agent.send({ type: 'input', text: 'go' })
  await silent.agent.idle()
  expect(silent.model.requests).toHaveLength(3)
  expect(silent.of('outcome')[0]).toMatchObject({ status: 'failed', reason: expect.stringContaining('answered with nothing') as string })
})
