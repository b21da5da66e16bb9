import { expect, test } from 'vitest'
import type { Output } from '../../src/core/ports.ts'
import { outcomeOf, rig, tool } from '../support/agent.ts'

const ask = { defaults: { model: 'test/scripted', effort: 'medium', mode: 'ask' } } as const
const write = (run = (): Output => ({ status: 'ok', text: 'written' }), preview = () => 'same') => ({
  ...tool('put', run, [{ kind: 'write', path: '/w/f' }]),
  prepare: () => Promise.resolve({ accesses: [{ kind: 'write' as const, path: '/w/f' }], preview: { kind: 'text' as const, text: preview() }, changes: [], run: async () => run() }),
})
const once = [{ calls: [{ id: 'c1', name: 'put', input: {} }] }, { text: 'ok' }]

test('in ask mode a person is asked, and a yes runs it', async () => {
  const r = await rig(once, { ...ask, tools: [write()] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'ask')
  expect(r.of('start')).toHaveLength(0)
  r.agent.send({ type: 'decide', call: 'c1', verdict: 'allow' })
  await r.agent.idle()
  expect(r.log.all.map((record) => record.type)).toEqual(['input', 'system', 'step', 'reply', 'ask', 'answer', 'checkpoint', 'start', 'result', 'step', 'reply', 'outcome'])
  expect(r.of('answer')[0]).toMatchObject({ verdict: 'allow', by: 'user' })
  expect(r.of('result')[0]?.status).toBe('ok')
})

test('a no never runs it, and the model is told why', async () => {
  let ran = 0
  const r = await rig(once, { ...ask, tools: [write(() => { ran++; return { status: 'ok', text: '' } })] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'ask')
  r.agent.send({ type: 'decide', call: 'c1', verdict: 'deny', reason: 'not today' })
  await r.agent.idle()
  expect(ran).toBe(0)
  expect(r.of('result')[0]).toMatchObject({ status: 'denied', text: 'Not run: the user denied it: not today' })
  expect(outcomeOf(r)).toBe('done')
})

test('nobody there means no, the run goes on, and its outcome is needs-user', async () => {
  const r = await rig(once, { ...ask, tools: [write()], canAsk: () => false })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('answer')[0]).toMatchObject({ verdict: 'deny', by: 'nobody' })
  expect(r.of('result')[0]?.status).toBe('denied')
  expect(r.model.requests).toHaveLength(2)
  expect(outcomeOf(r)).toBe('needs-user')
})

test('the last one to be asked leaves: the open question is denied', async () => {
  const r = await rig(once, { ...ask, tools: [write()] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'ask')
  r.agent.nobody()
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('needs-user')
})

test('what differs from what was approved is asked again', async () => {
  let version = 0
  const r = await rig(once, { ...ask, tools: [write(undefined, () => (version < 2 ? `v${version++}` : 'v1'))] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'ask')
  r.agent.send({ type: 'decide', call: 'c1', verdict: 'allow' })
  await r.until((event) => event.type === 'ask' && event.preview?.kind === 'text' && event.preview.text === 'v1')
  r.agent.send({ type: 'decide', call: 'c1', verdict: 'allow' })
  await r.agent.idle()
  expect(r.of('ask')).toHaveLength(2)
  expect(r.of('start')).toHaveLength(1)
})

test('an interrupt while it asks is no yes', async () => {
  const r = await rig(once, { ...ask, tools: [write()] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'ask')
  r.agent.send({ type: 'interrupt' })
  await r.agent.idle()
  expect(r.of('start')).toHaveLength(0)
  expect(r.of('result')[0]?.status).toBe('skipped')
  expect(outcomeOf(r)).toBe('interrupted')
})

test('a mode change holds from the next call on', async () => {
  const r = await rig([{ calls: [{ id: 'c1', name: 'put', input: {} }] }, { calls: [{ id: 'c2', name: 'put', input: {} }] }, {}], { ...ask, tools: [write()] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'ask')
  r.agent.send({ type: 'set', mode: 'edit' })
  r.agent.send({ type: 'decide', call: 'c1', verdict: 'allow' })
  await r.agent.idle()
  expect(r.of('ask')).toHaveLength(1)
  expect(r.of('start')).toHaveLength(2)
})

test('a yes for the session is not asked again', async () => {
  const r = await rig([{ calls: [{ id: 'c1', name: 'put', input: {} }] }, { calls: [{ id: 'c2', name: 'put', input: { again: 1 } }] }, {}], { ...ask, tools: [write()] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'ask')
  r.agent.send({ type: 'decide', call: 'c1', verdict: 'allow', grant: 'session' })
  await r.agent.idle()
  expect(r.of('answer')[0]?.grant?.scope).toBe('session')
  expect(r.of('ask')).toHaveLength(1)
})
