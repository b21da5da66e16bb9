import { expect, test } from 'vitest'
import { repeatsItself } from '../../src/core/limits.ts'
import { host, outcomeOf, rig, tool } from '../support/agent.ts'
import type { ScriptedReply } from '../support/scripted-model.ts'

const same: ScriptedReply = { calls: [{ name: 'look', input: { at: 'x' } }] }
const look = (text: () => string, status: 'ok' | 'failed' = 'ok') => tool('look', () => ({ status, text: text() }))

test('the same call with the same result is told to the model, then ends the run', async () => {
  const r = await rig(Array.from({ length: 20 }, () => same), { tools: [look(() => 'same')] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('result')).toHaveLength(6)
  expect(r.of('input').filter((input) => input.from === 'tiller')).toHaveLength(1)
  expect(JSON.stringify(r.model.requests[3])).toContain('3 times in a row')
  expect(r.of('outcome')[0]).toMatchObject({ status: 'limit', reason: expect.stringContaining('going in circles') })
})

test.each([['watch', 60], ['read', 6]])('L12: a slow %s with the same result is stopped after %i times: only what may wait for something is given more', async (name, times) => {
  let now = 0
  const slow = { ...host(), now: () => (now += 1_100) }
  const r = await rig(Array.from({ length: 70 }, () => ({ calls: [{ name, input: { at: 'x' } }] })), { tools: [{ ...look(() => 'same'), name }], host: slow, limits: { steps: 100, sameCall: 3, failedEdits: 3 } })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('result')[0]?.ms).toBeGreaterThan(1_000)
  expect(r.of('result')).toHaveLength(times)
})

test('the same call with other results is honest work', async () => {
  let count = 0
  const r = await rig([...Array.from({ length: 20 }, () => same), { text: 'done' }], { tools: [look(() => `${count++}`)] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('done')
  expect(r.of('input')).toHaveLength(1)
})

test('a failure that only varies in names is seen', async () => {
  let count = 0
  const replies = Array.from({ length: 20 }, (_, index) => ({ calls: [{ name: 'look', input: { at: index } }] }))
  const r = await rig(replies, { tools: [look(() => `ls: cannot access '/nope${count++}': No such file`, 'failed')] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('limit')
  expect(r.of('result').length).toBeLessThanOrEqual(8)
})

test('two calls in turn with the same results are going round, too', async () => {
  const replies = Array.from({ length: 40 }, (_, index) => ({ calls: [{ name: 'look', input: { at: index % 2 } }] }))
  const r = await rig(replies, { tools: [look(() => 'same')] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('limit')
})

test.each([3, 4, 6])('a round of %i calls with the same results is seen, and told once a round', async (length) => {
  const r = await rig(Array.from({ length: 80 }, (_, index) => ({ calls: [{ name: 'look', input: { at: index % length } }] })), { tools: [look(() => 'same')], limits: { steps: 200, sameCall: 3, failedEdits: 3 } })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('outcome')[0]).toMatchObject({ status: 'limit', reason: expect.stringContaining(`the same ${length} calls (look`) as string })
  expect(r.of('result')).toHaveLength(6 * length)
  expect(r.of('input').filter(({ from }) => from === 'tiller')).toHaveLength(1)
})

test('calls that all fail are seen, whichever they are', async () => {
  let count = 0
  const odd = ['cannot be', 'is not there', 'permission denied', 'no such thing', 'bad argument', 'too long', 'not found here', 'broken pipe', 'closed', 'what', 'none', 'empty', 'gone', 'locked', 'busy', 'odd', 'even', 'last', 'more', 'x']
  const r = await rig(Array.from({ length: 40 }, (_, index) => ({ calls: [{ name: index % 2 ? 'look' : 'see', input: { at: index } }] })), { tools: [look(() => odd[count++ % 20] ?? '', 'failed'), { ...look(() => odd[count++ % 20] ?? '', 'failed'), name: 'see' }] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('result')).toHaveLength(18)
  expect(r.of('outcome')[0]).toMatchObject({ status: 'limit', reason: expect.stringContaining('calls that fail') as string })
})

test('twenty edits that differ and work are no circle', async () => {
  const replies = [...Array.from({ length: 20 }, (_, index) => ({ calls: [{ name: 'look', input: { at: index } }] })), { text: 'ok' }]
  const r = await rig(replies, { tools: [look(() => 'changed')] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('done')
})

test.each([
  ['steps', { steps: 2 }, 2],
  ['tool calls', { calls: 3 }, 3],
  ['tokens', { tokens: 215 }, 2],
  ['US dollars', { cost: 0.0002 }, 2],
] as const)('a run ends at its limit of %s, between calls', async (unit, limit, calls) => {
  let count = 0
  const r = await rig(Array.from({ length: 20 }, () => same), { tools: [look(() => `${count++}`)], limits: { steps: 50, sameCall: 3, failedEdits: 3, ...limit } })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('outcome')[0]).toMatchObject({ status: 'limit', reason: expect.stringContaining(unit) })
  expect(r.of('result')).toHaveLength(calls)
})

test('a session limit counts all runs', async () => {
  const r = await rig([{ text: 'a' }, { text: 'b' }, { text: 'c' }], { limits: { steps: 50, sameCall: 3, failedEdits: 3, session: { steps: 2 } } })
  for (const text of ['1', '2', '3']) {
    r.agent.send({ type: 'input', text })
    await r.agent.idle()
  }
  expect(r.of('outcome').map((outcome) => outcome.status)).toEqual(['done', 'done', 'limit'])
})

test('a stream of the same lines is cut', async () => {
  const r = await rig([{ text: 'I will execute the command now.\nLet me do it.\nRunning the tool.\n'.repeat(5_000) }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  const deltas = r.events.filter((event) => event.type === 'delta').length
  expect(deltas).toBeLessThan(5_000)
})

test('long honest text does not repeat itself', () => {
  expect(repeatsItself(Array.from({ length: 2_000 }, (_, index) => `line ${index} of a table`).join('\n'))).toBe(false)
  expect(repeatsItself('-'.repeat(9_000))).toBe(false)
  expect(repeatsItself('abc def\n'.repeat(2_000))).toBe(true)
})
