import { expect, test } from 'vitest'
import { host, outcomeOf, rig, tool } from '../support/agent.ts'
import { untilAborted } from '../support/scripted-model.ts'

const write = (name: string, run: Parameters<typeof tool>[1]) => tool(name, run, [{ kind: 'write', path: '/w/f' }], { changes: [{ path: '/w/f', before: null, intended: 'x' }] })
const gate = (): PromiseWithResolvers<void> => Promise.withResolvers<void>()
const sent = (request: unknown): string => JSON.stringify(request)

test('a run that is stopped while its model is being found asks nothing and records no request', async () => {
  const key = gate()
  const r = await rig([{ text: 'never' }], { model: async () => { await key.promise; throw new Error('too late') } })
  r.agent.send({ type: 'input', text: 'go' })
  r.agent.send({ type: 'interrupt' })
  await r.agent.idle()
  expect([outcomeOf(r), r.of('step'), r.of('withdraw').length, r.model.requests]).toEqual(['interrupted', [], 1, []])
  key.resolve()
})

test('a text that cuts in while the model speaks goes with what it had said', async () => {
  const r = await rig([{ text: 'half of it', hold: untilAborted }, { text: 'yes' }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'delta')
  r.agent.send({ type: 'input', text: 'wait', when: 'now' })
  await r.agent.idle()
  expect(sent(r.model.requests[1])).toMatch(/half of.*cut off.*wait/)
  expect(r.of('step')).toHaveLength(2)
})

test('a text that is taken back before it is sent leaves nothing to ask', async () => {
  const found = gate()
  const r = await rig([{ text: 'one' }, { text: 'two' }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  const slow = await rig([{ text: 'never' }], { model: () => found.promise.then(() => r.model) }, { before: r.log.all })
  slow.agent.send({ type: 'input', text: 'on' })
  slow.agent.send({ type: 'withdraw' })
  found.resolve()
  await slow.agent.idle()
  expect([slow.of('step').length, slow.of('outcome').at(-1)?.reason]).toEqual([1, 'the text was taken back before it was sent'])
})

test('a steering text that is taken back when the model has finished leaves the run at its end', async () => {
  const r = await rig([{ text: 'said', hold: () => Promise.resolve(r.agent.send({ type: 'input', text: 'on' })) }, { text: 'never' }], {
    system: async () => {
      if (r.of('reply').length > 0) r.agent.send({ type: 'withdraw' })
      return { text: 'You are a test.' }
    },
  })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect([r.model.requests.length, r.of('withdraw').length, outcomeOf(r)]).toEqual([1, 1, 'done'])
})

test('a text that cuts in ends a check, and is delivered', async () => {
  const shell = tool('shell', async (signal) => { r.agent.send({ type: 'input', text: 'not now', when: 'now' }); await untilAborted(signal); return { status: 'interrupted', text: '', exit: null } })
  const r = await rig([{ calls: [{ name: 'put', input: {} }] }, { text: 'done' }, { text: 'as you say' }], { tools: [write('put', () => ({ status: 'ok', text: '' })), shell], checks: ['npm test'], checkAttempts: 1 })
  r.agent.subscribe((event) => { if (event.type === 'check' && r.of('check').length > 1) r.agent.send({ type: 'interrupt' }) })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'step' && event.number === 3)
  expect(sent(r.model.requests[2])).toContain('not now')
  r.agent.send({ type: 'interrupt' })
  await r.agent.idle()
})

test('a text that cuts in during a compaction waits for the room it makes', async () => {
  const r = await rig([{ text: 'word '.repeat(300), calls: [{ name: 'look', input: {} }], usage: { input: 1_000, output: 10 } }, ({ tools }) => {
    if (tools.length === 0) r.agent.send({ type: 'input', text: 'by the way', when: 'now' })
    return { text: 'a summary' }
  }, { text: 'done' }], { tools: [tool('look', () => ({ status: 'ok', text: String(Math.random()) }))], compaction: { auto: true, reserveTokens: 100, keepTokens: 100 } }, { limits: { contextWindow: 1_500 } })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect([r.of('compact').length, outcomeOf(r)]).toEqual([1, 'done'])
  expect(sent(r.model.requests.at(-1))).toContain('by the way')
})

test.each(['interrupt', 'now'] as const)('%s while the state of the files is taken: the call never began', async (how) => {
  const r = await rig([{ calls: [{ name: 'put', input: {} }] }, { text: 'well' }], {
    tools: [write('put', () => ({ status: 'ok', text: '' }))],
    host: { ...host(), checkpoint: async () => { r.agent.send(how === 'now' ? { type: 'input', text: 'stop that', when: 'now' } : { type: 'interrupt' }); return { tree: null } } },
  })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect([r.of('start'), r.of('result').map(({ status }) => status)]).toEqual([[], ['skipped']])
})

test('what is said while an attempt waits goes with the next one', async () => {
  const r = await rig([{ fault: { kind: 'server', message: 'down' } }, { text: 'up' }], {
    host: { ...host(), wait: () => Promise.resolve(r.agent.send({ type: 'input', text: 'shorter, please' })) },
  })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('step').map(({ attempt, inputs }) => [attempt, inputs.length])).toEqual([[1, 1], [2, 1]])
  expect(sent(r.model.requests[1])).toMatch(/go.*shorter, please/)
})

test('a tool that would not stop holds its file in the next run, too, until it has ended; what it begins then is not recorded', async () => {
  const end = gate()
  const r = await rig([{ calls: [{ name: 'deaf', input: {} }] }, { calls: [{ name: 'put', input: {} }] }, { text: 'later' }, { calls: [{ name: 'put', input: {} }] }, { text: 'now' }], {
    tools: [write('deaf', async () => { await end.promise; return { status: 'ok', text: '' } }), write('put', () => ({ status: 'ok', text: '' }))],
  })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'start')
  r.agent.send({ type: 'interrupt' })
  await r.agent.idle()
  r.agent.send({ type: 'input', text: 'again' })
  await r.agent.idle()
  end.resolve()
  await new Promise(setImmediate)
  r.agent.send({ type: 'input', text: 'and now' })
  await r.agent.idle()
  expect(r.of('result').map(({ status }) => status)).toEqual(['unknown', 'failed', 'ok'])
  expect(r.of('result')[1]?.text).toContain('may still write this file')
})

test('a run that breaks before it could ask anything says so', async () => {
  const r = await rig([], { system: () => Promise.reject(new Error('no instructions')) })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.errors()).toEqual([expect.stringContaining('The run stopped: no instructions')])
  expect(r.of('withdraw')).toHaveLength(1)
})

test('who leaves at once leaves nothing that goes on', async () => {
  const r = await rig([{ text: 'a', calls: [{ name: 'put', input: {} }] }, { text: 'never' }], { tools: [write('put', () => { r.agent.abandon('gone'); return { status: 'ok', text: '' } })] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect([r.model.requests.length, r.log.all.at(-1)]).toEqual([1, expect.objectContaining({ type: 'outcome', status: 'interrupted', reason: 'gone' })])
})

test('a lasting yes that cannot be kept holds for the session, is said, and does not end the run', async () => {
  const r = await rig([{ calls: [{ name: 'run', input: {} }] }, { text: 'done' }], {
    tools: [tool('run', () => ({ status: 'ok', text: '' }), [{ kind: 'exec', argv: ['make'] }])], defaults: { model: 'test/scripted', effort: 'medium', mode: 'ask' }, saveGrant: () => Promise.reject(new Error('The grant holds for this session only: permission denied')),
  })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'ask')
  r.agent.send({ type: 'decide', call: r.of('ask')[0]?.call ?? '', verdict: 'allow', grant: 'project' })
  await r.agent.idle()
  expect([r.errors(), outcomeOf(r), r.agent.state.grants.length]).toEqual([[expect.stringContaining('for this session only')], 'done', 1])
})
