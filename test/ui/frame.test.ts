import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emptyView, reduce, type View } from '../../src/core/view.ts'
import type { Fact, SessionRecord } from '../../src/core/record.ts'
import { emptyEditor, insert } from '../../src/ui/editor-state.ts'
import { frame } from '../../src/ui/frame.ts'
import { columnsOf } from '../../src/ui/graphemes.ts'
import { picker } from '../../src/ui/picker.ts'
import { noAsk, type Overlay, type Screen } from '../../src/ui/screen.ts'
import { toggleTodo } from '../../src/ui/todo.ts'
import { stageOf } from './stage.ts'

const facts: Fact[] = [
  { type: 'session', version: 1, id: 's', cwd: '/w', root: '/w' },
  { type: 'input', id: 'i1', text: 'go', from: 'user', when: 'next' },
  { type: 'step', run: 'r', number: 1, attempt: 1, inputs: ['i1'], model: 'local/very-long-model-name-日本語', request: { sha256: '', bytes: 1 } },
  { type: 'reply', run: 'r', parts: [{ type: 'call', id: 'c', name: 'shell', input: { command: 'x'.repeat(300) } }], stop: 'calls', usage: { input: 1_000, output: 1 }, cost: null },
  { type: 'ask', run: 'r', call: 'c', accesses: [{ kind: 'net', host: 'example.org' }], preview: { kind: 'diff', diff: '+日本語\n'.repeat(60) }, because: 'it writes outside of the folder, which always asks', lasting: [{ verdict: 'allow', kind: 'net', match: 'example.org' }] },
  { type: 'input', id: 'i2', text: 'and then 你好 '.repeat(20), from: 'user', when: 'next' },
  { type: 'input', id: 'i3', text: 'later', from: 'user', when: 'after' },
]
const viewAt = (count: number): View => facts.slice(0, count).reduce<View>((view, fact, seq) => reduce(view, { seq, at: 0, ...fact } satisfies SessionRecord), emptyView())

const overlays: (Overlay | null)[] = [
  null, null,
  { kind: 'picker', picker: picker('A title that is long 日本語日本語', Array.from({ length: 40 }, (_, index) => ({ label: `choice ${index} 你好`, note: 'n'.repeat(index), act: () => undefined })), { index: 17, about: ['about '.repeat(30), 'more'] }) },
  { kind: 'picker', picker: picker('Nothing', [], { search: false, loading: true }) },
  { kind: 'panel', title: 'Keys', lines: Array.from({ length: 50 }, (_, index) => `line ${index} `.repeat(20)), offset: 3 },
  { kind: 'reason', call: 'c', editor: insert(emptyEditor, '日本語'.repeat(30)) },
  { kind: 'queue', id: 'i3' },
]

test('a frame is always lower than the window and no row is wider, and the cursor is in it', () => {
  fc.assert(
    fc.property(
      fc.record({
        columns: fc.integer({ min: 8, max: 140 }), rows: fc.integer({ min: 3, max: 60 }), records: fc.integer({ min: 0, max: facts.length }), overlay: fc.constantFrom(...overlays),
        text: fc.constantFrom('', 'x', '你好'.repeat(80), 'line\n'.repeat(40)), notice: fc.constantFrom('', 'short', 'long words '.repeat(40)), offers: fc.boolean(), todo: fc.boolean(), index: fc.nat(4), scroll: fc.nat(90),
      }),
      ({ columns, rows, records, overlay, text, notice, offers, todo, index, scroll }) => {
        const change: Partial<Screen> = {
          view: viewAt(records), overlay, editor: insert(emptyEditor, text), size: { columns, rows }, notice: notice === '' ? null : { text: notice, tone: 'error' },
          completion: offers ? { wanted: { kind: 'file', query: '', from: 0, command: '' }, offers: Array.from({ length: 12 }, (_, at) => ({ text: `src/日本/file-${at}.ts`, about: 'about', whole: true })), index: 4 } : null,
          todo: { open: todo, text: 'one\n'.repeat(30) }, ask: { ...noAsk(), call: 'c', index, scroll, shownAt: -1_000 },
        }
        const { stage } = stageOf(change)
        const { above, queue, editor, below, cursor } = frame(stage)
        const all = [...above, ...queue, ...editor, ...below]
        expect(all.length).toBeLessThanOrEqual(rows - 1)
        expect(below.length).toBeGreaterThan(0)
        for (const row of all) expect(columnsOf(row), row).toBeLessThanOrEqual(columns)
        for (const row of all) expect(row).not.toContain('\n')
        if (cursor) {
          expect(cursor.y).toBeLessThan(all.length)
          expect(cursor.x).toBeLessThan(columns)
        }
      },
    ),
    { numRuns: 1_500 },
  )
})

test('what Enter would take is said in words, and what a question is about is seen also in a small window', () => {
  const { stage } = stageOf({ view: viewAt(5), size: { columns: 60, rows: 14 }, ask: { ...noAsk(), call: 'c', index: 3, shownAt: -1_000 } })
  const text = frame(stage).above.join('\n')
  expect(text).toMatch(/Allow shell\?/)
  expect(text).toMatch(/\+日本語/)
  expect(text).toMatch(/Enter: No/)
})

test('a lasting yes names what it would allow, and is offered only where something can last', () => {
  const asked = { size: { columns: 60, rows: 30 }, ask: { ...noAsk(), call: 'c', shownAt: -1_000 } }
  expect(frame(stageOf({ ...asked, view: viewAt(5) }).stage).above.join('\n')).toMatch(/2\. Yes, in this session: net example\.org\n.*3\. Yes, always in this project: net example\.org\n.*4\. No\n/)
  const once = viewAt(5)
  const text = frame(stageOf({ ...asked, view: { ...once, asks: once.asks.map((ask) => ({ ...ask, lasting: [] })) } }).stage).above.join('\n')
  expect(text).toMatch(/1\. Yes, once\n.*2\. No\n.*3\. No, and say why/)
})

test('while a run is active the frame says how to stop it', () => {
  for (const columns of [16, 30, 80]) expect(frame(stageOf({ view: viewAt(3), size: { columns, rows: 24 } }).stage).above.join('\n')).toContain('Esc interrupts')
})

test('the status line gives way from its end: mode and model stay', () => {
  const at = (columns: number): string => frame(stageOf({ view: viewAt(1), size: { columns, rows: 24 } }).stage).below.join('\n')
  expect(at(80)).toMatch(/ask · local\/small · ~\/src\/thing \(main\) · \? for keys/)
  expect(at(24)).toBe('ask · local/small')
})

test('no text of a file, a server, a session or a branch reaches the frame as a control sequence (T17)', () => {
  const evil = 'a\x1b]52;c;Zm9v\x07\x1b[2Jb\x9b31m\x1b]8;;http://x\x1b\\c\u202e\nd'
  const bench = stageOf({ size: { columns: 100, rows: 40 } })
  bench.stage.host.about.folder = evil
  bench.stage.host.about.branch = evil
  const list = picker(evil, [{ label: evil, note: evil, act: () => undefined }], { about: [evil] })
  const offers = { wanted: { kind: 'file' as const, query: '', from: 0, command: '' }, offers: [{ text: evil, about: evil, whole: true }], index: 0 }
  for (const change of [{ overlay: { kind: 'picker' as const, picker: list } }, { completion: offers }, { notice: { text: evil, tone: 'error' as const } }, { editor: insert(emptyEditor, evil) }]) {
    bench.stage.store.update((screen) => ({ ...screen, overlay: null, completion: null, notice: null, ...change }))
    const { above, queue, editor, below } = frame(bench.stage)
    expect([...above, ...queue, ...editor, ...below].join('\n')).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
  }
})

test('ctrl+t shows what the todo list says now, and hides it again', () => {
  const calls: Fact[] = [
    { type: 'reply', run: 'r', parts: [{ type: 'call', id: 't', name: 'todo', input: { op: 'list' } }], stop: 'calls', usage: { input: 1, output: 1 } },
    { type: 'start', run: 'r', call: 't', reads: true },
    { type: 'result', run: 'r', call: 't', status: 'ok', text: '1. [x] read\n2. [ ] write' },
  ]
  const view = [...facts.slice(0, 3), ...calls].reduce<View>((before, fact, seq) => reduce(before, { seq, at: 0, ...fact } satisfies SessionRecord), emptyView())
  const { stage } = stageOf({ view })
  toggleTodo(stage)
  expect(frame(stage).above.join('\n')).toMatch(/1\. \[x\] read\n2\. \[ \] write/)
  toggleTodo(stage)
  expect(frame(stage).above.join('\n')).not.toMatch(/write/)
})

test('in a window of five rows the question still says what would be done', () => {
  const { stage } = stageOf({ size: { columns: 30, rows: 5 }, view: viewAt(5), ask: { ...noAsk(), call: 'c', shownAt: 0 } })
  expect(frame(stage).above.join('\n')).toContain('Yes, once? +日本語')
})
