import { expect, test } from 'vitest'
import type { Pty } from '../support/pty.ts'
import { fixtureTerminals } from './fixture-terminals.ts'

const fixture = fixtureTerminals()
const { start: screen, noted } = fixture
const decided = (): Record<string, unknown>[] => noted().filter(({ type }) => type === 'decide')
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** Longer than a question is deaf after it came up. */
const READ = 450

async function asked(terminal: Pty): Promise<void> {
  terminal.write('ask\r')
  await terminal.waitFor(/Enter: Yes, once/)
  await pause(READ)
}

test('a question shows the whole command without control sequences, and what Enter would answer', async () => {
  const terminal = await screen()
  await asked(terminal)
  const text = terminal.screen()
  expect(text).toMatch(/Allow shell\?/)
  expect(text).toMatch(/\$ touch PWNED/)
  expect(text).toMatch(/› 1\. Yes, once/)
  expect(terminal.bytes()).not.toContain('\x1b]0;x')
  await terminal.type('down')
  await terminal.waitFor(/› 2\. Yes, in this session[^]*Enter: Yes, in this session/)
  await terminal.type('enter')
  await terminal.waitFor(/done: it ran/)
  expect(decided()).toMatchObject([{ verdict: 'allow', grant: 'session' }])
})

test('a no can say why', async () => {
  const terminal = await screen()
  await asked(terminal)
  await terminal.type('5')
  await terminal.waitFor(/Why\? The model is told/)
  await terminal.type(...'use npm'.split(''), 'enter')
  await terminal.waitFor(/done: it was denied/)
  expect(decided()).toMatchObject([{ verdict: 'deny', reason: 'use npm' }])
})

test('keys typed before a question is on the screen do not answer it, and the text stays (C20)', async () => {
  const terminal = await screen()
  terminal.write('asklater\r')
  await terminal.waitFor(/Esc interrupts/)
  for (const key of 'please yes pause') {
    terminal.write(key)
    await pause(30)
  }
  await terminal.waitFor(/Allow shell\?/)
  await terminal.waitFor(/^> please yes pause$/m)
  await terminal.waitFor(/Tab: answer this/)
  await pause(READ)
  expect(decided()).toEqual([])
  // Also later the text has the keys, until Tab leads to the question.
  await terminal.type('y')
  await terminal.waitFor(/^> please yes pausey$/m)
  await terminal.type('tab')
  await terminal.waitFor(/Enter: Yes, once/)
  await terminal.type('n')
  await terminal.waitFor(/done: it was denied/)
  await terminal.waitFor(/^> please yes pausey$/m)
})

test('a closed window answers nothing (C21)', async () => {
  const terminal = await screen()
  await asked(terminal)
  terminal.hangUp()
  await terminal.exit()
  expect(decided()).toEqual([])
})

test('whether to trust the fixture.folder is asked first; keys typed before it are text; Esc is a no', async () => {
  const terminal = fixture.open(process.execPath, [fixture.program], { env: { FIXTURE_FIRST: 'trust', FIXTURE_SLOW: '300' } })
  await terminal.waitFor(/\? for keys/)
  terminal.write('2\r')
  await terminal.waitFor(/Do you trust ~\/src\/thing\?[^]*\.agentrc \(2 hooks\)/)
  await terminal.waitFor(/^> 2$/m)
  await pause(READ)
  expect(noted().some((each) => 'trusted' in each)).toBe(false)
  await terminal.type('esc')
  await terminal.waitFor((text) => !text.includes('Do you trust'))
  expect(noted()).toContainEqual({ trusted: false })
})

test('trust is given by a choice, and the prompt of the command line waits for it', async () => {
  const terminal = await screen({ env: { FIXTURE_FIRST: 'trust', FIXTURE_BEGIN: 'do it' } })
  await terminal.waitFor(/Do you trust/)
  await pause(READ)
  expect(noted().some(({ type }) => type === 'input')).toBe(false)
  await terminal.type('2')
  await terminal.waitFor(/echo: do it/)
  await terminal.waitFor((text) => !text.includes('Do you trust'))
  expect(noted()).toContainEqual({ trusted: true })
})

test('without a model the ways to get one are shown, servers that were found and the demo among them', async () => {
  const terminal = await screen({ env: { FIXTURE_FIRST: 'run', FIXTURE_MODEL: 'none' } })
  await terminal.waitFor(/export ANTHROPIC_API_KEY=/)
  await terminal.waitFor(/2\. ollama\/qwen +Ollama at http:\/\/127\.0\.0\.1:11434/)
  terminal.write('typed too early')
  await terminal.waitFor(/^> typed too early$/m)
  await pause(READ)
  await terminal.type('2')
  await terminal.waitFor(/answer 2/)
  // What was being written goes along.
  await terminal.waitFor(/^> typed too early$/m)
})
