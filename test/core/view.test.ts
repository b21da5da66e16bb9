import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Grown } from '../../src/core/grow.ts'
import type { AgentEvent } from '../../src/core/ports.ts'
import { parse, type Fact, type Part } from '../../src/core/record.ts'
import { openView, resumeRow } from '../../src/core/view-open.ts'
import { emptyView, landing, reduce, type Row, type View, type ViewEvent } from '../../src/core/view.ts'
import { call, deltas, events, input, outcome, reasoning, reply, result, session, start, step, text } from './view-events.ts'

const fold = (list: readonly ViewEvent[], from = emptyView()): View => list.reduce(reduce, from)
const rows = (list: readonly Parameters<typeof events>[0][number][]): Row[] => fold(events(list)).rows.slice()
const kinds = (list: readonly Row[]): string[] => list.map((row) => (row.kind === 'text' ? `text ${row.text}` : row.kind === 'call' ? `call ${row.call} ${row.status}` : row.kind))

/** A session with everything in it, `times` over. */
function everything(times: number): AgentEvent[] {
  const list: Parameters<typeof events>[0][number][] = [session, { type: 'system', text: 's', tools: [], instructions: [{ path: 'AGENTS.md', sha256: 'a' }] }]
  for (let index = 0; index < times; index++) {
    const run = `r${index}`
    const parts: Part[] = [reasoning('**Thinking**\nhard'), text(`# Plan ${index}\n\nI look.\n\n- a\n- b\n`), call(`a${index}`, 'shell', { command: 'npm test' }), call(`b${index}`, 'edit', { path: '/w/x.ts', edits: [] })]
    list.push(
      input(`i${index}`, `fix it ${index}`), step(run, 1, [`i${index}`]), ...deltas(run, parts, [5, 1, 9]), reply(run, parts),
      { type: 'ask', run, call: `a${index}`, accesses: [{ kind: 'exec', argv: ['npm', 'test'] }] },
      { type: 'answer', run, call: `a${index}`, verdict: 'allow', by: 'user', grant: { scope: 'session', rules: [{ verdict: 'allow', kind: 'exec', match: 'npm test' }] } },
      start(run, `a${index}`), { type: 'spawn', run, call: `a${index}`, pid: 7 }, input(`s${index}`, 'faster', 'next'),
      { type: 'output', run, call: `a${index}`, text: '1 passing\n2 pass' }, start(run, `b${index}`),
      result(run, `b${index}`, { diff: '@@ -1 +1 @@\n-a\n+b', changes: [{ path: '/w/x.ts', before: '1', after: '2' }] }), result(run, `a${index}`, { text: 'x\n'.repeat(40), exit: 1, status: 'failed', ms: 12 }),
      step(run, 2, [`s${index}`]), reply(run, [text('half')], { stop: 'error', fault: { kind: 'overload', message: 'busy', status: 529 }, retry: { at: 5, of: 3 } }), step(run, 2, [], 2), reply(run, [text('All done.')]),
      { type: 'check', run, command: 'npm test', exit: 0, attempt: 1 }, outcome(run, 'verified'),
      { type: 'shell', command: 'ls', exit: 0, text: 'a\nb', model: true }, { type: 'set', mode: 'edit' }, { type: 'error', message: 'no' },
    )
  }
  return events(list)
}

test('settled rows only grow: every prefix keeps the very rows of the one before', () => {
  let view = emptyView()
  for (const event of everything(8)) {
    const next = reduce(view, event)
    const before = view.rows.slice()
    expect(next.rows.length).toBeGreaterThanOrEqual(before.length)
    for (const [index, row] of before.entries()) expect(next.rows.at(index)).toBe(row)
    view = next
  }
  expect(view.rows.length).toBeGreaterThan(80)
})

test('an older view stays as it was, and can be folded on by itself', () => {
  const list = everything(2)
  const views = list.reduce<View[]>((all, event) => [...all, reduce(all.at(-1)!, event)], [emptyView()])
  const lengths = views.map((view) => view.rows.length)
  const other = fold(events([{ type: 'error', message: 'another way' }]).concat(list.slice(10)), views[10])
  expect(other.rows.slice(0, views[10]!.rows.length)).toEqual(views[10]!.rows.slice())
  expect(views.map((view) => view.rows.length)).toEqual(lengths)
  expect(fold(list).rows.slice()).toEqual(views.at(-1)!.rows.slice())
})

test('an event costs the same in a view of ten rows and of a hundred thousand', () => {
  const touches = (size: number): number => {
    let count = 0
    const items = new Proxy(Array.from({ length: size }, (): Row => ({ kind: 'error', message: 'old' })), {
      get: (target, key, receiver) => (count++, Reflect.get(target, key, receiver) as unknown),
      set: (target, key, value) => (count++, Reflect.set(target, key, value)),
    })
    fold(everything(20), { ...emptyView(), rows: new Grown(items, size) })
    return count
  }
  expect(touches(100_000)).toBe(touches(10))
})

test('a delta leaves everything that grows untouched', () => {
  const before = fold([...everything(50), ...events([input('z', 'go'), step('z', 1, ['z'])], 10_000)])
  const after = fold(deltas('z', [text('no end of a block yet')], [3]), before)
  expect(after.rows).toBe(before.rows)
  expect(after.inner.marks).toBe(before.inner.marks)
  expect(after.live.text?.text).toBe('no end of a block yet')
})

const markdown = fc.array(fc.constantFrom('word ', '\n', '\n\n', '```ts\n', '- item\n', '| a | b |\n|--|--|\n', '# h\n', '你好', '\u001b]52;c;eA==\u0007'), { maxLength: 30 }).map((pieces) => pieces.join(''))
const someParts = fc.array(fc.oneof(markdown.map(text), markdown.map(reasoning)), { maxLength: 4 })

test('a streamed reply settles as the recorded one does, however it was chunked and whatever was dropped', () => {
  const property = fc.property(someParts, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 }), fc.integer({ min: 0, max: 40 }), (parts, sizes, lost) => {
    const head = [session, input('i', 'x'), step('r', 1, ['i'])]
    const streamed = deltas('r', parts, sizes)
    const recorded = rows([...head, reply('r', parts)])
    expect(rows([...head, ...streamed, reply('r', parts)])).toEqual(recorded)
    // One delta in the middle is lost: the reader notices, prints nothing wrong, and in the end everything.
    const noticed = lost < streamed.length - 1 && streamed[lost + 1]!.part === streamed[lost]!.part
    const folded = rows([...head, ...streamed.filter((_, index) => index !== lost), reply('r', parts)])
    if (noticed) expect(folded.filter((row) => row.kind === 'text')).toEqual(recorded.filter((row) => row.kind === 'text'))
  })
  fc.assert(property, { numRuns: 300 })
})

test('what nobody could notice as missing is shown when the reply is there', () => {
  const words = fc.array(fc.integer({ min: 100, max: 999 }), { minLength: 1, maxLength: 9 }).map((numbers) => numbers.map((number) => `${number}${number % 3 === 0 ? '\n\n' : ' '}`).join(''))
  const property = fc.property(fc.array(fc.oneof(words.map(text), words.map(reasoning)), { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 9 }), (parts, size) => {
    const kept = deltas('r', parts, [size]).filter((delta, index, all) => all[index + 1]?.part === delta.part)
    const said = rows([session, step('r', 1, []), ...kept, reply('r', parts)]).map((row) => (row.kind === 'text' ? row.text : '')).join('').replaceAll(/\s/g, '')
    for (const part of parts) if (part.type === 'text') for (const word of part.text.split(/\s+/)) expect(said).toContain(word)
  })
  fc.assert(property, { numRuns: 200 })
})

test('finished blocks settle while the reply is being written, the last stays live', () => {
  const view = fold(events([session, input('i', 'x'), step('r', 1, ['i']), ...deltas('r', [text('# Title\n\nfirst\n\nsecond')], [4])]))
  expect(kinds(view.rows.slice())).toEqual(['session', 'input', 'text # Title', 'text first'])
  expect(view.live.text?.text).toBe('second')
  const done = fold(events([reply('r', [text('# Title\n\nfirst\n\nsecond')])], 3), view)
  expect(kinds(done.rows.slice(2))).toEqual(['text # Title', 'text first', 'text second'])
  expect(done.live.text).toBe(null)
})

test('a reply that is not what was streamed is shown whole, after a row that says so', () => {
  const list = [session, step('r', 1, []), ...deltas('r', [text('one\n\ntwo')], [20]), reply('r', [text('something else')])]
  expect(kinds(rows(list))).toEqual(['session', 'text one', 'text two', 'differs', 'text something else'])
})

test('deltas that come late, of another run or twice change nothing', () => {
  const head = [session, step('r', 1, []), ...deltas('r', [text('one\n\ntwo')], [4])]
  const view = fold(events([...head, ...deltas('r', [text('one\n\ntwo')], [4]), ...deltas('other', [text('x\n\n')], [4])]))
  expect(view.rows.slice()).toEqual(fold(events(head)).rows.slice())
  const over = fold(events([...head, reply('r', [text('one\n\ntwo')]), ...deltas('r', [text('late\n\nlate')], [4])]))
  expect(kinds(over.rows.slice(1))).toEqual(['text one', 'text two'])
})

test('parallel calls settle in the order of the calls', () => {
  const head = [session, step('r', 1, []), reply('r', [call('a', 'read', { path: '/w/a' }), call('b', 'read', { path: 'b' }), call('c', 'read', { path: 'c' })]), start('r', 'a'), start('r', 'b'), start('r', 'c')]
  const held = fold(events([...head, result('r', 'c'), result('r', 'b')]))
  expect(kinds(held.rows.slice())).toEqual(['session'])
  expect(held.live.calls.map((each) => [each.summary, each.state])).toEqual([['a', 'running'], ['b', 'ended'], ['c', 'ended']])
  const all = fold(events([...head, result('r', 'c'), result('r', 'b'), result('r', 'a')]))
  expect(kinds(all.rows.slice(1))).toEqual(['call a ok', 'call b ok', 'call c ok'])
  expect(all.live.calls).toEqual([])
})

test('each of the seven ends of a call is on its row', () => {
  const statuses = ['ok', 'failed', 'rejected', 'denied', 'skipped', 'interrupted', 'unknown'] as const
  const list = [session, step('r', 1, []), reply('r', statuses.map((status) => call(status, 'shell', { command: status }))), ...statuses.map((status) => result('r', status, { status }))]
  expect(kinds(rows(list).slice(1))).toEqual(statuses.map((status) => `call ${status} ${status}`))
})

test('a result of a call that nobody knows is a row all the same', () => {
  expect(kinds(rows([session, step('r', 1, []), result('r', 'x', { status: 'unknown' })]).slice(1))).toEqual(['call x unknown'])
})

test('calls of a reply that failed or was interrupted are not waited for', () => {
  const view = fold(events([session, step('r', 1, []), reply('r', [text('so'), call('a', 'shell', {})], { stop: 'interrupted' }), outcome('r', 'interrupted')]))
  expect(view.live.calls).toEqual([])
  expect(kinds(view.rows.slice(1))).toEqual(['text so', 'stop', 'outcome'])
  expect([view.run, view.last?.status]).toEqual([null, 'interrupted'])
})

test('a waiting text says when it will land', () => {
  const busy = [session, input('i', 'go'), step('r', 1, ['i']), reply('r', [call('a', 'shell', { command: 'x' }), call('b', 'shell', { command: 'y' })]), start('r', 'a')]
  const view = fold(events([...busy, input('n', 'next', 'next'), input('f', 'later', 'after'), input('g', 'much later', 'after')]))
  expect(view.waiting.map((each) => landing(view, each))).toEqual(['before the next request, after 2 running calls', 'when the run ends', 'when the run ends, after 1 other'])
  const now = reduce(view, events([input('x', 'stop', 'now')], 20)[0]!)
  expect(now.waiting.map((each) => landing(now, each))).toEqual(['before the request after the next', 'when the run ends', 'when the run ends, after 1 other', 'now: stops the running command'])
  const writing = fold(events([session, input('i', 'go'), step('r', 1, ['i']), input('n', 'next')]))
  expect(landing(writing, writing.waiting[0]!)).toBe('before the next request, after this reply')
  const idle = fold(events([session, input('i', 'go')]))
  expect(landing(idle, idle.waiting[0]!)).toBe('with the next run')
})

test('delivered inputs are rows that say how and in which step; those taken back are none', () => {
  const list = [
    session, input('i', 'go'), step('r', 1, ['i']), input('s', 'steer'), input('gone', 'no'), { type: 'withdraw', input: 'gone' } as Fact, input('f', 'later', 'after'), step('r', 2, ['s']), input('n', 'cut', 'now'), step('r', 3, ['n']),
    outcome('r'), step('r2', 1, ['f']),
  ]
  const delivered = rows(list).flatMap((row) => (row.kind === 'input' ? `${row.role} ${row.text} ${row.step}` : []))
  expect(delivered).toEqual(['prompt go 1', 'steer steer 2', 'now cut 3', 'follow-up later 1'])
  expect(fold(events(list)).waiting).toEqual([])
})

test('an open question is there until it is answered, cancelled or the run has ended', () => {
  const asked = [session, step('r', 1, []), reply('r', [call('a', 'shell', { command: 'rm \u202e x' })]), { type: 'ask', run: 'r', call: 'a', accesses: [{ kind: 'exec', argv: ['rm', '\u202e', 'x'] }], preview: { kind: 'command', command: 'rm \u202e x', cwd: '/w' } } as Fact]
  const view = fold(events(asked))
  expect(view.asks.map((ask) => ask.preview)).toEqual([{ kind: 'command', command: 'rm \\u{202e} x', cwd: '/w' }])
  expect(view.live.calls[0]?.state).toBe('asking')
  for (const end of [{ type: 'answer', run: 'r', call: 'a', verdict: 'deny', by: 'user', reason: 'not now' } as Fact, result('r', 'a', { status: 'skipped' }), outcome('r')]) expect(fold(events([...asked, end])).asks).toEqual([])
  const denied = rows([...asked, { type: 'answer', run: 'r', call: 'a', verdict: 'deny', by: 'user', reason: 'not now' }, result('r', 'a', { status: 'denied' })]).at(-1)
  expect(denied).toMatchObject({ status: 'denied', answer: { by: 'user', reason: 'not now' } })
})

test('live output keeps its last lines, and what splits over two pieces is still made safe', () => {
  const head = [session, step('r', 1, []), reply('r', [call('a', 'shell', { command: 'x' })]), start('r', 'a')]
  const output = (value: string): AgentEvent => ({ type: 'output', run: 'r', call: 'a', text: value })
  const view = fold([...events(head), output('one\n10%\r5'), output('0%\rdone\u001b[3'), output('1m\u001b]52;c'), output(';xx\u0007red\nlast')])
  expect(view.live.calls[0]?.output).toBe('one\ndonered\nlast')
  const much = fold(Array.from({ length: 500 }, (_, index) => output(`line ${index}\n`.repeat(20))), view)
  expect(much.live.calls[0]!.output.length).toBeLessThan(9_000)
  expect(much.live.calls[0]!.output.endsWith('line 499\n')).toBe(true)
})

test('a job is listed until it ends', () => {
  const list = [session, step('r', 1, []), reply('r', [call('a', 'shell', { command: 'npm run dev', background: true })]), start('r', 'a'), { type: 'spawn', run: 'r', call: 'a', pid: 9, job: 'j1' } as Fact, result('r', 'a')]
  expect(fold(events(list)).jobs).toMatchObject([{ id: 'j1', command: 'npm run dev (in the background)', pid: 9 }])
  expect(fold(events([...list, { type: 'job', id: 'j1', command: 'npm run dev', exit: 0 }])).jobs).toEqual([])
})

test('status: context, tokens and cost, and unknown is not zero', () => {
  const view = fold(everything(3))
  expect(view.status).toMatchObject({ session: 's1', branch: 'main', title: 'fix it 0', model: 'p/m', mode: 'edit', context: 110, tokens: { input: 900, output: 90 } })
  expect(view.status.cost).toEqual({ usd: expect.closeTo(0.09), unknown: false })
  const unknown = fold(events([session, step('r', 1, []), reply('r', [], { cost: null })]))
  expect(unknown.status.cost).toEqual({ usd: 0, unknown: true })
})

test('the outcome says what the run used and changed', () => {
  expect(rows(everything(1) as never).findLast((row) => row.kind === 'outcome')).toMatchObject({ status: 'verified', steps: 2, calls: 2, files: ['x.ts'], added: 1, removed: 1, tokens: { input: 300, output: 30 } })
})

test('a rewind prints what follows, and brings back the queue and the context of there', () => {
  const list = [session, input('i', 'first'), step('r', 1, ['i']), reply('r', [text('a')], { usage: { input: 5, output: 1 } }), outcome('r'), input('j', 'second'), step('s', 1, ['j']), reply('s', [text('b')], { usage: { input: 50, output: 1 } }), outcome('s')]
  const toOutcome = fold(events([...list, { type: 'rewind', to: 4 }]))
  expect(toOutcome.rows.slice(-1)).toEqual([{ kind: 'rewind', to: 4, follows: 'the run "first" (done)' }])
  expect([toOutcome.status.context, toOutcome.waiting.length]).toEqual([6, 0])
  const toInput = fold(events([...list, { type: 'rewind', to: 5 }]))
  expect(toInput.waiting.map((each) => each.text)).toEqual(['second'])
  const back = fold(events([...list, { type: 'rewind', to: 4 }, { type: 'rewind', to: 8 }]))
  expect([back.status.context, back.waiting.length]).toEqual([51, 0])
  const twice = fold(events([...list, { type: 'rewind', to: 1 }, { type: 'set', mode: 'ask' }, { type: 'rewind', to: 10 }]))
  expect(twice.rows.slice(-1)).toEqual([{ kind: 'rewind', to: 10, follows: 'the input "first"' }])
})

test('an undo is a row once it is done, with what became of the files; one that did nothing is none', () => {
  const changes = [{ path: '/w/src/a.ts', before: 'a', after: 'b' }, { path: '/elsewhere/b', before: 'a', after: null }]
  const mark = (why: string, of = changes): Parameters<typeof events>[0][number] => ({ type: 'checkpoint', why, tree: null, undo: { to: 0, changes: of } })
  const { rows } = fold(events([session, mark('before undo'), mark('after undo'), mark('before redo'), mark('after redo', []), mark('after redo', changes.slice(0, 1))]))
  expect(rows.slice().filter(({ kind }) => kind === 'undo')).toEqual([
    { kind: 'undo', redo: false, files: [{ path: 'src/a.ts', gone: false }, { path: '/elsewhere/b', gone: true }], more: 0 },
    { kind: 'undo', redo: true, files: [{ path: 'src/a.ts', gone: false }], more: 0 },
  ])
})

test('missing, repeated and unknown records are named or passed over', () => {
  const [a, b, c, d] = events([session, input('i', 'x'), step('r', 1, ['i']), outcome('r')]) as [AgentEvent, AgentEvent, AgentEvent, AgentEvent]
  expect(kinds(fold([a, b, d]).rows.slice())).toEqual(['session', 'damage', 'outcome'])
  expect(kinds(fold([a, b, b, c, d]).rows.slice())).toEqual(['session', 'damage', 'input', 'outcome'])
  const unknown = { seq: 1, at: 1, type: 'later', unknown: true, line: '{}' } as const
  expect(kinds(fold([a, unknown, { type: 'damage', why: 'not JSON', line: 7 }]).rows.slice())).toEqual(['session', 'damage'])
})

test('a log that is in memory from a compaction on opens without damage and knows its totals', () => {
  const carry = { mode: 'auto', title: 'Long work', grants: [], totals: { steps: 9, calls: 9, input: 1_000, output: 100, cost: 1.5, costUnknown: true }, seen: [], inputs: [{ id: 'w', text: 'waits', when: 'after' }, { id: 'k', text: 'kept' }] } as const
  const kept = events([step('r', 4, ['k']), reply('r', [text('kept text')]), { type: 'compact', summary: 'So far', keep: 90, tokens: { before: 900, after: 50 }, carry } as unknown as Fact, outcome('r')], 90)
  const view = openView([...events([session]), ...kept])
  expect(kinds(view.rows.slice())).toEqual(['session', 'older', 'input', 'text kept text', 'compact', 'outcome'])
  expect(view.waiting.map((each) => each.id)).toEqual(['w'])
  expect(view.status).toMatchObject({ mode: 'auto', title: 'Long work', context: 50, tokens: { input: 1_000, output: 100 }, cost: { usd: 1.5, unknown: true } })
})

const fixtures = new URL('../../fixtures/sessions/', import.meta.url)
const logs = readdirSync(fixtures, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.jsonl'))

test.each(logs)('every prefix of the log %s only adds rows', (file) => {
  const list = readFileSync(new URL(file, fixtures), 'utf8').split('\n').filter(Boolean).map((line): ViewEvent => {
    const parsed = parse(line)
    return parsed.ok ? parsed.record : { type: 'damage', why: parsed.why }
  })
  let view = emptyView()
  for (const event of list) {
    const next = reduce(view, event)
    for (const [index, row] of view.rows.slice().entries()) expect(next.rows.at(index)).toBe(row)
    view = next
  }
  expect(view.rows.length).toBeGreaterThan(0)
  expect(openView(list).rows.slice()).toEqual(view.rows.slice())
})

test('going on with a session names how its last run ended', () => {
  expect(resumeRow(openView(events([session, input('i', 'fix the sum'), step('r', 1, ['i']), outcome('r', 'lost')])))).toMatchObject({ title: 'fix the sum', outcome: 'lost' })
})

const EVIL = 'a\u0007\u001b]52;c;Zm9v\u0007b\u001b[2Jc\u009b31m\u001b[?1049h\u001bPq\u001b\\\u202edcba\u2028\r\ne\u0000\u007f\u0085\u{e0041}'

function strings(value: unknown, into: string[] = []): string[] {
  if (typeof value === 'string') into.push(value)
  else if (value instanceof Grown) strings(value.slice(), into)
  else if (typeof value === 'object' && value !== null) for (const [key, each] of Object.entries(value)) if (!['inner', 'id', 'call', 'run'].includes(key)) strings(each, into)
  return into
}

test('no control sequence gets into a view, wherever it comes from', () => {
  const facts: Fact[] = [
    { type: 'session', version: 1, id: EVIL, cwd: EVIL, root: EVIL, git: { head: null, branch: EVIL }, fork: { id: EVIL, seq: 1 } }, { type: 'system', text: EVIL, tools: [], instructions: [{ path: EVIL, sha256: 'x' }] },
    input('i', EVIL), input('j', EVIL), step('r', 1, ['i']), reply('r', [reasoning(EVIL), text(`${EVIL}\n\n\`\`\`${EVIL}\n${EVIL}`), call('a', EVIL, { [EVIL]: EVIL }), call('b', 'shell', { command: EVIL }), call('c', 'edit', { path: EVIL }), call('d', 'read', { path: EVIL })]),
    { type: 'ask', run: 'r', call: 'a', accesses: [{ kind: 'exec', argv: [EVIL] }, { kind: 'read', path: EVIL }], preview: { kind: 'diff', diff: EVIL, note: EVIL }, because: EVIL },
    { type: 'answer', run: 'r', call: 'a', verdict: 'allow', by: 'user', because: EVIL, reason: EVIL, grant: { scope: 'user', rules: [{ verdict: 'allow', kind: 'exec', match: EVIL }] } },
    start('r', 'a'), start('r', 'b'), { type: 'spawn', run: 'r', call: 'b', pid: 1, job: EVIL }, result('r', 'a', { text: EVIL, diff: EVIL, changes: [{ path: EVIL, before: null, after: 'x' }] }), result('r', 'd', { text: EVIL, status: 'failed' }),
    { type: 'job', id: EVIL, command: EVIL, exit: null, signal: EVIL, because: EVIL }, { type: 'shell', command: EVIL, exit: 0, text: EVIL, model: true }, { type: 'compact', summary: EVIL, keep: 0, tokens: { before: 1, after: 1 } },
    { type: 'checkpoint', why: EVIL, tree: null, note: EVIL }, { type: 'checkpoint', why: 'after undo', tree: null, undo: { to: 0, changes: [{ path: EVIL, before: 'a', after: null }] } }, { type: 'check', run: 'r', command: EVIL, exit: 1, attempt: 1, text: EVIL }, { type: 'set', title: EVIL, model: EVIL },
    step('r', 2, ['j']), reply('r', [text(EVIL)], { stop: 'error', fault: { kind: 'server', message: EVIL } }), { type: 'rewind', to: 3 }, { type: 'outcome', run: 'r', status: 'failed', reason: EVIL },
  ]
  const passing: AgentEvent[] = [{ type: 'output', run: 'r', call: 'b', text: EVIL }, { type: 'error', message: EVIL }]
  let view = emptyView()
  for (const event of events(facts)) {
    for (const each of [event, ...passing, ...deltas('r', [text(EVIL), reasoning(EVIL), call('x', EVIL, EVIL)], [2])]) {
      view = reduce(view, each)
      for (const value of strings({ ...view, rows: view.rows.slice(-6) })) expect(value).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\u{e0000}-\u{e007f}]/u)
    }
  }
  expect(view.rows.length).toBeGreaterThan(30)
})

test('a reply of very many blocks and a file name with a line break are rows like others', () => {
  const many = rows([session, step('r', 1, []), reply('r', [text('a\n\n'.repeat(200_000)), call('c', 'edit', { path: 'x' })]), result('r', 'c', { changes: [{ path: '/w/a\nok', before: null, after: 'x' }] })])
  expect(many.length).toBe(200_002)
  expect(many.at(-1)).toMatchObject({ files: ['a\\nok'] })
})

test("a command's last line of exit and time is not said twice; what else it says stays", () => {
  const shell = (value: string): unknown => {
    const row = rows([session, step('r', 1, []), reply('r', [call('c', 'shell', { command: 'x' })]), result('r', 'c', { text: value, exit: 0 })]).at(-1)
    return row?.kind === 'call' ? row.output.text : null
  }
  expect(shell('1 passing\n\n[exit 0, 1.2 s]')).toBe('1 passing')
  expect(shell('[exit 0, 12 ms]\n')).toBe('')
  expect(shell('x\n[timed out after 2 s and was ended]')).toBe('x\n[timed out after 2 s and was ended]')
})

test('a run that broke is over, though no outcome says so', () => {
  const broken = [...events([input('i', 'go'), step('r', 1, ['i']), reply('r', [call('a', 'shell', { command: 'ls' })]), start('r', 'a')])]
  expect(fold([...broken, { type: 'error', message: 'refused', active: 'r' }])).toMatchObject({ run: { id: 'r' }, live: { calls: [{ call: 'a' }] } })
  expect(fold([...broken, { type: 'error', message: 'the disk is full', active: null }])).toMatchObject({ run: null, asks: [], live: { calls: [], request: null } })
})

test('commands of the person\'s own are shown while they run, each with its output, until their record is there or they came to nothing', () => {
  const said = (call: string, text: string, command?: string | null): AgentEvent => ({ type: 'output', run: '', call, text, ...(command === undefined ? {} : { command }) })
  const shells = (list: AgentEvent[]): unknown => list.reduce(reduce, emptyView()).live.shells
  const begun = [...events([session]), said('a', '', 'npm test'), said('b', '', 'npm run dev'), said('a', 'one\ntw'), said('a', 'o\n')]
  expect(shells(begun)).toEqual([{ call: 'b', command: 'npm run dev', output: '' }, { call: 'a', command: 'npm test', output: 'one\ntwo\n' }])
  expect(shells([...begun, ...events([{ type: 'shell', call: 'a', command: 'npm test', exit: 0, text: '', model: true }], 1)])).toEqual([{ call: 'b', command: 'npm run dev', output: '' }])
  expect(shells([...begun, said('b', '', null)])).toMatchObject([{ call: 'a' }])
})
