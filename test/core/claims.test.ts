import { expect, test } from 'vitest'
import { callAsText, openItems, promisesMore, unprovenClaim } from '../../src/core/claims.ts'
import type { Fact, SessionRecord } from '../../src/core/record.ts'

const log = (...facts: Fact[]): SessionRecord[] => facts.map((fact, seq) => ({ seq, at: seq, ...fact }))
const calls = (id: string, name: string, input: unknown): Fact => ({ type: 'reply', run: 'r', parts: [{ type: 'call', id, name, input }], stop: 'calls', usage: { input: 1, output: 1 } })
const edited: Fact[] = [calls('e', 'edit', {}), { type: 'result', run: 'r', call: 'e', status: 'ok', text: '', changes: [{ path: '/f', before: 'a', after: 'b' }] }]
const ran = (exit: number, command = 'npm test'): Fact[] => [calls('t', 'shell', { command }), { type: 'result', run: 'r', call: 't', status: exit === 0 ? 'ok' : 'failed', text: '', exit }]

test('tests that never ran after the change do not pass', () => {
  expect(unprovenClaim('Done. All tests pass now.', log(...ran(0), ...edited), 'r')).toMatch(/none ran after the last change/)
})

test('a failing test does not pass, whatever the answer says', () => {
  expect(unprovenClaim('All 12 tests pass.', log(...edited, ...ran(1, 'npm test 2>&1 | tail -3')), 'r')).toMatch(/failed \(npm test/)
})

test.each(['All tests pass.', 'The test suite is green.', 'I ran the unit tests and they passed.'])('what did pass after the change may be said: %s', (answer) => {
  expect(unprovenClaim(answer, log(...edited, ...ran(0)), 'r')).toBeNull()
})

test.each(['I did not run the tests.', 'The tests should pass once the server is up.', 'Two tests still fail, the others pass.', 'I renamed the test file.', 'The function passes its argument on.', 'Tests are skipped here, none pass.'])('an honest answer is not doubted: %s', (answer) => {
  expect(unprovenClaim(answer, log(...edited), 'r')).toBeNull()
})

test('a run that changed nothing may tell of tests', () => {
  expect(unprovenClaim('All tests pass.', log(...ran(0)), 'r')).toBeNull()
})

test('the newest list counts, and only what is not done', () => {
  const list = (id: string, status: string, result: 'ok' | 'failed' = 'ok'): Fact[] => [calls(id, 'todo', { items: [{ text: 'a', status: 'done' }, { text: 'b', status }] }), { type: 'result', run: 'r', call: id, status: result, text: '' }]
  expect(openItems(log(...list('1', 'open'), ...list('2', 'doing')), 'r')).toEqual(['b'])
  expect(openItems(log(...list('1', 'open'), ...list('2', 'done')), 'r')).toEqual([])
  // Its check failed, so the list before still holds.
  expect(openItems(log(...list('1', 'open'), ...list('2', 'done', 'failed')), 'r')).toEqual(['b'])
  expect(openItems(log(), 'r')).toEqual([])
})

test.each([
  ['Next I will run the tests:', true], ['Let me check the config...', true], ["I'll fix it now:", true], ['I will do it', true], ['The bug is in a.ts. Let me fix that.', true], ['Okay, now let me quickly run the tests', true],
  ['The steps are:\n1. one\n2. two', false], ['Done. Next time, run npm test.', false], ['Which file do you mean?', false], ['Let me know if you need anything else.', false], ["I'll wait for your decision.", false],
  ['I will fix it once you say which one.', false], ['Shall I go on? I can run the tests.', false], ['I will not change that file.', false], ['I fixed it. The parser will read both forms now.', false],
])('%s promises more: %s', (answer, more) => {
  expect(promisesMore(answer)).toBe(more)
})

test.each([
  ['<tool_call>{"name":"ls","arguments":{}}</tool_call>', true], ['```json\n{"name": "read", "arguments": {"path": "README.md"}}\n```', true], ['I look.\n<function=ls></function>', true], ['[TOOL_CALLS][{"name":"ls"}]', true], ['{"tool": "read", "path": "a"}', true],
  ['{"name": "tiller", "version": "1.0.0"}', false], ['The model writes `<tool_call>` before each call.', false], ['It is `{"name": "read"}` in the schema.', false], ['```json\n{"name": "acme"}\n```', false],
])('%s is a call written as text: %s', (answer, is) => {
  expect(callAsText(answer, ['read', 'ls'])).toBe(is)
})
