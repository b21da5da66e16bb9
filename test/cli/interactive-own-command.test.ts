import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTerminal, READY } from '../support/interactive.ts'
import { openWorld, say } from '../support/world.ts'

it('C9: a command of the person\'s own is on the screen while it runs, and Esc or ctrl+c stops it', async () => {
  const world = await openWorld([say('Fine.')])
  const terminal = openTerminal(world)
  await terminal.waitFor(READY)
  for (const key of ['esc', 'ctrl+c']) {
    await terminal.type(`!touch ${key}; echo begun; sleep 300`, 'enter')
    await terminal.waitFor(new RegExp(`● ! touch ${key.replace('+', '\\+')}.*running[^]*begun[^]*Your command runs · Esc interrupts`), 30_000)
    await terminal.type(key)
    await terminal.waitFor((screen) => !screen.includes('Your command runs'), 30_000)
    expect(existsSync(join(world.repo, key))).toBe(true)
    expect(world.living()).toEqual([terminal.pid])
  }
  await terminal.type('And now?', 'enter')
  await terminal.waitFor(/Fine\./)
  expect(world.of('shell').map(({ exit, text }) => [exit, text.includes('interrupted')])).toEqual([[null, true], [null, true]])
  expect(JSON.stringify(world.server.requests[0]?.body['messages'])).toMatch(/The user ran a command.*interrupted.*And now\?/)
})

it('a session is not left while a command of the person runs in it, unless they leave the program', async () => {
  const world = await openWorld()
  const terminal = openTerminal(world)
  await terminal.waitFor(READY)
  await terminal.type('!touch begun; sleep 300', 'enter')
  await terminal.waitFor(/Your command runs/, 30_000)
  await terminal.type('/new', 'enter')
  await terminal.waitFor(/Your command runs: Esc stops it, then go to another session/)
  await terminal.type('ctrl+u', 'ctrl+d')
  await terminal.waitFor(/Your command runs\. Ctrl\+C interrupts it, twice leaves/)
  await terminal.type('ctrl+c', 'ctrl+c')
  expect((await terminal.exit(30_000)).exitCode).toBe(0)
  expect(world.living()).toEqual([])
})
