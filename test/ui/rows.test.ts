import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { Fact } from '../../src/core/record.ts'
import { openView, resumeRow } from '../../src/core/view-open.ts'
import type { Row } from '../../src/core/view.ts'
import { prepareRows, renderRow, renderRows } from '../../src/ui/rows.ts'
import type { Width } from '../../src/ui/spans.ts'
import { noAbilities, themeOf, type Theme } from '../../src/ui/theme.ts'
import { call, events, input, outcome, reasoning, reply, result, start, step, text } from '../core/view-events.ts'
import { columns, EVIL, leaks, widest } from './widths.ts'

const none = themeOf('none', noAbilities)
const themes: Theme[] = [none, themeOf('auto', { level: 1, ascii: false, links: true }), themeOf('dark', { level: 3, ascii: false, links: true }), themeOf('light', { level: 2, ascii: true, links: false })]
const wide: Width = { columns: 100, theme: none }
const callRow = (more: Partial<Extract<Row, { kind: 'call' }>>): Row => ({
  kind: 'call', call: 'c', name: 'shell', summary: 'npm test', status: 'ok', ms: null, exit: null, diff: null, added: 0, removed: 0, files: [], lines: 0, output: { text: '', more: 0, end: 'tail' }, answer: null, images: 0, alive: [], ...more,
})

/** A session with a row of every kind, its texts made of `said`. */
function everyRow(said: string): Row[] {
  const run = 'r'
  const facts: Fact[] = [
    { type: 'session', version: 1, id: 's', cwd: '/w', root: '/w', fork: { id: 's0', seq: 3 } }, { type: 'system', text: '', tools: [], instructions: [{ path: said, sha256: 'x' }] },
    input('i', said), input('c', said), { ...input('h', said), from: 'check' } as Fact, step(run, 1, ['i']), reply(run, [reasoning(said), text(`${said}\n\n\`\`\`js\n${said}\n\`\`\``), call('a', 'shell', { command: said }), call('b', 'edit', { path: said }), call('d', said, { [said]: said })]),
    { type: 'ask', run, call: 'a', accesses: [] }, { type: 'answer', run, call: 'a', verdict: 'deny', by: 'user', reason: said }, result(run, 'a', { status: 'denied', text: said }),
    { type: 'answer', run, call: 'b', verdict: 'allow', by: 'user', grant: { scope: 'project', rules: [{ verdict: 'allow', kind: 'exec', match: said }] } }, start(run, 'b'),
    result(run, 'b', { diff: `@@ -1 +1 @@\n-${said.replaceAll('\n', ' ')}\n+b`, changes: [{ path: `/w/${said}`, before: '1', after: '2' }] }), result(run, 'd', { status: 'unknown', text: `${said}\n`.repeat(20), alive: [4, 5], images: [{ blob: { sha256: 'x', bytes: 1 }, mediaType: 'image/png' }] }),
    step(run, 2, ['c', 'h']), reply(run, [text(said)], { stop: 'error', fault: { kind: 'rate-limit', message: said, status: 429 }, retry: { at: 9_000, of: 4 } }), step(run, 2, [], 2), reply(run, [text(said)], { stop: 'length' }),
    { type: 'check', run, command: said, exit: 1, attempt: 2, text: said, ms: 70_000 }, { type: 'checkpoint', why: 'x', tree: null }, { ...outcome(run, 'failed'), reason: said, alive: [9], ms: 4_000_000 } as Fact,
    { type: 'shell', command: said, exit: null, text: said, model: false }, { type: 'set', mode: 'auto', title: said }, { type: 'job', id: 'j', command: said, exit: null, signal: 'SIGTERM', because: said }, { type: 'compact', summary: said, keep: 0, tokens: { before: 120_000, after: 5_500 } }, { type: 'rewind', to: 4 }, { type: 'checkpoint', why: 'after undo', tree: null, undo: { to: 0, changes: [{ path: said, before: 'a', after: null }] } },
  ]
  const view = openView([...events(facts), { type: 'damage', why: said, line: 3 }, { type: 'error', message: said }])
  return [...view.rows.slice(), resumeRow(view), { kind: 'older', count: 3, of: 'rows' }, { kind: 'differs' }]
}

beforeAll(async () => {
  await prepareRows(everyRow('**x**'))
})

test('every kind of row is shown', () => {
  const kinds = new Set(everyRow('x').map((row) => row.kind))
  expect([...kinds].toSorted()).toEqual(['call', 'check', 'checkpoint', 'compact', 'damage', 'differs', 'error', 'fault', 'grant', 'input', 'instructions', 'job', 'older', 'outcome', 'reasoning', 'resume', 'retry', 'rewind', 'session', 'set', 'shell', 'stop', 'text', 'undo'])
  for (const row of everyRow('word')) expect(renderRow(row, wide).trim()).not.toBe('')
})

test('each end of a call is a word', () => {
  for (const status of ['ok', 'failed', 'rejected', 'denied', 'skipped', 'interrupted', 'unknown'] as const) expect(renderRow(callRow({ status }), wide)).toBe(`* shell npm test  ${status}`)
})

test('figures of a call', () => {
  expect(renderRow(callRow({ status: 'failed', exit: 1, ms: 1_234 }), wide)).toBe('* shell npm test  failed, exit 1, 1.2 s')
  expect(renderRow(callRow({ name: 'read', summary: 'a.ts', lines: 12, ms: 3, exit: 0 }), wide)).toBe('* read a.ts  ok, 12 lines, 3 ms')
  expect(renderRow(callRow({ name: 'edit', summary: 'a.ts', added: 1, removed: 1, diff: { text: '@@ -1 +1 @@\n-a\n+b', more: 0, end: 'head' } }), wide)).toBe('* edit a.ts  ok, +1 -1\n  1 - a\n  1 + b')
  expect(renderRow(callRow({ alive: [7] }), wide)).toBe('* shell npm test  ok\n  still running: 1 process 7')
})

test('who denied a call is said', () => {
  const answer = (by: 'user' | 'nobody' | 'rule' | 'mode', reason = '', because = ''): Row => callRow({ status: 'denied', answer: { verdict: 'deny', by, reason, because }, output: { text: 'for the model', more: 0, end: 'head' } })
  expect(renderRow(answer('user', 'not now'), wide)).toBe('* shell npm test  denied\n  by you: not now')
  expect(renderRow(answer('nobody'), wide)).toBe('* shell npm test  denied\n  nobody could be asked')
  expect(renderRow(answer('rule', '', 'deny exec rm'), wide)).toBe('* shell npm test  denied\n  by rule: deny exec rm')
})

test('the end of an output is shown, and how much came before', () => {
  expect(renderRow(callRow({ output: { text: 'b\nc', more: 3, end: 'tail' } }), wide)).toBe('* shell npm test  ok\n  … 3 lines before\n  b\n  c')
  expect(renderRow(callRow({ output: { text: 'a', more: 1, end: 'head' } }), wide)).toBe('* shell npm test  ok\n  a\n  … +1 line')
})

test('a long command gives way to its state', () => {
  const long = renderRow(callRow({ summary: 'x '.repeat(300), status: 'failed', exit: 2 }), { ...wide, columns: 40 }).split('\n')
  expect(long.length).toBeLessThanOrEqual(3)
  expect(long.at(-1)).toContain('failed, exit 2')
})

test('the outcome says status, reason, figures and files', () => {
  const row: Row = { kind: 'outcome', run: 'r', status: 'verified', reason: 'npm test passed', ms: 61_000, steps: 2, calls: 1, tokens: { input: 12_300, output: 900 }, cost: { usd: 0.5, unknown: true }, files: ['a', 'b', 'c', 'd', 'e', 'f', 'g'], added: 3, removed: 1, tree: null, alive: [] }
  expect(renderRow(row, wide)).toBe('= verified: npm test passed\n  1 min 1 s · 2 steps · 1 call · 12.3k tokens in, 900 out · over $0.50\n  7 files changed (+3 -1): a, b, c, d, e and 2 more')
  expect(renderRow({ ...row, cost: { usd: 0, unknown: true }, files: [] }, wide)).toContain('cost unknown')
})

test('blank lines stand between kinds, not between calls nor within a block', () => {
  const rows: Row[] = [callRow({}), callRow({}), { kind: 'text', text: 'a', joins: false, fence: { language: '', first: true, last: false }, table: null }, { kind: 'text', text: 'b', joins: true, fence: { language: '', first: false, last: true }, table: null }]
  expect(renderRows(rows, wide)).toBe('* shell npm test  ok\n* shell npm test  ok\n\n```\na\nb\n```\n')
  expect(renderRows(rows.slice(1, 2), wide, rows[0])).toBe('* shell npm test  ok\n')
})

test('a long input is cut and counted', () => {
  const row: Row = { kind: 'input', role: 'prompt', from: 'user', text: 'line\n'.repeat(100), images: 2, step: 1 }
  const rows = renderRow(row, wide).split('\n')
  expect(rows.length).toBe(24)
  expect(rows.at(-1)).toBe('  2 images, … +78 lines')
  expect(renderRow({ ...row, text: 'x'.repeat(1_000_000), images: 0 }, wide).split('\n').at(-1)).toBe('  … +996000 characters')
})

test('without colours nothing is painted, and what colours say is said', () => {
  const out = renderRows(everyRow('**word**'), wide)
  expect(out).not.toContain('\x1b')
  // Text of ours is ASCII where the terminal is; the dots of what is left out are in every font.
  expect(out.replaceAll(/[…·]/g, '')).toMatch(/^[\x20-\x7e\n]*$/)
})

const said = fc.array(fc.constantFrom('word', ' ', '\n', '你好，世界', '👩‍👩‍👧', 'e\u0301', '\t', 'x'.repeat(90), EVIL, '`', '**', '|', '# '), { maxLength: 12 }).map((pieces) => pieces.join(''))

test('no row is wider than the window, and no control sequence is written, whatever the rows say', () => {
  fc.assert(
    fc.property(said, columns, fc.constantFrom(...themes), (what, width, theme) => {
      for (const row of everyRow(what)) {
        const out = renderRow(row, { columns: width, theme })
        expect(widest(out.split('\n'))).toBeLessThanOrEqual(width)
        expect(leaks(out)).toBe(null)
      }
    }),
    { numRuns: 80 },
  )
})

test('why a run failed is not said twice in a row', () => {
  const fault: Row = { kind: 'fault', fault: 'auth', message: 'The key was refused. Set another one.', status: 401, attempt: 1, retry: null }
  const [failed] = openView(events([outcome('r', 'failed')].map((fact) => ({ ...fact, reason: 'The key was refused. Set another one.' }) as Fact))).rows.slice()
  expect(renderRows([fault, failed!], wide).match(/The key was refused/g)).toHaveLength(1)
  expect(renderRows([failed!], wide)).toContain('The key was refused')
})
