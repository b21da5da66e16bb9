import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fixtureTerminals } from './fixture-terminals.ts'

const fixture = fixtureTerminals()
const { start: screen } = fixture
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** Milliseconds of processor time so far. */
const cpu = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

test('500 keys in a session of 1,000 answers cost less than 100 kB, a frame each', async () => {
  const terminal = await screen({ columns: 100, rows: 30, env: { FIXTURE_ROWS: '1000' } })
  await terminal.waitFor(/answer 999/)
  const before = terminal.bytes().length
  for (let word = 0; word < 100; word++) {
    for (const key of 'word ') {
      const shown = terminal.bytes().length
      terminal.write(key)
      // One frame a key, as for a person: keys that come faster share a frame.
      while (terminal.bytes().length === shown) await pause(1)
    }
  }
  await terminal.waitFor((text) => (text.match(/word/g) ?? []).length === 100)
  const bytes = terminal.bytes().length - before
  console.log(`500 keys: ${bytes} bytes`)
  expect(bytes).toBeLessThan(100_000)
})

test('a reply of 3,000 lines costs a few bytes more than it says, and none of it stands twice in the scrollback', async () => {
  const lines = 3_000
  const terminal = await screen({ columns: 100, rows: 30 })
  const before = terminal.bytes().length
  terminal.write(`flood ${lines}\r`)
  await terminal.waitFor(/done: answered/, 60_000)
  const bytes = terminal.bytes().length - before
  const all = terminal.all()
  for (const line of [0, 1, 777, lines - 1]) expect(all.match(new RegExp(`^line ${line} of the flood$`, 'gm'))).toHaveLength(1)
  console.log(`${lines} lines: ${bytes} bytes, ${(bytes / lines).toFixed(0)} a line`)
  expect(bytes).toBeLessThan(lines * 100)
  expect(terminal.bytes()).not.toMatch(/\x1b\[[23]J/)
})

test('an idle screen writes nothing and uses no processor; a running one writes once a second', async () => {
  const terminal = await screen({ env: { FIXTURE_ROWS: '300' } })
  await terminal.waitFor(/answer 299/)
  await pause(600)
  const [bytes, used] = [terminal.bytes().length, cpu(terminal.pid)]
  await pause(2_000)
  expect(terminal.bytes().length - bytes).toBe(0)
  console.log(`idle: ${cpu(terminal.pid) - used} ms of processor in 2 s`)
  expect(cpu(terminal.pid) - used).toBeLessThanOrEqual(20)
  terminal.write('sleep\r')
  await terminal.waitFor(/Esc interrupts/)
  await pause(300)
  const frames = (): number => terminal.bytes().split('\x1b[?2026h').length
  const start = frames()
  await pause(3_000)
  expect(frames() - start).toBeLessThanOrEqual(4)
})

test('however the window changes while a reply streams, there is one editor, one status line, and no line is lost (T4)', async () => {
  const terminal = fixture.open('/bin/sh', ['-c', `echo shell line; exec "${process.execPath}" "${fixture.program}"`], { columns: 120, rows: 40 })
  await terminal.waitFor(() => terminal.bytes().includes('\x1b[?u'))
  terminal.write('flood 400\r')
  await terminal.waitFor(/line 20 of/)
  for (const [columns, rows] of [[60, 20], [120, 40], [45, 12], [90, 30], [30, 10], [120, 40]] as const) {
    terminal.resize(columns, rows)
    await pause(50)
  }
  await terminal.waitFor(/done: answered/, 30_000)
  await pause(200)
  const text = await terminal.waitFor(/^ask · local\/small/m)
  expect(text.match(/^>$/gm)).toHaveLength(1)
  expect(text.match(/^ask · local\/small/gm)).toHaveLength(1)
  expect(terminal.all()).toMatch(/^shell line/)
  const missing = Array.from({ length: 400 }, (_, line) => line).filter((line) => !terminal.all().includes(`line ${line} of the flood`))
  expect(missing).toEqual([])
  expect(terminal.bytes()).not.toMatch(/\x1b\[[23]J/)
})

test('thirty columns and ten rows are enough', async () => {
  const terminal = await screen({ columns: 30, rows: 10 })
  terminal.write('sleep\r')
  await terminal.waitFor(/Esc interrupts/)
  terminal.write('a long steering text that does not fit\r')
  await terminal.waitFor(/a long/)
  await terminal.type(...'and some more text that wraps over rows'.split(''))
  const text = await terminal.waitFor(/over rows/)
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(30)
  expect(text).toMatch(/Esc interrupts/)
  expect(terminal.cursor().row).toMatch(/rows$/)
})
