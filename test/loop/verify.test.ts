import { expect, test } from 'vitest'
import { host, outcomeOf, rig, tool } from '../support/agent.ts'
import type { Output } from '../../src/core/ports.ts'

const change = tool('put', () => ({ status: 'ok', text: 'written' }), [{ kind: 'write', path: '/w/f' }])
const put = { calls: [{ name: 'put', input: {} }] }
/** A shell whose checks end with these codes, one after the other. */
const shell = (...exits: number[]) => {
  let next = 0
  return tool('shell', (): Output => {
    const exit = exits[next++] ?? 0
    return { status: exit === 0 ? 'ok' : 'failed', text: exit === 0 ? 'pass' : `FAIL number ${next}`, exit }
  }, [{ kind: 'exec', argv: ['npm', 'test'] }])
}

test('a run that changed something is verified when the check passes after the last change', async () => {
  const r = await rig([put, { text: 'done' }], { tools: [change, shell(0)], checks: ['npm test'] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('check')).toMatchObject([{ command: 'npm test', exit: 0, attempt: 1 }])
  expect(r.of('outcome')[0]).toMatchObject({ status: 'verified', reason: 'npm test passed after the last change' })
  expect(r.of('check')[0]!.seq).toBeGreaterThan(r.of('result').at(-1)!.seq)
})

test('a failing check goes back to the model with its output', async () => {
  const r = await rig([put, { text: 'done' }, put, { text: 'now done' }], { tools: [change, shell(1, 0)], checks: ['npm test'] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(JSON.stringify(r.model.requests[2])).toContain('FAIL number 1')
  expect(r.of('input')[1]?.from).toBe('check')
  expect(outcomeOf(r)).toBe('verified')
})

test('attempts that are used up end as unverified', async () => {
  const r = await rig([put, { text: '1' }, { text: '2' }, { text: '3' }], { tools: [change, shell(1, 2, 3)], checks: ['npm test'], checkAttempts: 3 })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('check').map((check) => check.attempt)).toEqual([1, 2, 3])
  expect(r.of('outcome')[0]).toMatchObject({ status: 'unverified', reason: 'npm test (exit 3) still fails after 3 attempts' })
})

test('a run that changed nothing is done without a check', async () => {
  const r = await rig([{ text: 'an answer' }], { tools: [change, shell(1)], checks: ['npm test'] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('check')).toHaveLength(0)
  expect(outcomeOf(r)).toBe('done')
})

test('a tree that is as it was before is no change', async () => {
  const r = await rig([put, { text: 'done' }], { tools: [change, shell(1)], checks: ['npm test'], host: { ...host(), checkpoint: () => Promise.resolve({ tree: 'same' }) } })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('check')).toHaveLength(0)
  expect(outcomeOf(r)).toBe('done')
})

test('checks run on demand, too', async () => {
  const r = await rig([], { tools: [shell(7)], checks: ['npm test'] })
  r.agent.send({ type: 'check' })
  await r.agent.idle()
  expect(r.of('check')[0]?.exit).toBe(7)
  expect(outcomeOf(r)).toBe('unverified')
})

test('a claim that the log does not bear out is no plain success', async () => {
  const changed = { status: 'ok' as const, text: 'written', changes: [{ path: '/w/f', before: 'a', after: 'b' }] }
  const r = await rig([put, { text: 'All tests pass.' }], { tools: [tool('put', () => changed, [{ kind: 'write', path: '/w/f' }])] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('outcome')[0]).toMatchObject({ status: 'unverified', reason: expect.stringContaining('none ran after the last change') })
})

test('a model that stops in the middle of its plan is told so twice, and then it is no success', async () => {
  const todo = tool('todo', () => ({ status: 'ok', text: '' }), [])
  const plan = { calls: [{ name: 'todo', input: { items: [{ text: 'one', status: 'done' }, { text: 'two', status: 'open' }] } }] }
  const r = await rig([plan, { text: 'stopping' }, { text: 'stopping' }, { text: 'stopping' }], { tools: [todo] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('input').filter((input) => input.from === 'tiller')).toHaveLength(2)
  expect(r.of('outcome')[0]).toMatchObject({ status: 'unverified', reason: '1 item of its todo list is still open: two' })
})

test('what was proved is named: the state of the files goes with the check and the outcome', async () => {
  let tree = 0
  const states = { ...host(), checkpoint: (why: string) => Promise.resolve({ tree: why === 'before the checks' ? `after-${tree}` : `before-${tree++}` }) }
  const r = await rig([put, { text: 'done' }], { tools: [change, shell(0)], checks: ['npm test'], host: states })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('check')[0]?.tree).toBe('after-1')
  expect(r.of('outcome')[0]).toMatchObject({ status: 'verified', tree: 'after-1' })
})

test('files that passed already are not checked again in the same run', async () => {
  const states = { ...host(), checkpoint: (why: string) => Promise.resolve({ tree: why === 'before the checks' ? 'after' : 'before' }) }
  const r = await rig([put, { text: 'done' }, { text: 'as I said' }], { tools: [change, shell(0, 1)], checks: ['npm test'], host: states })
  r.agent.subscribe((event) => {
    if (event.type === 'check') r.agent.send({ type: 'input', text: 'are you sure?' })
  })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('check')).toHaveLength(1)
  expect(r.of('outcome').map(({ status }) => status)).toEqual(['verified'])
})

test('a check that fails in the same way again says so to the model', async () => {
  const failing = tool('shell', (): Output => ({ status: 'failed', text: 'FAIL: expected 3', exit: 1 }), [{ kind: 'exec', argv: ['npm', 'test'] }])
  const r = await rig([put, { text: '1' }, put, { text: '2' }, { text: '3' }], { tools: [change, failing], checks: ['npm test'] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('input').filter(({ from }) => from === 'check').map(({ text }) => text.includes('exactly the same way'))).toEqual([false, true])
})

test.each([[0, 'npm test passed after the last change'], [1, 'the checks do not pass on the files as they are']])('a run that a limit ends says what the checks say of its work (exit %i)', async (exit, said) => {
  const r = await rig([put, put, put], { tools: [change, shell(exit)], checks: ['npm test'], limits: { steps: 1, sameCall: 3, failedEdits: 3 } })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('outcome')).toMatchObject([{ status: 'limit', reason: `this run has used its 1 step (limits.steps) · ${said}` }])
  expect(r.of('check')).toHaveLength(1)
})

test('L5: calls that are written as text are told, and in the end that is how the run failed', async () => {
  const text = '<tool_call>{"name":"look","arguments":{}}</tool_call>'
  const r = await rig(Array.from({ length: 5 }, () => ({ text })), { tools: [tool('look', () => ({ status: 'ok', text: '' }))] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.model.requests).toHaveLength(3)
  expect(JSON.stringify(r.model.requests[1]?.messages.at(-1))).toContain('you wrote a tool call as text')
  expect(r.of('outcome')[0]).toMatchObject({ status: 'failed', reason: expect.stringContaining('tool calls as text') as string })
})

test('L8: an answer that goes on promising is no plain success', async () => {
  const r = await rig(Array.from({ length: 5 }, () => ({ text: 'Let me run the tests now.' })))
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect([r.model.requests.length, outcomeOf(r)]).toEqual([3, 'unverified'])
})
