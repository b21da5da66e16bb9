import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { expect, it } from 'vitest'
import { readLock } from '../../src/session/lock.ts'
import { openTerminal, sendText } from '../support/interactive.ts'
import { fight, fightTerminal } from '../support/rivals.ts'
import { calls, openWorld, say } from '../support/world.ts'

it('two starts at once on one session: one has it, the other is told who', async () => {
  const { won } = await fight(2)
  expect(Object.values(won).reduce((sum, count) => sum + count)).toBe(2)
})

it('two starts at once that both want to make it: one does, and nothing is mixed', async () => {
  await fight(2, true)
})

it('in a terminal the later one watches', async () => {
  await fightTerminal(2)
})

it('whoever watches sees it live and cannot write; /fork goes on in a copy, though the other one still runs', async () => {
  const world = await openWorld([calls(['shell', { command: 'until [ -e go ]; do sleep 0.02; done; echo the-output' }]), say('All of it.'), say('A copy.')], { unchecked: true })
  const first = world.start(['--json', '--mode', 'full', 'Work'])
  await first.until('spawn')
  const terminal = openTerminal(world, ['-c'], { columns: 200 })
  await terminal.waitFor(new RegExp(`open in another tiller \\(pid ${first.pid}\\), so here it is only watched`))
  await sendText(terminal, 'me too')
  await terminal.waitFor(/> me too[^]*\/fork goes on in a copy/)
  world.write('go', '')
  await terminal.waitFor(/● shell until.*ok[^]*the-output[^]*All of it\.[^]*done[^]*> me too/)
  expect((await first.ended).code).toBe(0)
  const before = readFileSync(world.sessions()[0] ?? '')
  await terminal.type('ctrl+a', 'ctrl+k')
  await sendText(terminal, '/fork')
  await terminal.waitFor(/a copy of/)
  await sendText(terminal, 'just me')
  await terminal.waitFor(/A copy\.[^]*done/)
  expect(readFileSync(world.sessions()[0] ?? '').equals(before)).toBe(true)
  expect(world.of('input').map(({ text }) => text)).toEqual(['Work', 'just me'])
})

it('whoever watches is told when the other one is gone, and can take over', async () => {
  const world = await openWorld([calls(['shell', { command: 'sleep 300' }]), say('Mine now.')], { unchecked: true })
  const first = world.start(['--json', '--mode', 'full', 'Work'])
  await first.until('spawn')
  const terminal = openTerminal(world, ['-c'], { columns: 200 })
  await terminal.waitFor(/only watched/)
  await terminal.waitFor(/running/)
  first.kill('SIGKILL')
  const screen = await terminal.waitFor(/The tiller that had this session open has ended\. \/resume \w+ takes it over\./)
  expect(screen).not.toMatch(/Working|running/)
  await sendText(terminal, `/resume ${world.of('session')[0]?.id ?? ''}`)
  await terminal.waitFor(/its last run ended as lost/)
  await sendText(terminal, 'go on')
  await terminal.waitFor(/Mine now\.[^]*done/)
})

it.each<[string, (lock: NonNullable<ReturnType<typeof readLock>>) => object, RegExp | null]>([
  ['of another machine', (lock) => ({ ...lock, host: `not-${hostname()}` }), /^tiller: \S+ can only be read here\. It was opened by pid \d+ on not-\S+, since \S+, and from here nobody can see whether that still runs\. If it does not, remove \S+\.lock\. A copy of it can go on: --fork \w+\n$/],
  ['of a process that has its pid now', (lock) => ({ ...lock, pid: process.pid }), null],
  ['from before the machine was started again', (lock) => ({ ...lock, space: 'another-boot x' }), null],
])('the lock %s', async (_, change, told) => {
  const world = await openWorld([calls(['shell', { command: 'sleep 300' }]), say('Here.')], { unchecked: true })
  const killed = world.start(['--json', '--mode', 'full', 'Work'])
  await killed.until('spawn')
  const lock = world.sessions()[0]?.replace(/\.jsonl$/, '.lock') ?? ''
  const held = readLock(lock)
  killed.kill('SIGKILL')
  await killed.ended
  writeFileSync(lock, JSON.stringify(held && change(held)))
  const { code, stderr } = await world.run(['-c', '-p', 'go on'])
  expect([code, stderr]).toEqual(told ? [2, expect.stringMatching(told)] : [0, ''])
})
