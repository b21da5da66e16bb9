import { expect, test } from 'vitest'
import type { AgentDeps } from '../../src/loop/work.ts'
import { host, outcomeOf, rig, tool, type Rig } from '../support/agent.ts'
import { LIMITS, scriptedModel, untilAborted, type ScriptedReply } from '../support/scripted-model.ts'

const call = (at: number): ScriptedReply => ({ calls: [{ name: 'look', input: { at } }] })
const tools = [tool('look', (_, input) => ({ status: 'ok', text: JSON.stringify(input) }))]
const limited = (limits: Partial<AgentDeps['limits']>): Partial<AgentDeps> => ({ tools, canPause: () => true, limits: { sameCall: 3, failedEdits: 3, ...limits } })

const paused = (r: Rig, times = 1): Promise<unknown> => r.until(() => r.of('pause').length >= times && r.of('choice').length === times - 1)

test('at a limit the run pauses, and goes on with as much again', async () => {
  const r = await rig([...Array.from({ length: 5 }, (_, index) => call(index)), { text: 'done' }], limited({ steps: 2 }))
  r.agent.send({ type: 'input', text: 'go' })
  await paused(r)
  expect(r.of('pause')[0]).toMatchObject({ why: 'limit', text: 'this run has used its 2 steps (limits.steps)', choices: ['raise', 'summarise', 'stop'], reached: { of: 'run', limit: 'steps', by: 2 } })
  expect(r.model.requests).toHaveLength(2)
  r.agent.send({ type: 'choose', choice: 'raise' })
  await paused(r, 2)
  expect(r.model.requests).toHaveLength(4)
  expect(r.of('pause')[1]?.text).toContain('4 steps')
  r.agent.send({ type: 'choose', choice: 'raise' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('done')
  expect(r.of('choice').map(({ choice, by }) => [choice, by])).toEqual([['raise', 'user'], ['raise', 'user']])
})

test('a summary is one more reply, and none of its calls run', async () => {
  const r = await rig([call(1), { text: 'This far I came.', calls: [{ name: 'look', input: { at: 2 } }] }], limited({ steps: 1 }))
  r.agent.send({ type: 'input', text: 'go' })
  await paused(r)
  r.agent.send({ type: 'choose', choice: 'summarise' })
  await r.agent.idle()
  expect(r.of('result').map(({ status }) => status)).toEqual(['ok', 'rejected'])
  expect(JSON.stringify(r.model.requests[1]?.messages.at(-1))).toContain('Call no more tools')
  expect(r.of('outcome')).toMatchObject([{ status: 'limit', reason: expect.stringContaining('limits.steps') as string }])
})

test('stop ends it with limit, and what waited begins the next run', async () => {
  const r = await rig([call(1), { text: 'second' }], limited({ steps: 1 }))
  r.agent.send({ type: 'input', text: 'go' })
  await paused(r)
  r.agent.send({ type: 'input', text: 'and then', when: 'after' })
  r.agent.send({ type: 'input', text: 'a steer does not raise a limit' })
  expect(r.of('choice')).toHaveLength(0)
  r.agent.send({ type: 'choose', choice: 'stop' })
  await r.until(() => r.of('outcome').length === 2)
  expect(r.of('outcome').map(({ status }) => status)).toEqual(['limit', 'done'])
})

test('an interrupt ends a pause at once', async () => {
  const r = await rig([call(1)], limited({ steps: 1 }))
  r.agent.send({ type: 'input', text: 'go' })
  await paused(r)
  r.agent.send({ type: 'interrupt' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('interrupted')
  expect(r.of('choice')).toHaveLength(0)
})

test('a choice that is not offered, or that comes when nothing is paused, is refused', async () => {
  const r = await rig([call(1), { text: 'x' }], limited({ steps: 1 }))
  r.agent.send({ type: 'choose', choice: 'stop' })
  r.agent.send({ type: 'input', text: 'go' })
  await paused(r)
  r.agent.send({ type: 'choose', choice: 'go-on' })
  r.agent.send({ type: 'choose', choice: 'stop' })
  await r.agent.idle()
  expect(r.errors()).toEqual([expect.stringContaining('No run is waiting'), expect.stringContaining('go-on is not among')])
})

test('a raised limit of the session holds for the runs after it, and after a resume', async () => {
  const deps = limited({ session: { steps: 1 } })
  const r = await rig([{ text: 'one' }, { text: 'two' }, { text: 'three' }], deps)
  r.agent.send({ type: 'input', text: '1' })
  await r.agent.idle()
  r.agent.send({ type: 'input', text: '2' })
  await paused(r)
  expect(r.of('pause')[0]).toMatchObject({ choices: ['raise', 'stop'], reached: { of: 'session', limit: 'steps', by: 1 } })
  r.agent.send({ type: 'choose', choice: 'raise' })
  await r.agent.idle()
  expect(r.of('outcome').map(({ status }) => status)).toEqual(['done', 'done'])
  const again = await rig([{ text: 'three' }], { ...deps, canPause: () => false, limits: { sameCall: 3, failedEdits: 3, session: { steps: 1 } } }, { before: r.log.all })
  expect(again.agent.state.raised).toEqual([{ of: 'session', limit: 'steps', by: 1 }])
})

test('minutes are those at work: what a person lets it wait is not counted', async () => {
  let now = 0
  const r = await rig([call(1), { text: 'done' }], { ...limited({ minutes: 1 }), host: { ...host(), now: () => now }, tools: [tool('look', () => ({ status: 'ok', text: '' }), [{ kind: 'write', path: '/w/x' }])], defaults: { model: 'test/scripted', effort: 'medium', mode: 'ask' } })
  r.log.clock = () => now
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'ask')
  now += 10 * 60_000
  r.agent.send({ type: 'decide', call: r.of('ask')[0]!.call, verdict: 'allow' })
  await r.agent.idle()
  expect(r.of('pause')).toHaveLength(0)
  expect(r.of('outcome')[0]).toMatchObject({ status: 'done', ms: 0 })
})

test('who goes in circles is asked about, and a text that says what to do instead lets it go on', async () => {
  const same = Array.from({ length: 6 }, () => call(0))
  const r = await rig([...same, (request) => ({ text: JSON.stringify(request.messages.at(-1)).includes('look elsewhere') ? 'ah' : 'what?' })], limited({}))
  r.agent.send({ type: 'input', text: 'go' })
  await paused(r)
  expect(r.of('pause')[0]).toMatchObject({ why: 'circle', choices: ['go-on', 'stop'] })
  r.agent.send({ type: 'input', text: 'look elsewhere' })
  await r.agent.idle()
  expect(r.of('choice')).toMatchObject([{ choice: 'go-on', by: 'input' }])
  expect(outcomeOf(r)).toBe('done')
  expect(r.of('reply').at(-1)?.parts).toEqual([{ type: 'text', text: 'ah' }])
})

test('what was let go on is looked at afresh, not stopped at the next step', async () => {
  const r = await rig([...Array.from({ length: 8 }, () => call(0)), { text: 'done' }], limited({}))
  r.agent.send({ type: 'input', text: 'go' })
  await paused(r)
  r.agent.send({ type: 'choose', choice: 'go-on' })
  await r.agent.idle()
  expect(r.of('pause')).toHaveLength(1)
  expect(outcomeOf(r)).toBe('done')
})

test('a provider that wants a long rest is waited for only if the person says so', async () => {
  const waits: number[] = []
  const rest: ScriptedReply = { fault: { kind: 'rate-limit', message: 'too many', retryAfterMs: 600_000 } }
  const deps: Partial<AgentDeps> = { canPause: () => true, host: { ...host(), wait: (ms) => Promise.resolve(void waits.push(ms)) } }
  const waited = await rig([rest, { text: 'ok' }], deps)
  waited.agent.send({ type: 'input', text: 'go' })
  await paused(waited)
  expect(waited.of('pause')[0]).toMatchObject({ why: 'wait', text: 'test/scripted takes no request for the next 10 minutes', waitMs: 600_000 })
  waited.agent.send({ type: 'choose', choice: 'go-on' })
  await waited.agent.idle()
  expect([outcomeOf(waited), waits]).toEqual(['done', [600_000]])
  const stopped = await rig([rest], deps)
  stopped.agent.send({ type: 'input', text: 'go' })
  await paused(stopped)
  stopped.agent.send({ type: 'choose', choice: 'stop' })
  await stopped.agent.idle()
  expect(stopped.of('outcome')[0]).toMatchObject({ status: 'failed', reason: 'too many' })
})

test('P20: another model that is chosen meanwhile is asked at once, before the question is answered and while it is waited for', async () => {
  const rest: ScriptedReply = { fault: { kind: 'rate-limit', message: 'too many', retryAfterMs: 600_000 } }
  for (const answered of [false, true]) {
    const first = scriptedModel([rest, { text: 'never' }])
    const other = scriptedModel([{ text: 'by the other' }])
    const r = await rig([], { canPause: () => true, host: { ...host(), wait: (_, signal) => untilAborted(signal) }, model: (id) => Promise.resolve(id === 'test/other' ? { ...other, id } : first) })
    r.agent.send({ type: 'input', text: 'go' })
    await paused(r)
    if (answered) r.agent.send({ type: 'choose', choice: 'go-on' })
    if (answered) await r.until((event) => event.type === 'choice')
    r.agent.send({ type: 'set', model: 'test/other' })
    await r.agent.idle()
    expect(r.of('step').map(({ model, inputs }) => [model, inputs.length])).toEqual([['test/scripted', 1], ['test/other', 0]])
    expect([outcomeOf(r), JSON.stringify(other.requests[0]?.messages).includes('go')]).toEqual(['done', true])
  }
})

test('where nobody looks, no run pauses', async () => {
  const r = await rig([call(1)], { ...limited({ steps: 1 }), canPause: () => false })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect([r.of('pause').length, outcomeOf(r)]).toEqual([0, 'limit'])
})

test('the fallback model takes over for the rest of the run, and the next run begins with the set one', async () => {
  const down = (): ScriptedReply => ({ text: 'half', fault: { kind: 'overload', message: 'busy' } })
  const first = scriptedModel([down(), down(), down(), { text: 'back again' }])
  const other = scriptedModel([call(1), { text: 'by the other' }])
  const r = await rig([], { tools, fallback: 'test/other', model: (id) => Promise.resolve(id === 'test/other' ? { ...other, id, limits: LIMITS } : { ...first, id, limits: LIMITS }) })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('step').map(({ model, attempt, inputs }) => [model, attempt, inputs.length])).toEqual([['test/scripted', 1, 1], ['test/scripted', 2, 0], ['test/scripted', 3, 0], ['test/other', 1, 0], ['test/other', 1, 0]])
  expect(r.of('reply')[2]?.retry?.model).toBe('test/other')
  expect(JSON.stringify(other.requests[0]?.messages)).toContain('go')
  expect(outcomeOf(r)).toBe('done')
  r.agent.send({ type: 'input', text: 'more' })
  await r.agent.idle()
  expect(r.of('step').at(-1)?.model).toBe('test/scripted')
})

test.each(['bad-request', 'auth', 'filter'] as const)('a %s fault is not taken to another model', async (kind) => {
  const r = await rig([{ fault: { kind, message: 'no' } }], { fallback: 'test/other' })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('step')).toHaveLength(1)
  expect(outcomeOf(r)).toBe('failed')
})

test('a fallback that cannot be used is passed over', async () => {
  const scripted = scriptedModel([{ fault: { kind: 'quota', message: 'no money left' } }])
  const r = await rig([], { fallback: 'test/other', model: (id) => (id === 'test/other' ? Promise.reject(new Error('no key')) : Promise.resolve(scripted)) })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('outcome')[0]).toMatchObject({ status: 'failed', reason: 'no money left' })
})
