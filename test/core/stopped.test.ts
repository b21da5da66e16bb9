import { expect, test } from 'vitest'
import type { Fact, SessionRecord } from '../../src/core/record.ts'
import { stopped } from '../../src/core/stopped.ts'

const log = (...facts: Fact[]): SessionRecord[] => facts.map((fact, seq) => ({ seq, at: seq, ...fact }))
const step: Fact = { type: 'step', run: 'r', number: 1, attempt: 1, inputs: [], model: 'm', request: { sha256: '', bytes: 1 } }
const reply = (...commands: string[]): Fact => ({
  type: 'reply', run: 'r', stop: 'calls', usage: { input: 1, output: 1 },
  parts: commands.map((command, index) => ({ type: 'call', id: `c${index}`, name: 'shell', input: { command } })),
})
const result = (index: number, status: 'ok' | 'interrupted' | 'skipped' | 'unknown', alive?: number[]): Fact => ({ type: 'result', run: 'r', call: `c${index}`, status, text: '', ...(alive ? { alive } : {}) })

test('names what was stopped, counts what had not begun, and leaves out what had ended', () => {
  const records = log(step, reply('ls', 'sleep 300', 'make', 'make install'), result(0, 'ok'), result(1, 'interrupted'), result(2, 'skipped'), result(3, 'skipped'))
  expect(stopped(records, 'r')).toEqual({ parts: ['stopped: shell sleep 300', 'not begun: 2 calls'], alive: [] })
})

test('what would not stop is named with its process, and so is what runs in the background', () => {
  const records = log(
    step, reply('npm run dev'), { type: 'spawn', run: 'r', call: 'c0', pid: 7, job: 'j1' }, result(0, 'ok'),
    step, reply('stubborn', 'leaves a child'), { type: 'spawn', run: 'r', call: 'c0', pid: 9 }, result(0, 'unknown'), result(1, 'interrupted', [11]),
  )
  expect(stopped(records, 'r')).toEqual({
    parts: ['stopped: shell leaves a child', 'left behind, may still be going on: shell stubborn', 'in the background as before: j1'], alive: [9, 11, 7],
  })
})

test('an interrupted reply was stopped itself; of an earlier run nothing is said', () => {
  const records = log(step, reply('old'), result(0, 'interrupted'), { ...step, run: 'r2' }, { type: 'reply', run: 'r2', stop: 'interrupted', usage: { input: 0, output: 0 }, parts: [] })
  expect(stopped(records, 'r2')).toEqual({ parts: ['stopped: the reply'], alive: [] })
})
