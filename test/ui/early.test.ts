import { expect, test } from 'vitest'
import type { Command } from '../../src/core/command.ts'
import type { AgentEvent } from '../../src/core/ports.ts'
import type { Fact, SessionRecord } from '../../src/core/record.ts'
import { blankScreen } from '../../src/ui/blank-screen.ts'
import { insert, textOf } from '../../src/ui/editor-state.ts'
import { enter } from '../../src/ui/enter.ts'
import { opened } from '../../src/ui/opened.ts'
import type { Connection } from '../../src/ui/port.ts'
import { submit } from '../../src/ui/submit.ts'
import { toEditor } from '../../src/ui/suggest.ts'
import { stageOf, type Bench } from './stage.ts'

const recordsOf = (...facts: Fact[]): SessionRecord[] => facts.map((fact, seq) => ({ seq, at: 1_000 + seq, ...fact }))
const turn = (name: string): Fact[] => [
  { type: 'input', id: `i-${name}`, text: `ask ${name}`, from: 'user', when: 'next' },
  { type: 'step', run: `r-${name}`, number: 1, attempt: 1, inputs: [`i-${name}`], model: 'a/b', request: { sha256: '', bytes: 1 } },
  { type: 'reply', run: `r-${name}`, parts: [{ type: 'text', text: `answer ${name}` }], stop: 'end', usage: { input: 1, output: 1 } },
  { type: 'outcome', run: `r-${name}`, status: 'done', reason: 'said' },
]
const SESSION: Fact = { type: 'session', version: 1, id: 's1', cwd: '/w', root: '/w' }
const LOST: Fact = { type: 'outcome', run: 'r-three', status: 'lost', reason: 'it was killed' }

interface Large extends Bench {
  sent: Command[]
  drafts: string[]
  /** All of it is there, or cannot be had. */
  come(): Promise<void>
  fail(): Promise<void>
  stop(): void
}

/** A session of four turns, of which the last is there. */
function large(records = recordsOf(SESSION, ...turn('one'), ...turn('two'), ...turn('three').slice(0, 3), LOST), tail = 9, refuses = false): Large {
  const rest = Promise.withResolvers<Connection>()
  const sent: Command[] = []
  const drafts: string[] = []
  const listeners = new Set<(event: AgentEvent) => void>()
  const whole: Connection = {
    session: 's1', records,
    draft: { load: () => '', save: (text) => (drafts.push(text), null) },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    send: (command) => {
      sent.push(command)
      const seq = records.length
      const fact: AgentEvent | null = refuses ? { type: 'error', message: 'no', active: null }
        : command.type === 'input' ? { seq, at: 1, type: 'input', id: `i${seq}`, text: command.text, from: 'user', when: 'next' }
          : command.type === 'withdraw' ? { seq, at: 1, type: 'withdraw', input: command.input ?? '' } : null
      if (fact && 'seq' in fact) records.push(fact)
      if (fact) for (const listener of listeners) listener(fact)
    },
    close: () => undefined,
  }
  const bench = stageOf()
  const { stage } = bench
  // What opening it appended is not in its end yet.
  const first: Connection = { ...whole, records: [...records.slice(0, 1), ...records.slice(tail, -1)], rest: () => rest.promise }
  stage.store.update((screen) => opened(first, blankScreen(first, screen.theme, screen.size)))
  const stop = enter(stage)
  bench.pass(100)
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) {
      await Promise.resolve()
      bench.pass(1)
    }
  }
  return {
    ...bench, sent, drafts, stop,
    come: () => (rest.resolve(whole), settled()),
    fail: () => (rest.reject(new Error('It is too large.')), settled()),
  }
}

const type = ({ stage }: Bench, text: string): boolean => {
  toEditor(stage, (editor) => insert(editor, text))
  return submit(stage, text, 'next')
}
const rowsOf = ({ stage }: Bench): unknown[] => stage.store.get().view.rows.slice().map((row) => ('text' in row ? row.text : row.kind))

test('the end of a large session is on the screen before all of it is read, and then its beginning is there, too', async () => {
  const bench = large()
  expect(rowsOf(bench)).toEqual(['session', 'older', 'ask three', 'answer three'])
  expect(bench.stage.store.get().view.run).toBe(null)
  await bench.come()
  expect(rowsOf(bench)).toEqual(['session', 'ask one', 'answer one', 'outcome', 'ask two', 'answer two', 'outcome', 'ask three', 'answer three', 'outcome', 'resume'])
  // Only what was not printed before: how its last run ended, and how it goes on.
  expect(bench.printed.join('')).toMatch(/^\s*[■=] lost: it was killed\n[^]*going on with "ask one"; its last run ended as lost/)
  expect(bench.printed.join('')).not.toContain('answer')
})

test('what is sent meanwhile is shown, kept in the draft, and goes out in its order when all is there', async () => {
  const bench = large()
  expect(type(bench, 'first')).toBe(true)
  expect(type(bench, 'second')).toBe(true)
  bench.stage.store.get().connection.send({ type: 'set', mode: 'plan' })
  await Promise.resolve()
  expect(bench.stage.store.get().view.waiting.map(({ text }) => text)).toEqual(['first', 'second'])
  expect(bench.drafts.at(-1)).toBe('first\nsecond')
  expect(bench.sent).toEqual([])
  await bench.come()
  expect(bench.sent).toEqual([{ type: 'input', text: 'first', when: 'next' }, { type: 'input', text: 'second', when: 'next' }, { type: 'set', mode: 'plan' }])
  expect(bench.stage.store.get().view.waiting.map(({ text }) => text)).toEqual(['first', 'second'])
  expect(bench.drafts.at(-1)).toBe(textOf(bench.stage.store.get().editor))
})

test('an interrupt takes back what waits, and nothing of it is sent', async () => {
  const bench = large()
  submit(bench.stage, 'oh no', 'next')
  await Promise.resolve()
  bench.stage.store.get().connection.send({ type: 'interrupt' })
  await Promise.resolve()
  expect(textOf(bench.stage.store.get().editor)).toBe('oh no')
  expect(bench.stage.store.get().busy).toBe(null)
  await bench.come()
  expect(bench.sent).toEqual([])
})

test('texts that waited in the session go back before anything new is sent', async () => {
  const waiting: Fact = { type: 'input', id: 'old', text: 'from before', from: 'user', when: 'next' }
  const bench = large(recordsOf(SESSION, ...turn('one'), waiting, LOST), 5)
  submit(bench.stage, 'new', 'next')
  await bench.come()
  expect(bench.sent).toEqual([{ type: 'withdraw', input: 'old' }, { type: 'input', text: 'new', when: 'next' }])
  expect(textOf(bench.stage.store.get().editor)).toBe('from before')
})

test('what is refused in the end goes back to who wrote it', async () => {
  const bench = large(undefined, undefined, true)
  submit(bench.stage, 'in vain', 'next')
  await bench.come()
  expect(textOf(bench.stage.store.get().editor)).toBe('in vain')
})

test('a session that cannot be read to its beginning is only looked at, and what was written comes back', async () => {
  const bench = large()
  submit(bench.stage, 'in vain', 'next')
  await bench.fail()
  const { connection, notice, editor } = bench.stage.store.get()
  expect([connection.readOnly, connection.rest, notice?.text, textOf(editor)]).toEqual(['It is too large.', undefined, 'It is too large.', 'in vain'])
})

test('a session that was left before it was read changes nothing any more', async () => {
  const bench = large()
  bench.stop()
  const before = bench.stage.store.get()
  await bench.come()
  expect(bench.stage.store.get()).toBe(before)
})

test('a run whose beginning is not there ends without figures that would be wrong', () => {
  const [input, step, reply] = turn('three') as [Fact, Fact, Fact, Fact]
  const long = recordsOf(SESSION, input, step, reply, { ...step, number: 2, inputs: [] } as Fact, reply, { type: 'outcome', run: 'r-three', status: 'done', reason: 'said' }, ...turn('four'), LOST)
  const bench = large(long, 4)
  expect(bench.stage.store.get().view.rows.slice().flatMap((row) => (row.kind === 'outcome' ? [row.steps] : []))).toEqual([0, 1])
})

test('an interrupt before the session is there gives up what would begin something, and says so', async () => {
  const { stage, sent, come } = large()
  const { connection } = stage.store.get()
  connection.send({ type: 'set', mode: 'edit' })
  connection.send({ type: 'shell', command: 'make', model: true })
  stage.store.update((screen) => ({ ...screen, busy: 'compact' }))
  connection.send({ type: 'compact' })
  connection.send({ type: 'input', text: 'and this' })
  connection.send({ type: 'interrupt' })
  await new Promise(setImmediate)
  expect([stage.store.get().busy, textOf(stage.store.get().editor)]).toEqual([null, 'and this'])
  expect(stage.store.get().view.rows.slice().at(-1)).toEqual({ kind: 'error', message: 'Not begun: !make, /compact' })
  await come()
  expect(sent).toEqual([{ type: 'set', mode: 'edit' }])
})

test('what is taken back before the session is there takes nothing else with it', async () => {
  const { stage, sent, come } = large()
  const { connection } = stage.store.get()
  connection.send({ type: 'compact' })
  connection.send({ type: 'input', text: 'one' })
  connection.send({ type: 'withdraw', input: stage.store.get().view.waiting.at(-1)?.id ?? [...stage.store.get().inputs.keys()].at(-1) ?? '' })
  await come()
  expect(sent).toEqual([{ type: 'compact' }])
})
