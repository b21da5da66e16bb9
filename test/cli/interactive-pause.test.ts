import { expect, it } from 'vitest'
import { answer, openTerminal, READY } from '../support/interactive.ts'
import { calls, openWorld, say } from '../support/world.ts'

it('at a limit a person is asked: more of it, and then a summary', async () => {
  const look = (at: number) => calls(['ls', { path: '.', limit: at }])
  const world = await openWorld([look(1), look(2), look(3), look(4), say('So far: four looks.')])
  const terminal = openTerminal(world, ['--mode', 'full', '--max-steps', '2', 'Begin'])
  await answer(terminal, /Paused: this run has used its 2 steps/, '1')
  await terminal.waitFor(/goes on: this run may use 2 steps more/)
  await answer(terminal, /Paused: this run has used its 4 steps/)
  // A text that is begun takes the keys; it is queued, and raises nothing.
  await terminal.type('1 more thing', 'enter')
  await terminal.waitFor(/1 more thing \(before the next request/)
  await answer(terminal, /Stop with a summary/, '2')
  await terminal.waitFor(/So far: four looks\.[^]*limit: this run has used its 4 steps/)
  expect(world.of('choice').map(({ choice }) => choice)).toEqual(['raise', 'summarise'])
  expect(JSON.stringify(world.server.requests.at(-1)?.body)).toContain('1 more thing')
})

it('Esc at the question stops the run', async () => {
  const world = await openWorld([calls(['ls', {}])])
  const terminal = openTerminal(world, ['--mode', 'full', '--max-steps', '1', 'Begin'])
  await answer(terminal, /Paused:/, 'esc')
  await terminal.waitFor(/interrupted: interrupted by the user/)
  await terminal.waitFor(READY)
})

it('a check that keeps failing ends as unverified, and asks what now', async () => {
  const world = await openWorld([calls(['write', { path: 'a.txt', content: 'x\n' }]), say('Done.'), say('Cannot do it.'), calls(['shell', { command: 'touch good' }]), say('Now it is.')])
  const terminal = openTerminal(world, ['--mode', 'full', '--check', 'test -e good', 'Begin'])
  world.configure({ checkAttempts: 2 })
  await answer(terminal, /unverified: test -e good \(exit 1\) still fails after[^]*Not proved\. What now\?/, '1')
  await terminal.waitFor(/verified: test -e good passed after the last change/)
  expect(world.of('outcome').map(({ status }) => status)).toEqual(['unverified', 'verified'])
  expect(world.of('outcome').at(-1)).toHaveProperty('tree')
})

it('what an interrupt stopped is said, on the screen and in the log', async () => {
  const world = await openWorld([calls(['shell', { command: 'sleep 301; touch x' }], ['ls', {}])])
  const terminal = openTerminal(world, ['--mode', 'full', 'Begin'])
  await terminal.waitFor(/running/)
  await terminal.type('esc')
  await terminal.waitFor(/interrupted: interrupted by the user · stopped: shell sleep 301; touch x · not\s+begun: 1 call/)
  expect(world.of('outcome')[0]?.reason).toContain('stopped: shell sleep 301; touch x · not begun: 1 call')
})

it('who lets it go on gets what was to be proved checked, also where nothing more is changed', async () => {
  const world = await openWorld([calls(['write', { path: 'a.txt', content: 'x' }]), say('Done.'), say('It is done.')], { config: { mode: 'full', checks: ['test -e good'], checkAttempts: 1 } })
  const terminal = openTerminal(world)
  await terminal.waitFor(READY)
  await terminal.type('Make it', 'enter')
  await answer(terminal, /Not proved\. What now\?/, '1')
  await terminal.waitFor(/It is done\.[^]*■ unverified: test -e good \(exit 1\)[^]*Not proved\. What now\?/, 60_000)
  expect(world.of('outcome').map(({ status }) => status)).toEqual(['unverified', 'done', 'unverified'])
})

it('T22: in plain lines what happened comes before what is asked about it', async () => {
  const world = await openWorld([calls(['write', { path: 'a.txt', content: 'x' }]), say('Done.')], { config: { mode: 'full', checks: ['false'], checkAttempts: 1 } })
  const terminal = openTerminal(world, [], { rows: 60, env: { TERM: 'dumb' } })
  await terminal.waitFor(/\/help lists the commands/)
  terminal.write('Make it\r')
  await terminal.waitFor(/= unverified: false \(exit 1\)[^]*Not proved\. What now\?[^]*Answer with a number/, 60_000)
})
