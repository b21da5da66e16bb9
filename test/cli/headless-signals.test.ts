import { describe, expect, it } from 'vitest'
import type { RecordOf } from '../../src/core/record.ts'
import { calls, openWorld, say, type World } from '../support/world.ts'

const outcomes = (world: World): string[] => world.of('outcome').map(({ status }) => status)
const lastMessages = (world: World): string => JSON.stringify(world.server.requests.at(-1)?.body['messages'])

/** A command that lives, with a grandchild in a session of its own. */
const family = 'setsid sleep 300 & (sleep 300; true) & sleep 300'

describe('SIGINT', () => {
  it('during a command with grandchildren leaves nothing alive, and a result for each call; -c goes on', async () => {
    const world = await openWorld([calls(['shell', { command: `echo begun; ${family}` }], ['write', { path: 'never.txt', content: 'x' }])])
    const tiller = world.start(['--json', '--mode', 'full', 'Wait'])
    await tiller.until('output', ({ text }) => text.includes('begun'))
    tiller.kill('SIGINT')
    const { code, signal, events } = await tiller.ended
    expect([code, signal]).toEqual([130, null])
    expect(events.findLast(({ type }) => type === 'outcome')).toMatchObject({ status: 'interrupted' })
    expect(world.living()).toEqual([])
    expect(world.statuses()).toEqual(['interrupted', 'skipped'])
    expect(world.of('result')[0]?.text).toContain('begun')
    expect(outcomes(world)).toEqual(['interrupted'])
    expect(world.exists('never.txt')).toBe(false)

    world.server.push(say('Where were we?'))
    const again = await world.run(['-c', '-p', 'go on'])
    expect([again.code, again.stdout]).toEqual([0, 'Where were we?\n'])
    expect(lastMessages(world)).toContain('The user interrupted the work above')
    expect(world.sessions()).toHaveLength(1)
    expect(outcomes(world)).toEqual(['interrupted', 'done'])
  })

  it('while the model speaks keeps what it said, and ends the request', async () => {
    const world = await openWorld([{ text: 'One two three four', deltas: 4, silent: 4 }])
    const tiller = world.start(['--json', 'Count'])
    await tiller.until('delta', ({ text }) => text.includes('ree'))
    tiller.kill('SIGINT')
    expect((await tiller.ended).code).toBe(130)
    expect((await world.server.requests[0]?.closed)?.aborted).toBe(true)
    const [reply] = world.of('reply')
    expect(reply?.stop).toBe('interrupted')
    expect(reply?.parts).toEqual([{ type: 'text', text: expect.stringContaining('One two three') as string }])
    world.server.push(say('five'))
    expect((await world.run(['-c', '-p', 'go on'])).code).toBe(0)
    expect(lastMessages(world)).toContain('cut off by the user')
  })

  it('ends a wait between two attempts at once', async () => {
    const world = await openWorld([{ status: 503, json: { error: { message: 'busy' } }, headers: { 'retry-after': '50' } }])
    const tiller = world.start(['--json', 'Hello'])
    await tiller.until('reply', ({ retry }) => retry !== undefined)
    tiller.kill('SIGINT')
    expect((await tiller.ended).code).toBe(130)
    expect(world.server.requests).toHaveLength(1)
    expect(outcomes(world)).toEqual(['interrupted'])
  })

  it('during a check ends it, and the run is interrupted', async () => {
    const world = await openWorld([calls(['write', { path: 'a.txt', content: 'a\n' }]), say('Done.')])
    const tiller = world.start(['--json', '--mode', 'full', '--check', 'echo checking; sleep 300', 'Write'])
    await tiller.until('output', ({ text }) => text.includes('checking'))
    tiller.kill('SIGINT')
    expect((await tiller.ended).code).toBe(130)
    expect(world.living()).toEqual([])
    expect(outcomes(world)).toEqual(['interrupted'])
  })

  it('takes back what waited, so that it is not run when the session goes on', async () => {
    const world = await openWorld([calls(['shell', { command: 'sleep 300' }])])
    const tiller = world.start(['--json', '--json-in', '--mode', 'full', 'Wait'], { input: null })
    await tiller.until('spawn')
    tiller.send({ type: 'input', text: 'and then this', when: 'after' })
    await tiller.until('input', ({ when }) => when === 'after')
    tiller.kill('SIGINT')
    expect((await tiller.ended).code).toBe(130)
    expect(world.server.requests).toHaveLength(1)
    world.server.push(say('Hm?'))
    expect((await world.run(['-c', '-p', 'what is left?'])).code).toBe(0)
    expect(world.of('withdraw')).toHaveLength(1)
    expect(lastMessages(world)).not.toContain('and then this')
  })
})

it('SIGTERM ends it the same way, with 143', async () => {
  const world = await openWorld([calls(['shell', { command: family }])])
  const tiller = world.start(['--json', '--mode', 'full', 'Wait'])
  await tiller.until('spawn')
  tiller.kill('SIGTERM')
  expect((await tiller.ended).code).toBe(143)
  expect(world.living()).toEqual([])
  expect(world.statuses()).toEqual(['interrupted'])
  expect(world.of('outcome').map(({ status, reason }) => [status, reason])).toEqual([['interrupted', expect.stringMatching(/^ended by SIGTERM/)]])
})

it('a closed terminal ends it, too', async () => {
  const world = await openWorld([calls(['shell', { command: family }])])
  const tiller = world.start(['--json', '--mode', 'full', 'Wait'])
  await tiller.until('spawn')
  tiller.kill('SIGHUP')
  expect((await tiller.ended).code).toBe(129)
  expect(world.living()).toEqual([])
  expect(outcomes(world)).toEqual(['interrupted'])
})

it('a second signal leaves at once, recorded, and nothing stays alive', async () => {
  const world = await openWorld([calls(['shell', { command: `trap 'echo no' TERM; echo begun; while :; do sleep 0.1; done` }], ['ls', {}])])
  const tiller = world.start(['--json', '--mode', 'full', 'Wait'])
  await tiller.until('output', ({ text }) => text.includes('begun'))
  tiller.kill('SIGINT')
  await tiller.until('output', ({ text }) => text.includes('no'))
  tiller.kill('SIGINT')
  expect((await tiller.ended).code).toBe(130)
  expect(world.living()).toEqual([])
  // The command was being stopped, and nobody waited to see its end.
  expect(world.statuses()).toEqual(['unknown', 'skipped'])
  expect(world.of('outcome').map(({ status, reason }) => [status, reason])).toEqual([['interrupted', expect.stringContaining('a second signal, SIGINT')]])
  world.server.push(say('So be it.'))
  expect((await world.run(['-c', '-p', 'go on'])).code).toBe(0)
})

it('what a finished command left running ends with the program', async () => {
  const world = await openWorld([calls(['shell', { command: 'sleep 300 & echo started' }]), calls(['shell', { command: 'sleep 300', background: true }]), say('Both run.')])
  const { code, events } = await world.run(['--json', '--mode', 'full', 'Serve'])
  expect(code).toBe(0)
  expect(world.living()).toEqual([])
  expect(world.of('job')).toHaveLength(1)
  expect(events.filter((event) => 'seq' in event)).toEqual(world.records())
  const [left] = world.of('result') as [RecordOf<'result'>]
  expect(left.status).toBe('ok')
  expect(left.text).toMatch(/started/)
  expect(left.alive).toHaveLength(1)
})

it('a signal before anything began ends it without a session', async () => {
  const world = await openWorld()
  const tiller = world.start(['-p'], { input: null })
  await tiller.says('waiting')
  tiller.kill('SIGINT')
  const { code, signal } = await tiller.ended
  expect(signal ?? code).toBeOneOf(['SIGINT', 130])
  expect(world.sessions()).toEqual([])
})
