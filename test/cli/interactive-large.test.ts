import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { LAST, writeSession } from '../bench/sessions.ts'
import { openTerminal, READY } from '../support/interactive.ts'
import { openWorld, say, type World } from '../support/world.ts'

const TURNS = 600

/** A session that was never compacted, and that was killed in the middle of a run while a text waited. */
function large(world: World): string {
  const file = writeSession({ cwd: world.repo, sessions: join(world.repo, '.agent', 'sessions') }, 'large', { bytes: 6e6, turns: TURNS })
  let seq = readFileSync(file, 'utf8').trimEnd().split('\n').length
  const put = (fact: object): void => appendFileSync(file, `${JSON.stringify({ seq, at: 1_767_225_700_000 + seq++, ...fact })}\n`)
  put({ type: 'input', id: 'killed', text: 'what was killed', from: 'user', when: 'next' })
  put({ type: 'step', run: 'killed', number: 1, attempt: 1, inputs: ['killed'], model: 'bench/bench-model', request: { sha256: 'a'.repeat(64), bytes: 1 } })
  put({ type: 'reply', run: 'killed', parts: [{ type: 'call', id: 'killed-call', name: 'shell', input: { command: 'ls' } }], stop: 'calls', usage: { input: 1, output: 1 } })
  put({ type: 'input', id: 'waited', text: 'this one waited', from: 'user', when: 'next' })
  return file
}

it('a large session: its end is shown, what is sent at once goes out when all of it is read, and what waited in it comes back', async () => {
  // Its hashes of requests are made up.
  const world = await openWorld([say('Heard.')], { unchecked: true, config: { model: 'chat/test-model', compaction: { auto: false } } })
  large(world)
  const terminal = openTerminal(world, ['-c', '-m', 'chat/test-model'], { columns: 100, rows: 40 })
  await terminal.waitFor(new RegExp(LAST))
  await terminal.type('go on', 'enter')
  await terminal.waitFor(/lost: [^]*going on with "Turn 0[^]*Heard\./, 60_000)
  const all = terminal.all()
  expect(all.match(new RegExp(LAST, 'g'))).toHaveLength(1)
  expect(all.match(/going on with/g)).toHaveLength(1)
  expect(terminal.screen()).toMatch(/^> this one waited/m)
  const messages = JSON.stringify(world.server.requests[0]?.body['messages'])
  expect([messages.includes('Turn 0: what'), messages.includes(`Turn ${TURNS - 1}: what`), messages.includes('Not run: Tiller ended'), messages.includes('this one waited')]).toEqual([true, true, true, false])
  expect(messages).toMatch(/go on"\}?\]?\}\]$/)
  expect(world.of('outcome').slice(-2).map(({ status }) => status)).toEqual(['lost', 'done'])
  await terminal.type('ctrl+c', 'ctrl+d')
  expect((await terminal.exit()).exitCode).toBe(0)
})

it('one that is left before it is read is as it was, and free', async () => {
  const world = await openWorld([], { unchecked: true })
  const file = large(world)
  const before = readFileSync(file)
  const terminal = openTerminal(world, ['-c'], { columns: 100, rows: 40 })
  await terminal.type('ctrl+c', 'ctrl+c')
  await terminal.exit()
  expect(readFileSync(file).subarray(0, before.length).equals(before)).toBe(true)
  expect((await world.run(['-c', '-p', 'more'], {})).stderr).not.toContain('open in another')
})

it('/resume goes over to one in the same way', async () => {
  const world = await openWorld([say('Heard.')], { unchecked: true, config: { model: 'chat/test-model', compaction: { auto: false } } })
  large(world)
  const terminal = openTerminal(world, ['-m', 'chat/test-model'], { columns: 100, rows: 40 })
  await terminal.waitFor(READY)
  await terminal.type('/resume', 'enter')
  await terminal.waitFor(/Turn 0: what/)
  await terminal.type('enter')
  await terminal.waitFor(new RegExp(LAST))
  await terminal.type('ctrl+u', 'go on', 'enter')
  await terminal.waitFor(/Heard\./, 60_000)
  expect(JSON.stringify(world.server.requests[0]?.body['messages'])).toContain('Turn 0: what')
  await terminal.type('ctrl+c', 'ctrl+d')
  await terminal.exit()
})

it('one that is larger than the memory is shown, says so, and gives back what was sent to it', async () => {
  const world = await openWorld([], { unchecked: true })
  writeSession({ cwd: world.repo, sessions: join(world.repo, '.agent', 'sessions') }, 'large', { bytes: 60e6, turns: 6_000 })
  const terminal = openTerminal(world, ['-c', '-m', 'chat/test-model'], { columns: 100, rows: 40, env: { NODE_OPTIONS: '--max-old-space-size=100' } })
  await terminal.waitFor(new RegExp(LAST))
  await terminal.type('go on', 'enter')
  expect(await terminal.waitFor(/holds more live records/, 60_000)).toMatch(/^> go on$/m)
  await terminal.type('enter')
  await terminal.waitFor(/\/fork goes on in a copy/)
  expect(world.server.requests).toEqual([])
})
