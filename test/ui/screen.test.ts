import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixtureTerminals } from './fixture-terminals.ts'

const fixture = fixtureTerminals()
const { start: screen, noted } = fixture
const inputs = (): Record<string, unknown>[] => noted().filter(({ type }) => type === 'input')
async function until<T>(look: () => T | undefined | false, what: string): Promise<T> {
  for (let left = 500; left > 0; left--) {
    const found = look()
    if (found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`waited for ${what}; noted: ${JSON.stringify(noted())}`)
}
const letters = (text: string): string[] => text.split('')

test('what is typed is shown at the cursor, sent by Enter and answered', async () => {
  const terminal = await screen()
  await terminal.type(...letters('hello 你好'))
  await terminal.waitFor(/^> hello 你好$/m)
  expect(terminal.cursor()).toMatchObject({ x: 2 + 'hello '.length + 4, row: '> hello 你好' })
  await terminal.type('left')
  await terminal.waitFor(() => terminal.cursor().x === 2 + 'hello '.length + 2)
  await terminal.type('enter')
  await terminal.waitFor(/echo: hello 你好/)
  await terminal.waitFor(/done: answered/)
  expect(inputs()).toEqual([{ type: 'input', text: 'hello 你好', when: 'next' }])
})

test('the first frame is that of Ink, keys typed before it are kept, and nothing above it is touched', async () => {
  const terminal = fixture.open('/bin/sh', ['-c', `for n in 1 2 3; do echo "shell line $n"; done; exec "${process.execPath}" "${fixture.program}"`], { env: { FIXTURE_SLOW: '400' } })
  const painted = await terminal.waitFor(/\? for keys/)
  expect(terminal.cursor()).toMatchObject({ x: 2, row: '>' })
  expect(terminal.bytes()).not.toContain('\x1b[?u')
  await terminal.type('a', 'b')
  await terminal.waitFor(/^> ab$/m)
  await terminal.waitFor(() => terminal.bytes().includes('\x1b[?u'))
  const live = await terminal.waitFor(/^> ab$/m)
  expect(live.replace('> ab', '>')).toBe(painted)
  expect(terminal.all().match(/Tiller 0\.1\.0/g)).toHaveLength(1)
  expect(live.startsWith('shell line 1\nshell line 2\nshell line 3\nTiller')).toBe(true)
})

test('before anything is loaded, ctrl+c clears what was typed, and twice on nothing leaves', async () => {
  const terminal = fixture.open(process.execPath, [fixture.program], { env: { FIXTURE_SLOW: '20000' } })
  await terminal.waitFor(/\? for keys/)
  await terminal.type('x', 'ctrl+c')
  await terminal.waitFor(/^>$/m)
  await terminal.type('ctrl+c', 'ctrl+c')
  expect(await terminal.exit()).toMatchObject({ exitCode: 0 })
  expect(terminal.bytes()).toMatch(/\x1b\[\?2004l[^]*\x1b\[\?25h/)
})

test('a prompt typed before the screen is live is sent when it is', async () => {
  const terminal = fixture.open(process.execPath, [fixture.program], { env: { FIXTURE_SLOW: '300' } })
  await terminal.waitFor(/\? for keys/)
  await terminal.type('g', 'o', 'enter')
  await terminal.waitFor(/echo: go/)
})

test('text with Enter in one chunk is sent; lines pasted without markers are one text and are not (T11)', async () => {
  const terminal = await screen()
  terminal.write('go on\r')
  await terminal.waitFor(/echo: go on/)
  terminal.write('l1\rl2\rl3\r\nl4')
  await terminal.waitFor(/^> l1\n {2}l2\n {2}l3\n {2}l4$/m)
  for (const chunk of ['m1\r', 'm2\r', 'm3']) terminal.write(chunk)
  await terminal.waitFor(/l4m1\n {2}m2\n {2}m3/)
  expect(inputs()).toHaveLength(1)
  await terminal.type('enter')
  await until(() => inputs()[1], 'the second input')
  expect(inputs()[1]).toMatchObject({ text: 'l1\nl2\nl3\nl4m1\nm2\nm3' })
})

test('a second Enter right after the first starts nothing and stops nothing (C19)', async () => {
  const terminal = await screen()
  terminal.write('hi\r\r')
  await terminal.waitFor(/done: answered/)
  terminal.write('hi again\r')
  terminal.write('\r')
  await until(() => inputs()[1], 'the second input')
  await terminal.type('x')
  await terminal.waitFor(/^> x$/m)
  expect(noted().filter(({ type }) => type === 'interrupt')).toEqual([])
  expect(inputs()).toHaveLength(2)
})

test('a coloured and a huge paste arrive whole, the huge one as a token (T12)', async () => {
  const terminal = await screen()
  const huge = Array.from({ length: 4_000 }, (_, line) => `line ${line} \x1b[31mrot 红\x1b[0m`).join('\n')
  terminal.paste('\x1b[31mred\x1b[0m ')
  await terminal.waitFor(/␛\[31mred␛\[0m/)
  terminal.paste(huge.replaceAll('\n', '\r'))
  await terminal.waitFor(/\[Pasted #1 \+4000 lines\]/)
  await terminal.type('enter')
  await until(() => inputs()[0], 'the input')
  expect(inputs()[0]?.['text']).toBe(`\x1b[31mred\x1b[0m ${huge}`)
})

test('a paste whose end never comes is in the editor after a moment, and keys work again', async () => {
  const terminal = await screen()
  terminal.write('\x1b[200~half a paste')
  await terminal.waitFor(/^> half a paste$/m)
  await terminal.type('!')
  await terminal.waitFor(/^> half a paste!$/m)
})

test('while a run is active Enter steers, Alt+Enter follows up, and the screen says when each lands', async () => {
  const terminal = await screen()
  await terminal.type(...letters('sleep'), 'enter')
  await terminal.waitFor(/Esc interrupts/)
  await terminal.type(...letters('steer'), 'enter')
  await terminal.waitFor(/steer \(before the next request, after 1 running call\)/)
  await terminal.type(...letters('later'), 'alt+enter')
  await terminal.waitFor(/later \(when the run ends\)/)
  expect(inputs().map(({ when }) => when)).toEqual(['next', 'next', 'after'])
  await terminal.type('x', 'alt+up')
  await terminal.waitFor(/^> later\n {2}x$/m)
  await terminal.type('esc')
  await terminal.waitFor(/interrupted: interrupted by the user/)
  await terminal.waitFor(/^> steer\n {2}later\n {2}x$/m)
  await terminal.type('enter')
  await terminal.waitFor(/echo: steer/)
  expect(inputs().at(-1)?.['text']).toBe('steer\nlater\nx')
})

test('ctrl+c interrupts the run and keeps the text; again within a second it leaves', async () => {
  const terminal = await screen()
  await terminal.type(...letters('sleep'), 'enter')
  await terminal.waitFor(/Esc interrupts/)
  await terminal.type('k', 'ctrl+c')
  await terminal.waitFor(/interrupted by the user/)
  await terminal.waitFor(/^> k$/m)
  await terminal.type('ctrl+c')
  await terminal.exit()
  expect(noted().filter(({ type }) => type === 'interrupt')).toHaveLength(1)
  expect(noted().at(-1)).toHaveProperty('left')
})

test('sessions are found by search and gone over to; the old one is let go', async () => {
  const terminal = await screen()
  terminal.write('/resume\r')
  await terminal.waitFor(/› Fix the parser .*3 min ago +verified/)
  await terminal.type(...letters('chang'))
  await terminal.waitFor((text) => /› Write the changelog.*interrupted/.test(text) && !text.includes('Fix the parser'))
  await terminal.type('enter')
  await terminal.waitFor(/answer 2: the quick brown fox/)
  expect(noted()).toContainEqual({ closed: 's1' })
})

test('ctrl+o shows the last output on the alternate screen, and what was on the screen comes back', async () => {
  const terminal = await screen()
  await terminal.type(...letters('sleep'), 'enter')
  await terminal.waitFor(/second line/)
  await terminal.type('ctrl+o')
  await terminal.waitFor(/^first line\nsecond line\n[^]*q closes/)
  expect(terminal.bytes()).toContain('\x1b[?1049h')
  await terminal.type('q')
  await terminal.waitFor(/Esc interrupts/)
  await terminal.type('x')
  await terminal.waitFor(/^> x$/m)
})

test('the external editor gets the text and gives it back', async () => {
  const terminal = await screen()
  await terminal.type('a', 'ctrl+g')
  await terminal.waitFor(/^> a \(edited\)$/m)
  await terminal.type('!')
  await terminal.waitFor(/^> a \(edited\)!$/m)
})

test('the unsent text survives kill -9', async () => {
  const terminal = await screen()
  await terminal.type(...letters('not sent'))
  await until(() => existsSync(join(fixture.folder, 'draft')) && readFileSync(join(fixture.folder, 'draft'), 'utf8') === 'not sent', 'the draft')
  terminal.kill('SIGKILL')
  await terminal.exit()
  const again = await screen()
  await again.waitFor(/^> not sent$/m)
})

test('a resumed session shows its end and how it ended', async () => {
  const terminal = await screen({ env: { FIXTURE_ROWS: '60' } })
  const text = await terminal.waitFor(/answer 59/)
  expect(text).toMatch(/done/)
  expect(terminal.all()).toMatch(/earlier rows: \/fullscreen/)
  terminal.write('/fullscreen\r')
  await terminal.waitFor(/Transcript · /)
  await terminal.type('g')
  await terminal.waitFor(/question 0/)
})

test('nothing of what a model says reaches the terminal as a control sequence', async () => {
  const terminal = await screen()
  terminal.write('evil\r')
  await terminal.waitFor(/before +after/)
  expect(terminal.bytes()).not.toContain('\x1b]52')
  expect(terminal.bytes()).not.toContain('\x1b[2J')
})
