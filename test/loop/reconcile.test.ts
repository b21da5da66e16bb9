import { expect, test } from 'vitest'
import { context } from '../../src/core/context.ts'
import { live } from '../../src/core/path.ts'
import type { Fact, SessionRecord } from '../../src/core/record.ts'
import { rig, nothingSeen } from '../support/agent.ts'

const records = (...facts: Fact[]): SessionRecord[] => facts.map((fact, seq) => ({ seq, at: seq, ...fact }))
const call = (id: string, name: string) => ({ type: 'call' as const, id, name, input: {} })
const open = (...facts: Fact[]): SessionRecord[] =>
  records(
    { type: 'session', version: 1, id: 's', cwd: '/w', root: '/w' },
    { type: 'input', id: 'i1', text: 'go', from: 'user', when: 'next' },
    { type: 'step', run: 'r1', number: 1, attempt: 1, inputs: ['i1'], model: 'm', request: { sha256: '', bytes: 1 } },
    ...facts,
  )

test('a run that was open is lost, and says so to the model', async () => {
  const r = await rig([{ text: 'hello again' }], {}, { before: open() })
  expect(r.of('outcome')[0]).toMatchObject({ status: 'lost', run: 'r1' })
  r.agent.send({ type: 'input', text: 'hi' })
  await r.agent.idle()
  expect(r.model.requests[0]?.messages).toHaveLength(1)
  expect(JSON.stringify(r.model.requests[0])).toMatch(/go.*Tiller ended while.*hi/)
})

test('a call without a start is skipped, one that was asked never ran, a command is unknown with its output', async () => {
  const before = open(
    { type: 'reply', run: 'r1', parts: [call('c1', 'shell'), call('c2', 'shell'), call('c3', 'shell')], stop: 'calls', usage: { input: 1, output: 1 } },
    { type: 'start', run: 'r1', call: 'c1' },
    { type: 'spawn', run: 'r1', call: 'c1', pid: 4242, output: '/o' },
    { type: 'ask', run: 'r1', call: 'c2', accesses: [] },
  )
  const r = await rig([], {}, { before, look: { ...nothingSeen, lives: () => Promise.resolve(true), outputOf: () => Promise.resolve('half of it') } })
  expect(r.of('result').map((result) => `${result.call} ${result.status}: ${result.text}`)).toEqual([
    'c1 unknown: Tiller ended while it ran, so whether it finished is not known. Still running: process 4242.\nIts output up to then:\nhalf of it',
    'c2 skipped: Not run: Tiller ended before it was approved.',
    'c3 skipped: Not run: Tiller ended before it began.',
  ])
  expect(r.of('result')[0]?.alive).toEqual([4242])
})

test('a background command that is gone is said to have ended; one that lives is not', async () => {
  const before = open(
    { type: 'reply', run: 'r1', parts: [{ ...call('c1', 'shell'), input: { command: 'sleep 9' } }, call('c2', 'shell')], stop: 'calls', usage: { input: 1, output: 1 } },
    { type: 'spawn', run: 'r1', call: 'c1', pid: 1, job: 'job-1' },
    { type: 'spawn', run: 'r1', call: 'c2', pid: 2, job: 'job-2' },
    { type: 'spawn', run: 'r1', call: 'c2', pid: 3, job: 'job-3' },
    { type: 'job', id: 'job-3', command: 'x', exit: 0 },
    { type: 'outcome', run: 'r1', status: 'done', reason: '' },
  )
  const r = await rig([], {}, { before, look: { ...nothingSeen, lives: ({ pid }) => Promise.resolve(pid === 2) } })
  expect(r.of('job').slice(1)).toMatchObject([{ id: 'job-1', call: 'c1', command: 'sleep 9', exit: null, because: 'Tiller ended' }])
})

test.each([
  ['new', 'ok', 'the change was made'],
  ['old', 'interrupted', 'the change was not made'],
  ['third', 'unknown', 'somebody else changed it'],
])('a started edit is settled by the hash of the file: %s', async (now, status, text) => {
  const tidied: string[] = []
  const before = open(
    { type: 'reply', run: 'r1', parts: [call('c1', 'edit')], stop: 'calls', usage: { input: 1, output: 1 } },
    { type: 'start', run: 'r1', call: 'c1', changes: [{ path: '/w/f', before: 'old', intended: 'new' }] },
  )
  const r = await rig([], {}, { before, look: { ...nothingSeen, hashOf: () => Promise.resolve(now), tidy: (path) => Promise.resolve(void tidied.push(path)) } })
  expect(r.of('result')[0]).toMatchObject({ status, text: expect.stringContaining(text) })
  expect(tidied).toEqual(['/w/f'])
})

test.each([
  [{ made: 'yes', commit: 'abc Mend it' }, 'ok', 'The commit was made: abc Mend it'],
  [{ made: 'other', commit: 'abc [T-1] Mend it' }, 'unknown', 'with another message: abc [T-1] Mend it'],
  [{ made: 'no' }, 'interrupted', 'The commit was not made'],
  [null, 'unknown', 'whether it finished is not known'],
] as const)('a started commit is settled by its presence: %j', async (found, status, text) => {
  const before = open(
    { type: 'reply', run: 'r1', parts: [{ ...call('c1', 'git'), input: { op: 'commit', message: 'Mend it' } }], stop: 'calls', usage: { input: 1, output: 1 } },
    { type: 'start', run: 'r1', call: 'c1', head: 'h' },
    { type: 'spawn', run: 'r1', call: 'c1', pid: 4242 },
  )
  const asked: unknown[] = []
  const r = await rig([], {}, { before, look: { ...nothingSeen, commitOn: (head, { input }) => (asked.push(head, input), Promise.resolve(found)) } })
  expect(r.of('result')[0]).toMatchObject({ status, text: expect.stringContaining(text) })
  expect(asked).toEqual(['h', { op: 'commit', message: 'Mend it' }])
  const alive = await rig([], {}, { before, look: { ...nothingSeen, lives: () => Promise.resolve(true), commitOn: () => Promise.resolve({ made: 'no' }) } })
  expect(alive.of('result')[0]).toMatchObject({ status: 'unknown', alive: [4242] })
})

test('every prefix of a log gives a request in which each call has one result, in order', async () => {
  const r = await rig([{ text: 'a', calls: [{ id: 'x', name: 'nope', input: {} }, { id: 'y', name: 'nope', input: {} }] }, { text: 'half', fault: { kind: 'server', message: 'down' } }, { calls: [{ id: 'x', name: 'nope', input: {} }] }, { text: 'end' }, { text: 'more' }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  r.agent.send({ type: 'input', text: 'again' })
  await r.agent.idle()
  expect(r.log.all.length).toBeGreaterThan(12)
  for (let end = 0; end <= r.log.all.length; end++) {
    const { messages } = context(live(r.log.all.slice(0, end)))
    for (const [index, message] of messages.entries()) {
      expect(message.role).not.toBe(messages[index - 1]?.role)
      const calls = message.role === 'assistant' ? message.parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])) : []
      const next = messages[index + 1]
      if (calls.length > 0) expect(next?.role === 'tool' && next.results.map((result) => result.call)).toEqual(calls)
    }
  }
})

test('a rewind leads back, and what was on the other path is not sent; mode and cost are not forgotten', async () => {
  const r = await rig([{ text: 'first' }, { text: 'second' }, { text: 'third' }])
  r.agent.send({ type: 'input', text: 'one' })
  await r.agent.idle()
  const head = r.log.all.at(-1)!.seq
  r.agent.send({ type: 'input', text: 'two' })
  await r.agent.idle()
  r.agent.send({ type: 'set', mode: 'plan' })
  r.agent.send({ type: 'rewind', to: head })
  r.agent.send({ type: 'input', text: 'other' })
  await r.agent.idle()
  const sent = JSON.stringify(r.model.requests[2])
  expect(sent).toContain('first')
  expect(sent).not.toContain('two')
  expect(r.agent.state.mode).toBe('plan')
  expect(r.agent.state.totals.steps).toBe(3)
})
