import { expect, test } from 'vitest'
import { frame } from '../../src/ui/frame.ts'
import { presser } from '../../src/ui/press.ts'
import type { Connection } from '../../src/ui/port.ts'
import type { Picker } from '../../src/ui/picker.ts'
import { stageOf, type Bench } from './stage.ts'

interface List extends Bench {
  press: (...keys: string[]) => Promise<void>
  lines: () => string
  chosen: () => string | undefined
  picker: () => Picker | null
  attached: () => (string | undefined)[]
}

const CHORDS = /^(enter|esc|up|down|(ctrl|alt)\+.+)$/

/** The list is open over a session whose id is s1; the clock is moved by hand. */
async function list(command = '/sessions', size = { columns: 100, rows: 30 }): Promise<List> {
  const bench = stageOf({ size })
  const connections: Connection[] = []
  bench.stage.attach = (connection) => void connections.push(connection)
  const keyboard = presser(bench.stage)
  const picker = (): Picker | null => {
    const { overlay } = bench.stage.store.get()
    return overlay?.kind === 'picker' ? overlay.picker : null
  }
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) {
      bench.pass(110)
      if (CHORDS.test(key)) keyboard.key(key)
      else for (const letter of key) keyboard.text(letter)
      await new Promise(setImmediate)
    }
    bench.pass(60)
    await new Promise(setImmediate)
  }
  await press(command, 'enter')
  return {
    ...bench, press, picker,
    lines: () => {
      const { above, editor, below } = frame(bench.stage)
      return [...above, ...editor, ...below].join('\n')
    },
    chosen: () => picker()?.choices[picker()?.index ?? 0]?.key,
    attached: () => connections.map(({ session }) => session),
  }
}

test('each session shows what is known of it; other work trees come last, with their folder', async () => {
  const { lines } = await list()
  expect(lines()).toMatch(/^Sessions · 4$/m)
  expect(lines()).toMatch(/^› Fix the parser +just now +verified +main +\$0\.42 +121 kB$/m)
  expect(lines()).toMatch(/^ {2}Open over there +just now +open +main +121 kB$/m)
  expect(lines()).toMatch(/changelog[^]*Open over there[^]*Try another way +~\/src\/side +just now +interrupted +side/)
  expect(lines()).toMatch(/^Enter: Fix the parser · Esc: close\nCtrl\+R rename · Ctrl\+X delete · Ctrl\+E export$/m)
})

test('on a small window the least useful goes first, and every row is one row', async () => {
  const { lines } = await list('/sessions', { columns: 50, rows: 15 })
  expect(lines()).toMatch(/^› Fix the parser {2,}just now$/m)
  expect(lines()).toMatch(/^ {2}Try another way +~\/src\/side +just now$/m)
  expect(lines()).toMatch(/^Ctrl\+R rename · Ctrl\+X delete · Ctrl\+E export$/m)
  expect(Math.max(...lines().split('\n').map(({ length }) => length))).toBeLessThanOrEqual(50)
})

test('typing searches titles and first words at once, and what was said after a pause', async () => {
  const { press, lines, pass } = await list()
  await press('fails dates')
  expect(lines()).toMatch(/1 of 4[^]*search: fails dates\n› Fix the parser/)
  await press('ctrl+u', 'brown')
  expect(lines()).toMatch(/0 of 4 · reading what was said…\nsearch: brown\n {2}looking…/)
  pass(200)
  await new Promise(setImmediate)
  pass(60)
  expect(lines()).toMatch(/4 of 4\nsearch: brown\n› Fix the parser +…the quick brown fox of s2\n/)
})

test('the query can be given with the command, and Enter opens what fits best', async () => {
  const { press, attached, picker } = await list('/sessions changelog')
  expect(picker()?.choices.map(({ key }) => key)).toEqual(['s3'])
  await press('enter')
  expect(attached()).toEqual(['s3'])
  expect(picker()).toBe(null)
})

test('Enter takes what fits the text before it, also where that came in the same moment', async () => {
  const { stage, press, attached } = await list()
  presser(stage).text('changelog\r')
  await press()
  expect(attached()).toEqual(['s3'])
})

test('rename edits the title in place, Esc leaves it, and the row shows the new one', async () => {
  const { press, lines, noted } = await list()
  await press('ctrl+r')
  expect(lines()).toMatch(/Another title:\n› Fix the parser[^]*Enter: take it · Esc: back[^]*> Fix the parser$/m)
  await press('y', 'ctrl+a', 'Never: ', 'esc')
  expect(lines()).toMatch(/search:[^]*› Fix the parser/)
  await press('ctrl+r', 'ctrl+u', 'Dates,   parsed', 'enter')
  expect(noted).toContainEqual({ renamed: 's2', title: 'Dates, parsed' })
  expect(lines()).toMatch(/› Dates, parsed {2}/)
})

test('a rename that is refused is said with the reason, and changes nothing', async () => {
  const { press, lines } = await list()
  await press('down', 'down', 'ctrl+r', ' 2', 'enter')
  expect(lines()).toContain('The session s5 is open in another tiller (pid 7 on there).')
  expect(lines()).toMatch(/› Open over there {2}/)
})

test('delete asks; only a y deletes, and the next one is chosen', async () => {
  const { press, lines, noted, chosen } = await list()
  await press('ctrl+x')
  expect(lines()).toMatch(/Delete "Fix the parser" \(121 kB\) and all that belongs to it\? It cannot be brought back\.[^]*y: delete it · n or Esc: keep it/)
  for (const key of ['enter', 'x', 'ctrl+x', 'down', 'ctrl+r']) await press(key)
  expect(lines()).toMatch(/Delete "Fix the parser"/)
  await press('n')
  expect(lines()).toMatch(/search:/)
  await press('ctrl+x', 'esc', 'ctrl+x')
  expect(noted.filter((each) => typeof each === 'object' && each !== null && 'removed' in each)).toEqual([])
  await press('y')
  expect(noted).toContainEqual({ removed: 's2' })
  expect(lines()).toMatch(/^Sessions · 3$/m)
  expect(lines()).toContain('Deleted: Fix the parser')
  expect(chosen()).toBe('s3')
})

test('a text that begins with y is no yes', async () => {
  const { stage, press, noted } = await list()
  await press('ctrl+x')
  presser(stage).text('yes')
  await press()
  presser(stage).paste('y\n')
  await press()
  expect(noted.some((each) => typeof each === 'object' && each !== null && 'removed' in each)).toBe(false)
})

test('what another program has open is not deleted, and it is said who has it', async () => {
  const { press, lines, picker } = await list()
  await press('down', 'down', 'ctrl+x')
  expect(lines()).toContain('The session s5 is open in another tiller (pid 7 on there): close it there first.')
  expect(picker()?.line ?? null).toBe(null)
})

test('the session that is open here is named so; it is not opened or deleted, and its title is set as /title does', async () => {
  const bench = await list()
  const { stage, press, lines, chosen, noted, attached } = bench
  const own = { key: 's1', id: 's1', title: 'The one here', words: '', at: Date.now() + 1_000, bytes: 1, outcome: null, held: 'pid 1', cost: null, branch: null, folder: null, elsewhere: null, unreadable: null }
  stage.host.sessions.list = async function* more() {
    await Promise.resolve()
    yield { sessions: [own, { ...own, key: 'x', id: 'x', title: 'Another', at: 1 }], isLast: true }
  }
  await press('esc', '/sessions', 'enter')
  expect(lines()).toMatch(/The one here +just now +this one/)
  expect(chosen(), 'Enter alone goes to another one').toBe('x')
  await press('up', 'ctrl+x')
  expect(lines()).toContain('This session is open here')
  await press('ctrl+r', '!', 'enter')
  expect(noted).toContainEqual({ type: 'set', title: 'The one here!' })
  expect(lines()).toMatch(/› The one here! /)
  await press('enter')
  expect(attached()).toEqual([])
  expect(lines()).toContain('This session is open already.')
})

test('export asks for a file and says where it is', async () => {
  const { press, lines, noted } = await list()
  await press('ctrl+e')
  expect(lines()).toMatch(/\.html, \.md or \.jsonl[^]*> tiller-s2\.html/)
  await press('ctrl+u', 'out.md', 'enter')
  expect(noted).toContainEqual({ exported: 's2', file: 'out.md' })
  expect(lines()).toContain('Written to /w/out.md')
})

test('one of another work tree goes on here only as a copy that was chosen, or it is said how it goes on there', async () => {
  const { press, lines, attached, printed } = await list('/sessions another way')
  await press('enter')
  expect(lines()).toMatch(/A session of another folder\nTry another way\nIts work was done in ~\/src\/side: the files here are others\.\n› 1\. Go on here, with a copy/)
  await press('esc')
  expect(attached()).toEqual([])
  await press('/resume s4', 'enter', '2')
  expect(printed.join('')).toContain('tiller -C ~/src/side -r s4')
  expect(attached()).toEqual([])
  await press('/resume s4', 'enter', '1')
  expect(attached()).toEqual(['s8'])
})

test('/resume with what is not there is an error with what it says, and opens nothing', async () => {
  const { press, lines, attached, picker } = await list('/resume zz')
  expect(lines()).toContain('No session has the id "zz".')
  expect([attached(), picker()]).toEqual([[], null])
  await press('/resume s2', 'enter')
  expect(attached()).toEqual(['s2'])
})

test('while a run is active nobody goes away from it, and that is said', async () => {
  const { press, lines, attached, picker } = await list('sleep')
  await press('/sessions', 'enter')
  expect(picker()).not.toBe(null)
  await press('enter')
  expect(attached()).toEqual([])
  expect(lines()).toContain('A run is active: Esc interrupts it')
})

test('a list that is closed stops what it has begun', async () => {
  const bench = await list()
  let signal: AbortSignal | undefined
  bench.stage.host.sessions.list = async function* endless(given) {
    signal = given
    yield { sessions: [] }
    await new Promise((resolve) => given.addEventListener('abort', resolve))
  }
  await bench.press('esc', '/sessions', 'enter')
  expect(signal?.aborted).toBe(false)
  expect(bench.lines()).toMatch(/looking…/)
  await bench.press('esc')
  expect(signal?.aborted).toBe(true)
})
