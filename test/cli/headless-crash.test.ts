import { expect, it } from 'vitest'
import { crashRound } from '../support/crash-rounds.ts'
import { randomFrom } from '../support/random.ts'
import { calls, openWorld, say } from '../support/world.ts'

it('kill -9 in the middle of a command: nothing stays alive, -c tells the truth and goes on with a valid request', async () => {
  const world = await openWorld([calls(['shell', { command: 'echo begun; setsid sleep 300 & sleep 300' }], ['write', { path: 'never.txt', content: 'x' }])])
  const tiller = world.start(['--json', '--mode', 'full', 'Wait'])
  await tiller.until('output', ({ text }) => text.includes('begun'))
  tiller.kill('SIGKILL')
  expect((await tiller.ended).signal).toBe('SIGKILL')
  await expect.poll(() => world.living(), { timeout: 15_000 }).toEqual([])

  world.server.push(say('I see.'))
  const had = world.records().length
  const again = await world.run(['-c', '--json', 'go on'])
  expect(again.code).toBe(0)
  expect(again.events.filter((event) => 'seq' in event)).toEqual(world.records().slice(had))
  const results = world.of('result')
  expect(results.map(({ status }) => status)).toEqual(['unknown', 'skipped'])
  expect(results[0]?.text).toMatch(/whether it finished is not known[^]*begun/)
  expect(results[1]?.text).toContain('before it began')
  expect(world.of('outcome').map(({ status }) => status)).toEqual(['lost', 'done'])
  expect(world.exists('never.txt')).toBe(false)
})

it('kill -9 while a question is open: the call never ran, and -c says so', async () => {
  const world = await openWorld([calls(['shell', { command: 'touch PWNED' }])])
  const tiller = world.start(['--json', '--json-in', 'Touch'], { input: null })
  await tiller.until('ask')
  tiller.kill('SIGKILL')
  await tiller.ended
  world.server.push(say('Ask me again.'))
  expect((await world.run(['-c', '-p', 'did it run?'])).code).toBe(0)
  expect(world.of('result').map(({ status, text }) => [status, text])).toEqual([['skipped', 'Not run: Tiller ended before it was approved.']])
  expect(world.exists('PWNED')).toBe(false)
})

it('kill -9 while a text waits: it is delivered when the session goes on', async () => {
  const world = await openWorld([calls(['shell', { command: 'sleep 300' }])])
  const tiller = world.start(['--json', '--json-in', '--mode', 'full', 'Wait'], { input: null })
  await tiller.until('spawn')
  tiller.send({ type: 'input', text: 'mind the gap' })
  await tiller.until('input', ({ text }) => text === 'mind the gap')
  tiller.kill('SIGKILL')
  await tiller.ended
  world.server.push(say('I mind it.'))
  expect((await world.run(['-c', '-p', 'go on'])).code).toBe(0)
  expect(JSON.stringify(world.server.requests[1]?.body['messages'])).toMatch(/mind the gap.*go on/)
})

it('kill -9 at random points of a busy run loses nothing that was shown, and nothing false is told', async () => {
  const random = randomFrom(Number(process.env['TILLER_SEED'] ?? 1))
  for (let round = 0; round < 4; round++) await crashRound(random, 2_500)
})
