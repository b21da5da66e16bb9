import { expect, test } from 'vitest'
import { readState } from '../../src/core/state.ts'
import { context } from '../../src/core/context.ts'
import { live } from '../../src/core/path.ts'
import { nextBytes } from '../../src/loop/compact.ts'
import { outcomeOf, rig, tool } from '../support/agent.ts'
import { untilAborted, type ScriptedReply } from '../support/scripted-model.ts'

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
    return { text: 'fine' }
  })
  const r = await rig(replies, { tools: [big] }, { limits: { contextWindow: 65_000 } })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect(r.of('compact')).toHaveLength(1)
  expect(outcomeOf(r)).toBe('done')
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
