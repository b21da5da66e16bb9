import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SessionRecord, UnknownRecord } from '../../src/core/record.ts'
import { parse } from '../../src/core/record.ts'
import { exportJsonl, exportMarkdown } from '../../src/report/export.ts'
import { exportHtml } from '../../src/report/html.ts'
import { addSession, noStatistics, statisticsText } from '../../src/report/statistics.ts'
import { tracePage } from '../../src/report/trace-page.ts'
import { traceText } from '../../src/report/trace-text.ts'
import { traceOf } from '../../src/report/trace.ts'

type AnyRecord = SessionRecord | UnknownRecord
const folder = new URL('../../fixtures/sessions/', import.meta.url).pathname
const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))

function load(name: string): AnyRecord[] {
  return readFileSync(join(folder, name.endsWith('.jsonl') ? name : `${name}.jsonl`), 'utf8').trimEnd().split('\n').map((line) => {
    const parsed = parse(line)
    if (!parsed.ok) throw new Error(parsed.why)
    return parsed.record
  })
}

const markdown = (records: Iterable<AnyRecord>, known?: string[]): string => [...exportMarkdown(records, known)].join('')
const html = (records: Iterable<AnyRecord>, known?: string[]): string => [...exportHtml(records, 'A title', known)].join('')

/** Records of one session whose texts are all this. */
const saying = (text: string): SessionRecord[] => [
  { seq: 0, at: 1, type: 'session', version: 1, id: text, cwd: text, root: text, git: { head: text, branch: text } },
  { seq: 1, at: 1, type: 'set', title: text, model: text },
  { seq: 2, at: 1, type: 'input', id: 'i', text, images: [{ blob: { sha256: text, bytes: 1 }, mediaType: text, name: text }] },
  { seq: 3, at: 1, type: 'step', run: text, number: 1, attempt: 1, inputs: ['i'], model: text, request: { sha256: text, bytes: 1 } },
  { seq: 4, at: 1, type: 'reply', run: text, parts: [{ type: 'text', text }, { type: 'reasoning', text }, { type: 'call', id: 'c', name: text, input: { [text]: text } }], stop: 'calls', usage: { input: 1, output: 1 }, fault: { kind: 'server', message: text } },
  { seq: 5, at: 1, type: 'answer', run: text, call: 'c', verdict: 'deny', by: 'user', reason: text },
  { seq: 6, at: 1, type: 'result', run: text, call: 'c', status: 'ok', text, diff: `+${text}\n-${text}` },
  { seq: 7, at: 1, type: 'shell', command: text, exit: 0, text, model: true },
  { seq: 8, at: 1, type: 'check', run: text, command: text, exit: 1, attempt: 1, text },
  { seq: 9, at: 1, type: 'job', id: 'j', command: text, exit: null },
  { seq: 10, at: 1, type: 'compact', summary: text, keep: 0, tokens: { before: 1, after: 1 } },
  { seq: 11, at: 1, type: 'outcome', run: text, status: 'done', reason: text },
]

test('Markdown tells what was said, called, changed and how it ended', () => {
  const text = markdown(load('tools'))
  for (const part of ['Fix the failing test, please.', '> Look first.', '**read** ok', '```diff\n--- a/sum.js', '-  return a - b\n+  return a + b', '**shell** ok, exit code 0', 'Fixed: `sum` subtracted', '**verified: npm test passed after the last change**', '*The user allowed edit.*']) expect(text).toContain(part)
  expect(markdown(load('rewound'))).toContain('*Rewound: what follows comes after record 3.*')
  expect(markdown(load('open'))).toContain('**shell** no result')
  expect(markdown(load('steered'))).toContain('*Taken back before it was delivered: Never mind this.*')
})

test('a missing record is named where it is missing', () => {
  expect(markdown(load('tools').filter(({ seq }) => seq !== 9 && seq !== 10))).toContain('*Records 9 to 10 are missing.*')
})

test('nothing in a text ends its fence', () => {
  const evil = 'a\n```\nout of it\n`````\n'
  const text = markdown(saying(evil))
  const fences = [...text.matchAll(/^(`{6,})\w*\n([\s\S]*?)\n\1$/gm)]
  expect(fences.length).toBeGreaterThanOrEqual(4)
  for (const [, , inside] of fences) expect(inside?.replaceAll('+', '').replaceAll('-', '')).toContain('out of it')
})

test('HTML is one file that holds nothing from elsewhere and nothing that runs, whatever a session says', () => {
  const allowed = /^<(?:!doctype html|\/?(?:html|head|body|main|title|style|h1|h2|b|p|pre|code|table|tr|th|td|section|details|summary|div|span)(?: lang="en"| class="[\w ]*"| open| style="width:[\d.]+%")*|meta (?:charset|name|http-equiv)="[^"<>]*"(?: content="[^"<>]*")?)>$/
  const hostile = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' onmouseover='x", '</pre></details><iframe>', '```\n<b onclick=x>\n', '`<i>`', '# <u>', '&lt;', '\u001b]0;x\u0007', '</style><script>'))
  fc.assert(fc.property(hostile, (text) => {
    for (const page of [html(saying(text)), [...tracePage(traceOf(saying(text)))].join('')]) {
      const tags = page.match(/<[^>]*>?/g) ?? []
      for (const tag of tags) expect(tag).toMatch(allowed)
    }
  }), { numRuns: 200 })
})

test('HTML shows diffs, folds what is long, and opens what failed', () => {
  const text = html(load('tools'))
  expect(text).toContain('<span class="del">-  return a - b</span>\n<span class="add">+  return a + b</span>')
  expect(text).toContain('<details><summary><b>read</b>')
  expect(html(load('faults'))).toContain('<details open><summary><b>shell</b> <code>make</code> <span class="bad">failed</span>')
  expect(text).toContain('Fixed: <code>sum</code> subtracted')
})

test('secrets are taken out of every export, also where the person typed them, and opaque state stays', () => {
  const key = ['ghp_', 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zaB3dE'].join('')
  const records = saying(`my key is ${key} and mine-own-key`)
  const reply = records[4]
  if (reply?.type !== 'reply' || !reply.parts[0]) throw new Error('no reply')
  reply.parts[0].opaque = { by: 'a', data: { signature: key } }
  const known = ['mine-own-key']
  const lines = [...exportJsonl(records, known)]
  for (const text of [markdown(records, known), html(records, known), ...lines.filter((_, index) => index !== 4)]) {
    expect(text).not.toContain(key)
    expect(text).not.toContain('mine-own-key')
  }
  expect(lines[4]?.split(key).length).toBe(2)
  expect(lines[4]).toContain(`"signature":"${key}"`)
  for (const text of [traceText(traceOf(records)), [...tracePage(traceOf(records))].join('')]) expect(text).not.toContain(key)
})

test.each(names)('%s as JSON lines is the session itself', (name) => {
  expect([...exportJsonl(load(name))].join('')).toBe(readFileSync(join(folder, name), 'utf8'))
})

test('an export begins before the whole session was read, and holds no more than a piece of it', () => {
  let read = 0
  function* endless(): Generator<SessionRecord> {
    for (let seq = 0; ; seq++) {
      read++
      yield { seq, at: 1, type: 'input', id: `i${seq}`, text: 'on and on' }
    }
  }
  for (const exported of [exportMarkdown(endless()), exportHtml(endless(), 't'), exportJsonl(endless())]) {
    read = 0
    for (let piece = 0; piece < 20; piece++) exported.next()
    expect(read).toBeLessThan(25)
    exported.return(undefined)
  }
})

test('a trace has the times, tokens, cost and end of every request and call', () => {
  const trace = traceOf(load('tools'))
  expect(trace.runs).toHaveLength(1)
  expect(trace.runs[0]).toMatchObject({ id: 'r1', inputs: ['Fix the failing test, please.'], waited: 2000, ms: 21_000, outcome: { status: 'verified' }, totals: { steps: 3, calls: 4, input: 3600, output: 240 }, checks: [{ command: 'npm test', exit: 0, ms: 800 }] })
  expect(trace.runs[0]?.steps.map((step) => step.calls.map(({ name, status, waited }) => [name, status, waited]))).toEqual([[['read', 'ok', 0], ['read', 'ok', 0]], [['edit', 'ok', 1000], ['shell', 'ok', 1000]], []])
  const text = traceText(trace)
  expect(text).toContain('step 1  local/m  1.5 s (first after 300 ms)  1,200 in (900 cached), 80 out  $0.0021')
  expect(text).toContain('verified: npm test passed after the last change')
})

test('a trace tells attempts, faults, cut-off replies, lost runs and unknown prices', () => {
  const text = traceText(traceOf(load('faults')))
  for (const part of ['overload: The server is busy (529).', 'step 1, attempt 2', 'rejected', 'no reply', 'lost: The program ended']) expect(text).toContain(part)
  expect(traceText(traceOf(load('open')))).toContain('still open, or cut off')
  expect(traceText(traceOf(load('compacted')))).toContain('cost unknown')
  expect(traceText(traceOf(load('tools').filter(({ seq }) => seq !== 5)))).toContain('1 record missing')
  expect([...tracePage(traceOf(load('faults')))].join('')).toContain('overload: The server is busy (529).')
})

test('statistics add up over sessions, and a copied record counts once', () => {
  const statistics = noStatistics()
  expect(statisticsText(statistics)).toBe('There are no sessions yet.\n')
  addSession(statistics, load('tools'))
  addSession(statistics, load('steered'))
  expect(statistics).toMatchObject({ sessions: 2, runs: 3, outcomes: { verified: 1, interrupted: 1, done: 1 }, totals: { steps: 6, calls: 5, input: 7300, output: 404 }, checks: { passed: 1, failed: 0 } })
  expect(statistics.tools.get('shell')).toEqual({ calls: 3, ok: 1, ms: 36 })
  const once = statisticsText(statistics)
  addSession(statistics, load('tools').map((record, index): AnyRecord => (index === 0 && record.type === 'session' && !('unknown' in record) ? { ...record, at: 2e12, fork: { id: 'tools', seq: 25 } } : record)))
  expect(statistics).toMatchObject({ sessions: 3, runs: 3, totals: { steps: 6, input: 7300 } })
  expect(once).toContain('runs      3 (1 verified, 1 interrupted, 1 done)')
})

test.each(names)('every report can be made of every beginning of %s', (name) => {
  const records = load(name)
  for (let count = 0; count <= records.length; count++) {
    const part = records.slice(0, count)
    markdown(part)
    html(part)
    const trace = traceOf(part)
    traceText(trace)
    expect([...tracePage(trace)].join('')).toMatch(/<\/html>\n$/)
    const statistics = noStatistics()
    addSession(statistics, part)
    statisticsText(statistics)
  }
})
