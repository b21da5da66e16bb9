import { expect, test } from 'vitest'
import type { Pty } from '../support/pty.ts'
import { fixtureTerminals } from './fixture-terminals.ts'

const fixture = fixtureTerminals()
const { noted } = fixture

async function screen(env: Record<string, string> = {}): Promise<Pty> {
  const terminal = fixture.open(process.execPath, [fixture.program], { rows: 60, env: { TERM: 'dumb', ...env } })
  await terminal.waitFor(/\/help lists the commands/)
  return terminal
}

test('a dumb terminal gets lines that are only appended, without a single control sequence (T22)', async () => {
  const terminal = await screen()
  terminal.write('hello\r')
  await terminal.waitFor(/echo: hello[^]*done: answered/)
  terminal.write('sleep\r')
  await terminal.waitFor(/running shell sleep 300/)
  terminal.write('steer\r')
  await terminal.waitFor(/waiting .*: steer/)
  terminal.write('\x03')
  await terminal.waitFor(/not sent, it goes with your next line: steer/)
  terminal.write('and more\r')
  await terminal.waitFor(/echo: steer/)
  expect(noted().filter(({ type }) => type === 'input').at(-1)).toMatchObject({ text: 'steer\nand more' })
  expect(terminal.bytes()).not.toContain('\x1b')
})

test('a question is answered by a word on a line of its own, all else is text', async () => {
  const terminal = await screen()
  terminal.write('ask\r')
  await terminal.waitFor(/Allow shell\?[^]*\$ touch PWNED[^]*yes project, or no/)
  terminal.write('yes but carefully\r')
  await terminal.waitFor(/waiting .*: yes but carefully/)
  expect(noted().filter(({ type }) => type === 'decide')).toEqual([])
  terminal.write('no\r')
  await terminal.waitFor(/it was denied/)
})

test('lists are numbered, and the end of input leaves', async () => {
  const terminal = await screen({ FIXTURE_FIRST: 'trust' })
  await terminal.waitFor(/Do you trust[^]*1\. No[^]*2\. Yes/)
  terminal.write('2\r')
  terminal.write('/resume\r')
  await terminal.waitFor(/1\. Fix the parser \(3 min ago/)
  terminal.write('1\r')
  await terminal.waitFor(/session s2/)
  terminal.write('\x04')
  expect(await terminal.exit()).toMatchObject({ exitCode: 0 })
  expect(noted()).toContainEqual({ trusted: true })
})
