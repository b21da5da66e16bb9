import { expect, test } from 'vitest'
import type { SessionRecord } from '../../src/core/record.ts'
import { outcomeOf, rig, tool, type Rig } from '../support/agent.ts'
import { untilAborted } from '../support/scripted-model.ts'

const fill = ({ log }: Rig): void => void (log.failAt = 0)
const makeRoom = ({ log }: Rig): void => void delete log.failAt
const texts = (r: Rig): string[] => r.of('input').map(({ text }) => text)

test('a text that could not be saved was not taken: whoever sends it again sends it once', async () => {
  const r = await rig([{ text: 'hello' }])
  fill(r)
  r.agent.send({ type: 'input', text: 'hi' })
  r.agent.send({ type: 'set', mode: 'plan' })
  expect(r.errors()).toEqual([expect.stringMatching(/^This input could not be saved: .*no space/), expect.stringMatching(/^This set could not be saved/)])
  expect(r.agent.active()).toBe(null)
  makeRoom(r)
  r.agent.send({ type: 'input', text: 'hi' })
  await r.agent.idle()
  expect([texts(r), r.of('set'), outcomeOf(r)]).toEqual([['hi'], [], 'done'])
})

test('one that is in the file after all, though its author was told that it is not, is taken back', async () => {
  const r = await rig([{ text: 'hello' }])
  const { append } = r.log
  let landed: SessionRecord[] = []
  // As when the sync fails, and the write cannot be taken back.
  r.log.append = (facts) => {
    landed = append(facts)
    r.log.all.splice(-landed.length)
    r.log.append = append
    throw new Error('EIO: i/o error, fdatasync')
  }
  r.log.reopen = () => r.log.all.push(...landed) && landed.length
  r.agent.send({ type: 'input', text: 'hi' })
  r.agent.send({ type: 'input', text: 'hi' })
  await r.agent.idle()
  expect(r.of('withdraw').map(({ input }) => input)).toEqual([r.of('input')[0]?.id])
  expect(r.model.requests[0]?.messages).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }])
})

test('what happened while nothing could be saved waits in memory, every call of it, and is written first', async () => {
  const gate = Promise.withResolvers<void>()
  const r = await rig([{ calls: [{ id: 'a', name: 'look', input: {} }, { id: 'b', name: 'look', input: {} }] }, { text: 'on' }], {
    tools: [tool('look', async () => { await gate.promise; return { status: 'ok', text: 'seen' } })],
  })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'start' && event.call === 'b')
  fill(r)
  gate.resolve()
  await r.agent.idle()
  expect(r.errors()).toEqual([expect.stringMatching(/^The run stopped: .*no space/)])
  expect([r.agent.active(), r.of('result'), r.of('outcome')]).toEqual([null, [], []])
  makeRoom(r)
  r.agent.send({ type: 'input', text: 'go on' })
  await r.agent.idle()
  expect(r.of('result').map(({ call, status }) => [call, status])).toEqual([['a', 'ok'], ['b', 'ok']])
  expect(r.of('outcome').map(({ status, reason }) => [status, reason])).toEqual([['failed', expect.stringContaining('no space')], ['done', expect.any(String)]])
  expect(r.log.all.findIndex(({ type }) => type === 'outcome')).toBeLessThan(r.log.all.findLastIndex(({ type }) => type === 'input'))
})

test('a fault that is over at once still ends the run; its end is recorded, and what waited goes back', async () => {
  const r = await rig([{ calls: [{ name: 'look', input: {} }] }], { tools: [tool('look', () => {
    r.agent.send({ type: 'input', text: 'and then' })
    const { append } = r.log
    r.log.append = () => {
      r.log.append = append
      throw new Error('EIO: i/o error, fdatasync')
    }
    return { status: 'ok', text: '' }
  })] })
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect([outcomeOf(r), r.of('result').map(({ status }) => status), r.of('withdraw').length, r.errors()]).toEqual(['failed', ['ok'], 1, []])
  expect(r.model.requests).toHaveLength(1)
})

test('the person can stop a run though nothing can be saved', async () => {
  const r = await rig([{ text: 'for ever', hold: untilAborted }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'delta')
  r.agent.send({ type: 'input', text: 'waits' })
  fill(r)
  r.agent.send({ type: 'interrupt' })
  await r.agent.idle()
  expect(r.agent.active()).toBe(null)
  makeRoom(r)
  r.agent.send({ type: 'withdraw' })
  expect(r.of('reply').map(({ stop }) => stop)).toEqual(['interrupted'])
  expect(r.of('withdraw')).toHaveLength(1)
})

test('a rewind that cannot be carried out leaves everything else as it was', async () => {
  const r = await rig([{ text: 'one' }, { text: 'two' }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  const { append } = r.log
  r.log.append = (facts) => {
    if (facts.some(({ type }) => type === 'rewind')) throw new Error('more live records than fit into the memory')
    return append(facts)
  }
  r.agent.send({ type: 'rewind', to: 1 })
  r.agent.send({ type: 'input', text: 'on' })
  await r.agent.idle()
  expect([r.errors(), outcomeOf(r), r.of('outcome').length]).toEqual([[expect.stringContaining('fit into the memory')], 'done', 2])
})

test('a text sent during a compaction starts the next run', async () => {
  const r = await rig([{ text: 'one' }, { text: 'a summary' }, { text: 'two' }])
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  r.agent.send({ type: 'compact' })
  r.agent.send({ type: 'input', text: 'on' })
  await r.agent.idle()
  expect([r.of('compact').length, r.of('withdraw').length, r.of('outcome').length]).toEqual([1, 0, 2])
  expect(JSON.stringify(r.model.requests[2])).toContain('on')
})

test('what could not be recorded before it began has not begun: a text still waits, a call is skipped', async () => {
  const r = await rig([{ calls: [{ name: 'put', input: {} }] }, { text: 'done' }], { tools: [tool('put', () => ({ status: 'ok', text: '' }), [{ kind: 'write', path: '/w/f' }])] })
  const { append } = r.log
  const failAt = (type: 'step' | 'start'): void => {
    r.log.append = (facts) => {
      if (!facts.some((fact) => fact.type === type)) return append(facts)
      r.log.append = append
      fill(r)
      throw new Error('ENOSPC: no space left on device, write')
    }
  }
  failAt('step')
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect([r.model.requests, r.agent.state.live.waiting.map(({ text }) => text)]).toEqual([[], ['go']])
  makeRoom(r)
  failAt('start')
  r.agent.send({ type: 'input', text: 'on' })
  await r.agent.idle()
  makeRoom(r)
  r.agent.send({ type: 'set', title: 'x' })
  expect(r.of('step').map(({ inputs }) => inputs.length)).toEqual([2])
  expect([r.of('start'), r.of('result').map(({ status }) => status)]).toEqual([[], ['skipped']])
})
