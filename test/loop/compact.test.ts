import { expect, test } from 'vitest'
import type { RecordOf } from '../../src/core/record.ts'
import { readState } from '../../src/core/state.ts'
import { context } from '../../src/core/context.ts'
import { live } from '../../src/core/path.ts'
import { nextBytes } from '../../src/loop/compact.ts'
import { host, outcomeOf, rig, tool } from '../support/agent.ts'
import { scriptedModel, untilAborted, type ScriptedReply } from '../support/scripted-model.ts'

const big = tool('look', () => ({ status: 'ok', text: 'x'.repeat(4_000) }))
const isSummary = (request: { system: string }): boolean => request.system.includes('summarise')
/** Works for some steps, and writes a summary whenever it is asked for one. */
const worker = (steps: number, summary: ScriptedReply = { text: 'SUMMARY OF IT', usage: { input: 0, output: 0 } }) => {
  let done = 0
  return Array.from({ length: 200 }, () => (request: { system: string }): ScriptedReply => {
    if (isSummary(request)) return summary
    return done++ < steps ? { calls: [{ name: 'look', input: { done } }], usage: { input: 0, output: 0 } } : { text: 'finished', usage: { input: 0, output: 0 } }
  })
}

test('older records give way to a summary before the window is full, and no call is parted from its result', async () => {
  const r = await rig(worker(20), { tools: [big] }, { limits: { contextWindow: 12_000, maxOutput: 1_000 } })
  r.agent.send({ type: 'input', text: 'THE GOAL' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('done')
  expect(r.of('compact').length).toBeGreaterThan(0)
  for (const request of r.model.requests.filter((each) => !isSummary(each))) {
    const calls = request.messages.flatMap((message) => (message.role === 'assistant' ? message.parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])) : []))
    const results = request.messages.flatMap((message) => (message.role === 'tool' ? message.results.map((result) => result.call) : []))
    expect(results).toEqual(calls)
    expect(JSON.stringify(request).length * 0.28).toBeLessThan(12_000)
  }
  expect(JSON.stringify(r.model.requests.at(-1))).toContain('SUMMARY OF IT')
})

test('the size of the next request is told from the newest one and what came since', async () => {
  const r = await rig(worker(20), { tools: [big] }, { limits: { contextWindow: 12_000, maxOutput: 1_000 } })
  r.agent.send({ type: 'input', text: 'THE GOAL' })
  r.agent.send({ type: 'input', text: 'and '.repeat(500), when: 'after' })
  await r.agent.idle()
  const steps = r.of('step')
  expect(steps.length).toBeGreaterThan(20)
  for (const step of steps) {
    const told = nextBytes(live(r.log.all.filter(({ seq }) => seq < step.seq)), step.inputs)
    expect(told).toBeGreaterThan(step.request.bytes * 0.98 - 100)
    expect(told).toBeLessThan(step.request.bytes * 1.1 + 100)
  }
})

test('a log opened from where the last compaction keeps says the same as the whole', async () => {
  const r = await rig(worker(20), { tools: [big] }, { limits: { contextWindow: 12_000, maxOutput: 1_000 } })
  r.agent.send({ type: 'set', mode: 'full', title: 'T' })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  const keep = r.of('compact').at(-1)!.keep
  const tail = r.log.all.filter((record) => record.seq >= keep)
  const [whole, part] = [readState(r.log.all), readState(tail)]
  expect({ ...part, session: null, live: null }).toEqual({ ...whole, session: null, live: null })
  expect(part.live.waiting).toEqual(whole.live.waiting)
  expect(context(live(tail)).messages).toEqual(context(live(r.log.all)).messages)
})

test('a summary that was cut off is not kept', async () => {
  const r = await rig(worker(20, { text: 'SUMM', stop: 'length' }), { tools: [big] }, { limits: { contextWindow: 12_000, maxOutput: 1_000 } })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('compact')).toHaveLength(0)
  expect(outcomeOf(r)).toBe('failed')
})

test('a request that the server calls too large is compacted once and tried again, with the window it named', async () => {
  let refused = false
  const replies = Array.from({ length: 40 }, (_, index) => (request: { system: string }): ScriptedReply => {
    if (isSummary(request)) return { text: 'SUMMARY' }
    if (index < 4) return { calls: [{ name: 'look', input: { index } }], usage: { input: 0, output: 0 } }
    if (!refused) {
      refused = true
      return { fault: { kind: 'overflow', message: 'too long', contextWindow: 8_192 } }
    }
    return { text: 'fine', usage: { input: 0, output: 0 } }
  })
  const r = await rig(replies, { tools: [big] }, { limits: { contextWindow: 65_000 } })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('compact')).toHaveLength(1)
  expect(outcomeOf(r)).toBe('done')
  // X10: the next run does not have to be refused first.
  for (let more = 0; more < 4; more++) {
    r.agent.send({ type: 'input', text: 'x'.repeat(9_000) })
    await r.agent.idle()
  }
  expect(r.of('compact').length).toBeGreaterThan(1)
  expect(r.of('reply').filter(({ fault }) => fault)).toHaveLength(1)
})

test('what cannot be made to fit ends the run after two compactions at most', async () => {
  const r = await rig(worker(100), { tools: [tool('look', () => ({ status: 'ok', text: 'y'.repeat(60_000) }))] }, { limits: { contextWindow: 3_000, maxOutput: 500 } })
  r.agent.send({ type: 'input', text: 'go '.repeat(6_000) })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('failed')
  expect(r.model.requests.filter(isSummary).length).toBeLessThanOrEqual(2)
  expect(r.of('outcome')[0]?.reason).toContain('does not fit')
})

test('an interrupt reaches a compaction at once', async () => {
  const answer = (request: { system: string }): ScriptedReply => (isSummary(request) ? { hold: untilAborted } : { text: 'one' })
  const r = await rig([answer, answer, answer])
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  const before = r.log.all.length
  r.agent.send({ type: 'compact' })
  while (r.model.requests.length < 2) await new Promise(setImmediate)
  r.agent.send({ type: 'interrupt' })
  await r.agent.idle()
  expect(r.log.all.slice(before)).toEqual([])
  r.agent.send({ type: 'input', text: 'hi' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('done')
})

test('a compaction on a path that was left does not loosen what an earlier one says', () => {
  const carry = { mode: 'plan' as const, grants: [], totals: { steps: 9, calls: 9, input: 9, output: 9, cost: 9, costUnknown: false }, seen: [], inputs: [] }
  const state = readState([
    { seq: 10, at: 1, type: 'step', run: 'r', number: 1, attempt: 1, inputs: [], model: 'm', request: { sha256: '', bytes: 1 } },
    { seq: 11, at: 1, type: 'compact', summary: 's', keep: 10, tokens: { before: 1, after: 1 }, carry },
    { seq: 12, at: 1, type: 'compact', summary: 't', keep: 12, tokens: { before: 1, after: 1 }, carry: { ...carry, mode: 'full' } },
    { seq: 13, at: 1, type: 'rewind', to: 11 },
  ])
  expect(state.mode).toBe('plan')
  expect(state.totals.steps).toBe(9)
})

const full = { tools: [big] }
const small = { limits: { contextWindow: 12_000, maxOutput: 1_000 } }

test('C7: a summary that the server cannot give yet is asked for again, and each wait is told', async () => {
  let asked = 0
  const r = await rig(worker(20).map((next) => (request) => (isSummary(request) && asked++ < 2 ? { fault: { kind: 'overload', message: 'busy' } } : next(request))), full, small)
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('done')
  expect(r.events.flatMap((event) => (event.type === 'retry' ? [[event.fault.message, event.attempt]] : []))).toEqual([['busy', 1], ['busy', 2]])
})

test('why no summary came about is said, in the middle of a run and for /compact', async () => {
  const r = await rig(worker(20).map((next) => (request) => (isSummary(request) ? { fault: { kind: 'auth', message: 'The key was refused.' } } : next(request))), full, small)
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('outcome').at(-1)).toMatchObject({ status: 'failed', reason: expect.stringContaining('The key was refused.') as string })
  r.agent.send({ type: 'compact' })
  await r.agent.idle()
  expect(r.errors()).toEqual(['Nothing was compacted and nothing was changed: The key was refused.'])
})

test('C7: an interrupt ends the wait for a summary, of a run and of /compact', async () => {
  const waits: AbortSignal[] = []
  const patient = { ...host(), wait: (_: number, signal: AbortSignal): Promise<void> => (waits.push(signal), untilAborted(signal)) }
  const r = await rig(worker(4).map((next) => (request) => (isSummary(request) ? { fault: { kind: 'overload', message: 'busy' } } : next(request))), { ...full, host: patient }, { limits: { contextWindow: 100_000 } })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  r.agent.send({ type: 'compact' })
  await r.until((event) => event.type === 'retry')
  r.agent.send({ type: 'interrupt' })
  await r.agent.idle()
  expect(waits).toHaveLength(1)
  expect(r.errors()).toEqual(['Compaction was interrupted; nothing was changed.'])
  expect(r.of('compact')).toHaveLength(0)
})

test('C9: what cuts in while a run compacts comes right after the summary, which it needs as well', async () => {
  let say = (): void => undefined
  const r = await rig(worker(20).map((next) => (request) => {
    const reply = next(request)
    if (isSummary(request)) say()
    return isSummary(request) ? { ...reply, hold: () => new Promise<void>((resolve) => setImmediate(resolve)) } : reply
  }), full, small)
  say = (): void => {
    say = (): void => undefined
    r.agent.send({ type: 'input', text: 'NOW THIS', when: 'now' })
  }
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('done')
  const now = r.of('input').find(({ text }) => text === 'NOW THIS')
  const delivered = r.of('step').find(({ inputs }) => now && inputs.includes(now.id))
  expect(delivered?.seq).toBeGreaterThan(r.of('compact')[0]?.seq ?? Infinity)
  expect(r.of('reply').some(({ stop }) => stop === 'interrupted')).toBe(false)
})

test('another model takes over where the set one gives no summary', async () => {
  const other = scriptedModel(worker(20), { contextWindow: 12_000, maxOutput: 1_000 })
  const script = worker(20).map((next) => (request: { system: string }): ScriptedReply => (isSummary(request) ? { fault: { kind: 'quota', message: 'spent' } } : next(request)))
  const first = scriptedModel(script, { contextWindow: 12_000, maxOutput: 1_000 })
  const r = await rig([], { ...full, fallback: 'test/other', model: (id) => Promise.resolve(id === 'test/other' ? { ...other, id } : first) })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('done')
  expect(r.of('compact').length).toBeGreaterThan(0)
})

test('X2: a summary request that the server calls too large is made smaller', async () => {
  const sizes: number[] = []
  const r = await rig(worker(30).map((next) => (request) => {
    if (!isSummary(request)) return next(request)
    const size = JSON.stringify(request.messages).length
    sizes.push(size)
    return size > 6_000 ? { fault: { kind: 'overflow', message: 'too long' } } : next(request)
  }), full, small)
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('done')
  expect(sizes[1]).toBeLessThan(sizes[0] ?? 0)
})

test('X3: for a summary that was cut off a briefer one is asked', async () => {
  let asked = 0
  const r = await rig(worker(20).map((next) => (request) => (isSummary(request) && asked++ === 0 ? { text: 'SUMM', stop: 'length' } : next(request))), full, small)
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(outcomeOf(r)).toBe('done')
  expect(r.of('compact')[0]?.summary).toBe('SUMMARY OF IT')
  expect(JSON.stringify(r.model.requests.filter(isSummary)[1])).toContain('be brief')
})

test('a limit that was raised for the session stays raised after a compaction', async () => {
  const raised: RecordOf<'choice'> = { seq: 3, at: 3, type: 'choice', run: 'r0', choice: 'raise', by: 'user', reached: { of: 'session', limit: 'steps', by: 50 } }
  const r = await rig(worker(20), full, { ...small, before: [{ seq: 0, at: 0, type: 'session', version: 1, id: 's', cwd: '/w', root: '/w' }, { ...raised, seq: 1 }] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  const keep = r.of('compact').at(-1)!.keep
  expect(readState(r.log.all.filter((record) => record.seq >= keep)).raised).toEqual([raised.reached])
})
