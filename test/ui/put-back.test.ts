import { expect, test } from 'vitest'
import { treeOf } from '../../src/core/tree.ts'
import { emptyEditor, textOf } from '../../src/ui/editor-state.ts'
import { follow } from '../../src/ui/follow.ts'
import { openRewind } from '../../src/ui/open-rewind.ts'
import { pickerLines, type Picker } from '../../src/ui/picker.ts'
import type { FileEntry, FilePlan, PutBack } from '../../src/ui/port.ts'
import { presser } from '../../src/ui/press.ts'
import { openUndo } from '../../src/ui/put-back.ts'
import type { Screen } from '../../src/ui/screen.ts'
import { noAbilities, themeOf } from '../../src/ui/theme.ts'
import { stageOf } from './stage.ts'

const entry = (path: string, verdict: FileEntry['verdict'], action: FileEntry['action'] = 'restore', why = 'so it is'): FileEntry => ({ id: `/w/${path}`, path, action, verdict, why })
const some = [entry('src/kept.ts', 'yes'), entry('made.txt', 'yes', 'delete'), entry('data.csv', 'ask', 'delete', 'it changed while a command ran'), entry('notes.md', 'refuse', 'restore', 'somebody else changed it after that'), entry('huge.bin', 'lost', 'restore', 'no copy of it was kept')]

/** A screen whose host has such a plan. */
function screenWith(entries: readonly FileEntry[] | null, change: Partial<Screen> = {}, left: readonly { path: string; why: string }[] = []) {
  const bench = stageOf(change)
  const { stage } = bench
  const wanted: PutBack[] = []
  const done: string[][] = []
  stage.host.putBack = (what) => {
    wanted.push(what)
    const plan: FilePlan | null = entries && {
      about: 'fix the tests', entries, notes: ['Commands ran; what they did beyond the files here is not undone: make'], redoable: true, diff: () => Promise.resolve('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n'),
      carryOut: (ids) => {
        done.push([...ids].map((id) => id.slice(3)))
        return Promise.resolve({ done: ids.size - left.length, left })
      },
    }
    return Promise.resolve(plan)
  }
  follow(stage, stage.store.get().connection)
  const keyboard = presser(stage)
  /** A question is on the screen as soon as it is drawn, and answered by a key that comes a while after that. */
  const settle = async (): Promise<void> => {
    await new Promise(setImmediate)
    const { overlay } = stage.store.get()
    if (overlay?.kind === 'picker' && overlay.picker.uninvited?.shownAt === null) stage.store.update((screen) => ({ ...screen, overlay: { kind: 'picker', picker: { ...overlay.picker, uninvited: { shownAt: stage.now() } } } }))
  }
  const open = (): Picker | null => {
    const { overlay } = stage.store.get()
    return overlay?.kind === 'picker' ? overlay.picker : null
  }
  return {
    ...bench, wanted, done, open, settle,
    labels: (): string[] => open()?.choices.map(({ label }) => label) ?? [],
    press: async (...keys: string[]) => {
      const hurried = keys[0] === 'hurried' && keys.shift() !== undefined
      for (const key of keys) {
        bench.pass(hurried ? 40 : 400)
        if (/^(enter|esc|down|up)$/.test(key)) keyboard.key(key)
        else keyboard.text(key)
        await settle()
      }
      bench.pass(60)
      await settle()
    },
    notice: () => stage.store.get().notice?.text ?? '',
    sent: (type: string) => bench.noted.filter((each): each is Record<string, unknown> => typeof each === 'object' && each !== null && 'type' in each && each.type === type),
  }
}

test('/undo shows each file, what would become of it and why, and what is not undone, before anything is done', async () => {
  const at = screenWith(some)
  openUndo(at.stage)
  expect(at.open()).toMatchObject({ loading: true, choices: [] })
  await at.settle()
  const { title, about } = at.open()!
  expect(title).toBe('Put back what "fix the tests" changed')
  expect(about).toEqual([
    '  put back  src/kept.ts', '  remove    made.txt', '? remove    data.csv (it changed while a command ran)', '  stays     notes.md (somebody else changed it after that)',
    '  stays     huge.bin (no copy of it was kept)', 'Commands ran; what they did beyond the files here is not undone: make',
  ])
  expect(at.labels()).toEqual(['Put 1 file back, remove 1', 'Put 1 file back, remove 2: also what changed while a command ran', 'Choose file by file', 'Show the diff', 'Cancel'])
  expect(at.done).toEqual([])
  await at.press('enter')
  expect(at.done).toEqual([['src/kept.ts', 'made.txt']])
  expect(at.notice()).toBe('Done: 2 files put back. /undo redo takes this back.')
})

test('what a command may have changed goes along only if that is chosen, and Esc and Cancel do nothing', async () => {
  const at = screenWith(some)
  openUndo(at.stage)
  await at.settle()
  await at.press('2')
  expect(at.done).toEqual([['src/kept.ts', 'made.txt', 'data.csv']])
  for (const key of ['esc', '5']) {
    openUndo(at.stage)
    await at.settle()
    await at.press(key)
    expect(at.open()).toBeNull()
  }
  expect(at.done).toHaveLength(1)
})

test('file by file: what somebody else changed takes a yes of its own, and what cannot be had is not offered', async () => {
  const at = screenWith(some)
  openUndo(at.stage)
  await at.settle()
  await at.press('3')
  expect(at.labels()).toEqual(['Put 1 file back, remove 1', '[x] put back src/kept.ts', '[x] remove made.txt', '[ ] remove data.csv', '[ ] put back notes.md'])
  await at.press('2', '5')
  expect(at.labels()).toEqual(['Put 1 file back, remove 1', '[ ] put back src/kept.ts', '[x] remove made.txt', '[ ] remove data.csv', '[x] put back notes.md'])
  await at.press('1')
  expect(at.done).toEqual([['made.txt', 'notes.md']])
})

test('the diff is shown, and the question is there again after it', async () => {
  const at = screenWith(some)
  openUndo(at.stage)
  await at.settle()
  await at.press('4')
  expect(at.noted).toContainEqual({ page: 'What would change' })
  expect(at.labels()).toContain('Show the diff')
  expect(at.done).toEqual([])
})

test('what was left after all is said with its reason', async () => {
  const at = screenWith(some, {}, [{ path: 'made.txt', why: 'it has changed a moment ago' }])
  openUndo(at.stage)
  await at.settle()
  await at.press('enter')
  expect(at.printed.join('')).toContain('left as it is: made.txt (it has changed a moment ago)')
  expect(at.notice()).toContain('Done: 1 file put back.')
})

test('where there is nothing to put back, that is said and nothing is asked; a closed question stays closed', async () => {
  const at = screenWith(null)
  openUndo(at.stage)
  await at.settle()
  expect([at.open(), at.notice()]).toEqual([null, 'No run of this session has changed files that are not put back already.'])
  const slow = screenWith(some)
  openUndo(slow.stage)
  await slow.press('esc')
  expect(slow.open()).toBeNull()
})

test('of very many files as many are named as leave room for the answers, and all are in a list', async () => {
  const many = Array.from({ length: 300 }, (_, index) => entry(`src/deep/er/file-${index}.ts`, 'yes'))
  for (const rows of [12, 15, 24, 50]) {
    const at = screenWith(many, { size: { columns: 50, rows } })
    openUndo(at.stage)
    await at.settle()
    const { lines } = pickerLines(at.open()!, 50, Math.min(24, rows - 4), themeOf('none', noAbilities))
    expect(lines.join('\n')).toMatch(/Put 300 files back[^]*Enter: Put 300 files back/)
    if (rows >= 15) expect(lines.join('\n')).toMatch(/… and \d+ more/)
    expect(at.labels()).toContain('List all files')
  }
})

test('the tree marks the live path, left paths and where the conversation is, and begins at the newest input', async () => {
  const at = screenWith(null)
  const { press, stage, labels } = at
  await press('one', 'enter', 'two', 'enter')
  const [, two] = treeOf(stage.store.get().connection.records)
  stage.store.get().connection.send({ type: 'rewind', to: two!.to })
  await press('three', 'enter')
  openRewind(stage)
  await at.settle()
  expect(labels()).toEqual(['@ now, after: three', '* three', '| + the end, after: two', '| o two', '* one'])
  stage.store.update((screen) => ({ ...screen, theme: { ...screen.theme, ascii: false } }))
  openRewind(stage)
  await at.settle()
  expect(labels()).toEqual(['◆ now, after: three', '● three', '│ ◇ the end, after: two', '│ ○ two', '● one'])
  expect(at.open()).toMatchObject({ index: 1 })
  expect(at.open()!.choices.map(({ note }) => note)).toEqual(['done', 'just now', 'just now · left · done', 'just now · left', 'just now'])
  for (const columns of [20, 50, 100]) for (const line of pickerLines(at.open()!, columns, 12, themeOf('none', noAbilities)).lines) expect(line.length).toBeLessThanOrEqual(columns)
})

test('the end of a left path brings it back, without a text in the editor; where the conversation is, nothing happens', async () => {
  const at = screenWith(null)
  const { press, stage } = at
  await press('one', 'enter', 'two', 'enter')
  const two = treeOf(stage.store.get().connection.records).find(({ text, kind }) => text === 'two' && kind === 'input')!
  stage.store.get().connection.send({ type: 'rewind', to: two.to })
  await press('three', 'enter')
  openRewind(stage)
  await at.settle()
  await press('up', 'enter')
  expect(at.open()).toBeNull()
  openRewind(stage)
  await at.settle()
  await press('down', 'enter', '1')
  expect(at.sent('rewind').at(-1)).toMatchObject({ to: 8 })
  expect(textOf(stage.store.get().editor)).toBe('')
})

test('conversation and files: the files are shown and asked first, and the conversation goes back when they did', async () => {
  const at = screenWith(some)
  const { press, stage } = at
  await press('one', 'enter')
  openRewind(stage)
  await at.settle()
  await press('enter', '2')
  expect(at.wanted).toEqual([{ to: 0 }])
  expect(at.open()?.title).toBe('Put files back, and the conversation with them')
  expect(at.labels()).toContain('Only the conversation')
  await press('esc')
  expect([at.sent('rewind'), at.done]).toEqual([[], []])
  openRewind(stage)
  await at.settle()
  await press('enter', '2', '1')
  expect(at.done).toEqual([['src/kept.ts', 'made.txt']])
  expect(at.sent('rewind')).toEqual([{ type: 'rewind', to: 0 }])
  expect(textOf(stage.store.get().editor)).toBe('one')
})

test('files alone leave the conversation where it is; without any to put back, conversation and files is the conversation', async () => {
  const at = screenWith([])
  const { press, stage } = at
  await press('one', 'enter')
  openRewind(stage)
  await at.settle()
  await press('enter', '3')
  expect([at.sent('rewind'), at.notice()]).toEqual([[], 'The session changed no file since then, or all is put back.'])
  openRewind(stage)
  await at.settle()
  await press('enter', '2')
  expect(at.sent('rewind')).toEqual([{ type: 'rewind', to: 0 }])
})

test('where something on the way cannot be read, that is said, and going there is going there all the same (J20)', async () => {
  const at = screenWith(null)
  const { press, stage } = at
  stage.host.tree.unreadable = () => 'On the way there a record of the log cannot be read (7): what was said there would be missing.'
  await press('one', 'enter')
  openRewind(stage)
  await at.settle()
  await press('enter')
  expect(at.open()).toMatchObject({ about: [expect.stringContaining('cannot be read')] })
  expect(at.labels()[0]).toBe('Conversation, all the same')
  await press('1')
  expect(at.sent('rewind')).toEqual([{ type: 'rewind', to: 0, anyway: true }])
})

test('a copy goes on from there in a session of its own, with the text that was sent there', async () => {
  const at = screenWith(null)
  const { press, stage } = at
  const forked: unknown[] = []
  const { fork } = stage.host.sessions
  stage.host.sessions.fork = (key, seq) => {
    forked.push([key, seq])
    return fork(key, seq)
  }
  stage.attach = ({ session }) => stage.store.update((screen) => ({ ...screen, editor: emptyEditor, connection: { ...screen.connection, session } }))
  await press('one', 'enter')
  openRewind(stage)
  await at.settle()
  await press('enter', '4')
  expect(forked).toEqual([['s1', 0]])
  expect([stage.store.get().connection.session, textOf(stage.store.get().editor), at.sent('rewind')]).toEqual(['s8', 'one', []])
})

test('a text that is being written stays, behind the one that comes back', async () => {
  const at = screenWith(null)
  const { press, stage } = at
  await press('one', 'enter', 'half')
  openRewind(stage)
  await at.settle()
  await press('enter', '1')
  expect(textOf(stage.store.get().editor)).toBe('one\nhalf')
})

test('C20: a key that was on its way when the question came does not answer it, nor does one that is held down', async () => {
  for (const text of [['fix', ' it'], []]) {
    const at = screenWith(some)
    await at.press('/undo', 'enter')
    await at.press('hurried', ...text, ...Array.from({ length: 60 }, () => 'enter'))
    expect([at.done, at.open()?.title]).toEqual([[], 'Put back what "fix the tests" changed'])
    await at.press('enter')
    expect(at.done).toHaveLength(1)
  }
})
