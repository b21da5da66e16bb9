import { expect, test } from 'vitest'
import { context } from '../../src/core/context.ts'
import { live } from '../../src/core/path.ts'
import type { Output } from '../../src/core/ports.ts'
import type { SessionRecord } from '../../src/core/record.ts'
import { treeOf, type TreePoint } from '../../src/core/tree.ts'
import { host, rig, tool, type Rig } from '../support/agent.ts'

const place = (r: Rig, text: string, kind: TreePoint['kind'] = 'input'): TreePoint => treeOf(r.log.all).find((each) => each.kind === kind && each.text.includes(text))!
const sent = (r: Rig, request: number): string => JSON.stringify(r.model.requests[request]?.messages)

async function say(r: Rig, text: string): Promise<void> {
  r.agent.send({ type: 'input', text })
  await r.agent.idle()
}

test('a path that was left comes back whole, over nested rewinds and a restart, and every prefix gives a valid request', async () => {
  const r = await rig(['one', 'two', 'three', 'four', 'five', 'six'].map((text) => ({ text: `answer ${text}` })))
  await say(r, 'first')
  await say(r, 'second')
  r.agent.send({ type: 'rewind', to: place(r, 'second').to })
  await say(r, 'third')
  r.agent.send({ type: 'rewind', to: place(r, 'third').to })
  await say(r, 'fourth')
  r.agent.send({ type: 'rewind', to: place(r, 'second', 'end').to })
  await say(r, 'fifth')
  expect(sent(r, 4)).toMatch(/first.*answer one.*second.*answer two.*fifth/)
  expect(sent(r, 4)).not.toMatch(/third|fourth/)
  const again = await rig([{ text: 'x' }], {}, { before: [...r.log.all] })
  again.agent.send({ type: 'rewind', to: place(again, 'fourth', 'end').to })
  await say(again, 'sixth')
  expect(sent(again, 0)).toMatch(/first.*answer one.*fourth.*answer four.*sixth/)
  expect(sent(again, 0)).not.toMatch(/second|third|fifth/)
  for (let end = 0; end <= again.log.all.length; end++) {
    const { messages } = context(live(again.log.all.slice(0, end)))
    for (const [index, { role }] of messages.entries()) expect(role).not.toBe(messages[index - 1]?.role)
  }
})

test('before a text that steered lies in the middle of a run: nothing is open there, also after a restart, and the next text begins a run', async () => {
  let r: Rig
  const steer = tool('look', () => {
    r.agent.send({ type: 'input', text: 'steer' })
    return { status: 'ok', text: 'seen' } satisfies Output
  })
  r = await rig([{ calls: [{ id: 'c1', name: 'look', input: {} }] }, { text: 'steered' }, { text: 'anew' }], { tools: [steer] })
  await say(r, 'go')
  const steered = place(r, 'steer')
  r.agent.send({ type: 'rewind', to: steered.to })
  // The text that waited there is not sent again by itself.
  expect(r.agent.state.live).toMatchObject({ run: null, waiting: [] })
  const again = await rig([{ text: 'anew' }], { tools: [steer] }, { before: [...r.log.all] })
  expect(again.of('outcome')).toHaveLength(1)
  await say(again, 'another way')
  expect(sent(again, 0)).toMatch(/go.*seen.*another way/)
  expect(sent(again, 0)).not.toMatch(/steer/)
  expect(again.of('outcome').map(({ status }) => status)).toEqual(['done', 'done'])
})

test('going back over records that cannot be read is refused and changes nothing, unless it is wanted anyway (J20)', async () => {
  const r = await rig([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
  for (const text of ['one', 'two', 'three']) await say(r, text)
  const damaged = r.log.all.filter(({ seq }) => seq !== 7)
  const again = await rig([{ text: 'd' }], {}, { before: damaged })
  const count = again.log.all.length
  again.agent.send({ type: 'rewind', to: 10 })
  again.agent.send({ type: 'rewind', to: 7 })
  expect(again.errors()).toEqual([expect.stringContaining('record 7 cannot be read'), expect.stringContaining('There is no record 7')])
  expect(again.log.all).toHaveLength(count)
  again.agent.send({ type: 'rewind', to: 6 })
  again.agent.send({ type: 'rewind', to: 10, anyway: true })
  expect(again.of('rewind').map(({ to }) => to)).toEqual([6, 10])
})

test('the model is told which files were put back, with the next text and only on the path where it knows them', async () => {
  const r = await rig([{ text: 'z' }, { text: 'a' }, { text: 'b' }, { text: 'c' }])
  await say(r, 'zero')
  await say(r, 'one')
  const changes = [{ path: '/w/kept.ts', before: '1', after: '0' }, { path: '/w/made.ts', before: '1', after: null }]
  r.agent.note({ type: 'checkpoint', why: 'before undo', tree: null, undo: { to: 1, changes: [...changes, { path: '/w/failed.ts', before: '1', after: '0' }] } })
  r.agent.note({ type: 'checkpoint', why: 'after undo', tree: null, undo: { to: 1, changes } })
  await say(r, 'two')
  expect(sent(r, 2)).toMatch(/put files back to an earlier state.*\/w\/kept\.ts.*\/w\/made\.ts \(removed\).*two/)
  expect(sent(r, 2)).not.toContain('failed.ts')
  r.agent.send({ type: 'rewind', to: place(r, 'one').to })
  await say(r, 'three')
  expect(sent(r, 3)).not.toContain('kept.ts')
})

test('what must not happen beside a run is refused then, holds the next one back, and ends with an interrupt', async () => {
  const r = await rig([{ text: 'a' }, { text: 'b' }])
  r.agent.send({ type: 'input', text: 'one' })
  await expect(r.agent.apart('undo', () => Promise.resolve())).rejects.toThrow(/A run is active: undo has to wait/)
  await r.agent.idle()
  const waits = r.agent.apart('undo', async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return 'ended'
  })
  r.agent.send({ type: 'input', text: 'two' })
  expect(r.model.requests).toHaveLength(1)
  r.agent.send({ type: 'interrupt' })
  expect(await waits).toBe('ended')
  await r.agent.idle()
  expect(r.agent.active()).toBeNull()
})

test('what a stopped command did to the files is looked at when its run has its outcome, and belongs to no run', async () => {
  const looks: string[] = []
  const looking = { ...host(), checkpoint: (why: string, signal: AbortSignal) => Promise.resolve(signal.aborted ? { tree: null, note: 'cancelled' } : { tree: `tree ${looks.push(why)}` }) }
  const command = tool('shell', (signal) => new Promise<Output>((resolve) => signal.addEventListener('abort', () => resolve({ status: 'interrupted', text: 'half' }))), [{ kind: 'exec', argv: ['make'] }])
  const r = await rig([{ calls: [{ id: 'c1', name: 'shell', input: {} }] }], { tools: [command], host: looking })
  r.agent.send({ type: 'input', text: 'go' })
  await r.until((event) => event.type === 'start')
  r.agent.send({ type: 'interrupt' })
  await r.until((event) => event.type === 'outcome')
  expect(looks).toEqual(['before shell'])
  await r.agent.idle()
  const last = r.log.all.slice(-2) as [SessionRecord, SessionRecord]
  expect(last).toMatchObject([{ type: 'outcome', status: 'interrupted' }, { type: 'checkpoint', call: 'c1', why: 'after a command that was stopped', tree: 'tree 2' }])
  expect(last[1]).not.toHaveProperty('run')
})
