import { expect, test } from 'vitest'
import { waitBefore } from '../../src/loop/retry.ts'
import { host, outcomeOf, rig, tool } from '../support/agent.ts'
import { scriptedModel, untilAborted } from '../support/scripted-model.ts'

const fault = (kind: Parameters<typeof waitBefore>[1]['kind'], more = {}) => ({ kind, message: `a ${kind} fault`, ...more })

test('what may pass is tried again, each attempt a record', async () => {
  const r = await rig([{ fault: fault('rate-limit', { retryAfterMs: 20 }) }, { fault: fault('overload') }, { text: 'ok' }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('step').map((step) => [step.number, step.attempt, step.inputs.length])).toEqual([[1, 1, 1], [1, 2, 0], [1, 3, 0]])
  expect(r.of('reply').map((reply) => reply.retry !== undefined)).toEqual([true, true, false])
  expect(r.model.requests[2]?.messages).toEqual(r.model.requests[0]?.messages)
  expect(outcomeOf(r)).toBe('done')
})

test.each(['auth', 'bad-request', 'not-found', 'filter', 'quota'] as const)('a %s fault is never tried again, and its message is the reason', async (kind) => {
  const r = await rig([{ fault: fault(kind) }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.model.requests).toHaveLength(1)
  expect(r.of('outcome')[0]).toMatchObject({ status: 'failed', reason: `a ${kind} fault` })
})

test('a wait beyond the bound is not slept through', () => {
  expect(waitBefore(1, fault('rate-limit', { retryAfterMs: 11_180_000 }), 0)).toBeNull()
  expect(waitBefore(1, fault('rate-limit', { retryAfterMs: 5_000 }), 0)).toBe(5_000)
})

test('waits grow up to a bound, with jitter, and end', () => {
  const waits = Array.from({ length: 12 }, (_, index) => waitBefore(index + 1, fault('overload'), 0.5))
  expect(waits.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000])
  expect(Math.max(...waits.map(Number))).toBe(60_000)
  expect(waits.at(-1)).toBeNull()
})

test('another model that is chosen during a wait is asked at once, also where a fallback had taken over', async () => {
  const down = scriptedModel(Array.from({ length: 9 }, () => ({ fault: fault('overload') })))
  const other = scriptedModel([{ text: 'ok' }])
  const patient = { ...host(), wait: (ms: number, signal: AbortSignal): Promise<void> => (ms < 2_500 ? Promise.resolve() : untilAborted(signal)) }
  const r = await rig([], { host: patient, fallback: 'test/second', model: (id) => Promise.resolve(id === 'test/third' ? { ...other, id } : { ...down, id }) })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'reply' && r.of('step').at(-1)?.model === 'test/second' && r.of('step').at(-1)?.attempt === 3)
  r.agent.send({ type: 'set', model: 'test/third' })
  await r.agent.idle()
  expect([...new Set(r.of('step').map(({ model }) => model))]).toEqual(['test/scripted', 'test/second', 'test/third'])
  expect(outcomeOf(r)).toBe('done')
})

test('an interrupt ends a wait at once', async () => {
  const r = await rig([{ fault: fault('server') }, { text: 'never' }], { host: { ...host(), wait: (_ms, signal) => untilAborted(signal) } })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'reply')
  r.agent.send({ type: 'interrupt' })
  await r.agent.idle()
  expect(r.model.requests).toHaveLength(1)
  expect(outcomeOf(r)).toBe('interrupted')
})

test('half a reply before a fault is not replayed, and none of its calls run', async () => {
  const r = await rig([{ text: 'half', fault: fault('network') }, { calls: [{ name: 'look', input: {} }] }, { text: 'ok' }], { tools: [tool('look', () => ({ status: 'ok', text: '' }))] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(JSON.stringify(r.model.requests[1])).not.toContain('half')
  expect(r.of('result')).toHaveLength(1)
})
