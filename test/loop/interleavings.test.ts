import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Command } from '../../src/core/command.ts'
import { context } from '../../src/core/context.ts'
import { live } from '../../src/core/path.ts'
import { rig, tool, type Rig } from '../support/agent.ts'
import { untilAborted, type ScriptedReply } from '../support/scripted-model.ts'

/** What the person does when the n-th event has come. */
type Move = { at: number; do: 'next' | 'after' | 'now' | 'withdraw' | 'interrupt' | 'allow' | 'deny' | 'mode' | 'compact' | 'rewind' }

const moves = fc.array(fc.record({ at: fc.nat(60), do: fc.constantFrom('next', 'after', 'now', 'withdraw', 'interrupt', 'allow', 'deny', 'mode', 'compact', 'rewind') }), { maxLength: 12 }) as fc.Arbitrary<Move[]>
const shapes = fc.array(fc.constantFrom('text', 'read', 'write', 'two', 'stuck', 'cut', 'fault', 'held'), { minLength: 1, maxLength: 8 })

const TOOLS = [
  tool('look', async () => { await Promise.resolve(); return { status: 'ok', text: `${Math.random()}` } }),
  tool('put', async () => { await new Promise(setImmediate); return { status: 'ok', text: 'done' } }, [{ kind: 'write', path: '/w/f' }]),
  tool('stuck', async (signal) => { await Promise.race([untilAborted(signal), new Promise((resolve) => setTimeout(resolve, 5))]); return { status: signal.aborted ? 'interrupted' : 'ok', text: '' } }, [{ kind: 'write', path: '/w/g' }]),
]

const REPLIES: Record<string, ScriptedReply> = {
  text: { text: 'said' },
  read: { text: 'a', calls: [{ name: 'look', input: {} }] },
  write: { calls: [{ name: 'put', input: {} }] },
  two: { calls: [{ name: 'look', input: {} }, { name: 'put', input: {} }, { name: 'look', input: {} }] },
  stuck: { calls: [{ name: 'stuck', input: {} }, { name: 'put', input: {} }] },
  cut: { calls: [{ name: 'put', input: {} }], stop: 'length' },
  fault: { text: 'half', fault: { kind: 'server', message: 'down' } },
  held: { text: 'slowly', hold: (signal) => Promise.race([untilAborted(signal), new Promise<void>((resolve) => setTimeout(resolve, 3))]) },
}

function commandFor(move: Move, r: Rig): Command | null {
  const asked = r.of('ask').at(-1)
  switch (move.do) {
    case 'next':
    case 'after':
    case 'now':
      return { type: 'input', text: `${move.do} at ${move.at}`, when: move.do }
    case 'withdraw':
    case 'interrupt':
      return { type: move.do }
    case 'allow':
    case 'deny':
      return asked ? { type: 'decide', call: asked.call, verdict: move.do } : null
    case 'mode':
      return { type: 'set', mode: 'full' }
    case 'compact':
      return { type: 'compact' }
    case 'rewind':
      return { type: 'rewind', to: Math.max(0, (r.log.all.at(-1)?.seq ?? 0) - 3) }
  }
}

function check(r: Rig): void {
  const delivered = r.of('step').flatMap((step) => step.inputs)
  const withdrawn = r.of('withdraw').map((record) => record.input)
  const waiting = r.agent.state.live.waiting.map((input) => input.id)
  const rewound = r.of('rewind').length > 0
  for (const input of r.of('input')) {
    const times = [delivered, withdrawn, waiting].map((list) => list.filter((id) => id === input.id).length)
    // A text is delivered, taken back or waiting: one of them, once. Only a rewind may leave one on a path that was left.
    if (!rewound) expect(times.reduce((sum, each) => sum + each, 0), `input ${input.text} of ${input.from}`).toBe(1)
    expect(times[0]).toBeLessThanOrEqual(1)
  }
  for (const reply of r.of('reply')) {
    if (reply.stop === 'error' || reply.stop === 'interrupted') continue
    for (const part of reply.parts) if (part.type === 'call') expect(r.of('result').filter((result) => result.call === part.id)).toHaveLength(1)
  }
  for (const run of new Set(r.of('step').map((step) => step.run))) {
    expect(r.of('outcome').filter((outcome) => outcome.run === run)).toHaveLength(1)
    expect(r.log.all.findLast((record) => 'run' in record && record.run === run)?.type).toBe('outcome')
  }
  for (const start of r.of('start')) expect(r.of('result').some((result) => result.call === start.call && result.seq > start.seq)).toBe(true)
  for (const { messages } of [context(live(r.log.all))]) {
    for (const [index, message] of messages.entries()) {
      const calls = message.role === 'assistant' ? message.parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])) : []
      const next = messages[index + 1]
      if (calls.length > 0) expect(next?.role === 'tool' && next.results.map((result) => result.call)).toEqual(calls)
    }
  }
  const recorded = r.events.filter((event) => 'seq' in event).map((event) => ('seq' in event ? event.seq : -1))
  expect(recorded).toEqual(recorded.toSorted((a, b) => a - b))
}

test('steer, cancel, approve and finish against each other: no text is lost or delivered twice, no call is without its one result', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(shapes, moves, fc.boolean(), async (shape, plan, asks) => {
      const r = await rig(shape.map((name) => ({ ...REPLIES[name] })), { tools: TOOLS, defaults: { model: 'test/scripted', effort: 'medium', mode: asks ? 'ask' : 'full' } })
      let count = 0
      r.agent.subscribe(() => {
        const now = count++
        for (const move of plan) {
          const command = move.at === now ? commandFor(move, r) : null
          if (command) r.agent.send(command)
        }
      })
      // Nobody answers for ever: what is still open a moment later is denied.
      const left = setInterval(() => r.agent.nobody(), 8)
      r.agent.send({ type: 'input', text: 'go' })
      await r.agent.idle()
      clearInterval(left)
      check(r)
    }),
    { numRuns: 300 },
  )
})
