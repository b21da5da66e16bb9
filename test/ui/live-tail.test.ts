import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { AgentEvent } from '../../src/core/ports.ts'
import { emptyView, reduce, type View } from '../../src/core/view.ts'
import { drawing } from '../../src/ui/draw.ts'
import { liveRows, prepareLive } from '../../src/ui/live-tail.ts'
import { noAbilities, themeOf } from '../../src/ui/theme.ts'
import { call, deltas, events, input, reply, result, session, start, step, text } from '../core/view-events.ts'
import { columns, EVIL, leaks, markdown, widest } from './widths.ts'

const none = themeOf('none', noAbilities)
const rich = themeOf('dark', { level: 3, ascii: false, links: true })
const fold = (list: Parameters<typeof events>[0]): View => events(list).reduce(reduce, emptyView())
const show = (view: View, rows = 12, clock = 13_000, width = 80): string[] => liveRows(view, { columns: width, theme: none }, rows, clock)
const asked = [session, input('i', 'go'), step('r', 1, ['i'])]

beforeAll(async () => {
  await prepareLive(fold(asked))
})

test('waiting says for whom and for how long', () => {
  expect(show(fold(asked))).toEqual(['', 'waiting for p/m, 11 s'])
})

test('the block being written is shown as it will be, the settled ones are not shown again', () => {
  expect(show(fold([...asked, ...deltas('r', [text('# Title\n\nfirst **bold** and')], [5])]))).toEqual(['', 'first bold and'])
})

test('of a long block the end is shown, and a fence goes on without its beginning', () => {
  const view = fold([...asked, ...deltas('r', [text(`\`\`\`js\n${Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join('')}`)], [40])])
  expect(show(view, 4)).toEqual(['line 26', 'line 27', 'line 28', 'line 29'])
  const list = fold([...asked, ...deltas('r', [text(Array.from({ length: 90 }, (_, index) => `- item ${index}\n`).join(''))], [40])])
  expect(show(list, 3)).toEqual(['- item 87', '- item 88', '- item 89'])
})

test('calls are shown in their order with their state, and the end of their output', () => {
  const view = fold([
    ...asked, reply('r', [call('a', 'shell', { command: 'npm test' }), call('b', 'read', { path: 'x' }), call('c', 'edit', { path: 'y' }), call('d', 'shell', { command: 'ls' })]),
    start('r', 'a'), start('r', 'b'), { type: 'output', run: 'r', call: 'a', text: 'one\ntwo\nthr' }, result('r', 'b'), { type: 'ask', run: 'r', call: 'c', accesses: [] },
  ])
  expect(show(view)).toEqual(['', '* shell npm test  running 11 s', '  one', '  two', '  thr', '* read x  ok', '* edit y  waits for your answer', '* shell ls  waiting'])
  expect(show(view, 4)).toEqual(['* shell npm test  running 11 s', '* read x  ok', '* edit y  waits for your answer', '* shell ls  waiting'])
  expect(show(view, 3)).toEqual(['* shell npm test  running 11 s', '* read x  ok', '… and 2 more calls'])
})

test('a retry counts down, reasoning and a call being written are named', () => {
  const failed = fold([...asked, reply('r', [], { stop: 'error', fault: { kind: 'overload', message: 'busy' }, retry: { at: 20_000, of: 5 } })])
  expect(show(failed)).toEqual(['', 'tries again in 7 s, attempt 2 of 5'])
  const thinking = fold([...asked, ...deltas('r', [{ type: 'reasoning', text: '**Plan**\nI think so' }], [4])])
  expect(show(thinking)).toEqual(['', 'thinking: I think so'])
  const writing = fold([...asked, ...deltas('r', [call('x', 'edit', { path: 'abc' })], [4])])
  expect(show(writing)).toEqual(['', 'writing edit, 14 characters'])
})

test("the person's own command shows its output while it runs", () => {
  const view = fold([session, { type: 'output', run: '', call: 'x', text: 'a\nb\n' }])
  expect(show(view)).toEqual(['', '* !  running', '  a', '  b'])
})

test('nothing under way is nothing', () => {
  expect(show(fold([session]))).toEqual([])
  expect(show(fold(asked), 0)).toEqual([])
})

test('it never has more rows than it may, none is too wide, and no control sequence is written', () => {
  const busy = fc.record({ words: markdown, output: fc.string({ maxLength: 200 }), calls: fc.integer({ min: 0, max: 9 }), size: fc.integer({ min: 1, max: 50 }) })
  fc.assert(
    fc.property(busy, columns, fc.integer({ min: 1, max: 30 }), fc.constantFrom(none, rich), ({ words, output, calls, size }, width, rows, theme) => {
      let view = fold(asked)
      const check = (): void => {
        const shown = liveRows(view, { columns: width, theme }, rows, 5_000)
        expect(shown.length).toBeLessThanOrEqual(rows)
        expect(widest(shown)).toBeLessThanOrEqual(width)
        expect(shown.join('')).not.toContain('\n')
        expect(leaks(shown.join('\n'))).toBe(null)
      }
      for (const delta of deltas('r', [text(words)], [size])) view = reduce(view, delta)
      check()
      const parts = Array.from({ length: calls }, (_, index) => call(`c${index}`, 'shell', { command: `${words.slice(0, 80)}${EVIL}` }))
      for (const event of events([reply('r', [text(words), ...parts]), ...parts.map((_, index) => start('r', `c${index}`))], 3)) view = reduce(view, event)
      for (let index = 0; index < calls; index++) view = reduce(view, { type: 'output', run: 'r', call: `c${index}`, text: `${output}${EVIL}\n${output}` } satisfies AgentEvent)
      check()
    }),
    { numRuns: 120 },
  )
})

test('a frame looks at the end of a long block only', () => {
  const view = fold([...asked, ...deltas('r', [text(`- ${'word '.repeat(700)}\n`.repeat(90))], [3_000])])
  expect(view.live.text!.text.length).toBeGreaterThan(300_000)
  let read = 0
  const watched = { ...view, live: { ...view.live, text: { ...view.live.text!, get text() { read++; return view.live.text!.text } } } }
  expect(liveRows(watched, { columns: 80, theme: none }, 10, 0).length).toBe(10)
  expect(read).toBeLessThan(4)
})

test('the screen draws with it: settled rows once with their line ends, and what the host says', () => {
  const draw = drawing(() => none)
  const view = fold([...asked, reply('r', [text('a **b**\n\n- c')])])
  expect(draw.rows(view.rows.slice(1), 80, view.rows.at(0))).toBe('\n> go\n\na b\n\n- c\n')
  expect(draw.live(fold(asked), 80, 5, 4_000)).toEqual(['', 'waiting for p/m, 2 s'])
  expect(draw.said({ as: 'markdown', text: '# A\n\nb\u001b[2J' }, 80)).toBe('# A\n\nb\n')
  expect(draw.said({ as: 'text', text: 'a\tb\u0007\n' }, 80)).toBe('a    b\n')
  expect(draw.said({ as: 'diff', text: '@@ -1 +1 @@\n-a\n+b\n' }, 80)).toBe('1 - a\n1 + b\n')
})
