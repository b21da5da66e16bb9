import { expect, test } from 'vitest'
import type { SessionRecord } from '../../src/core/record.ts'
import { hasBegun, opened } from '../../src/ui/opened.ts'
import { stageOf } from './stage.ts'

const totals = { steps: 9, calls: 4, input: 10, output: 5, ms: 0, cost: 0, costUnknown: false }
/** As they are in memory where what came before the compaction was not read. */
const late: SessionRecord[] = [
  { seq: 0, at: 0, type: 'session', version: 1, id: 's2', cwd: '/w', root: '/w' },
  { seq: 40, at: 9, type: 'compact', summary: 'We fixed the parser.', keep: 40, tokens: { before: 900, after: 90 }, carry: { grants: [], totals, seen: [], inputs: [{ id: 'i7', text: 'and the lexer', when: 'after' }] } },
]

test('a session of which only what a compaction kept is in memory has begun, and is shown as such, with what still waits', () => {
  const { stage } = stageOf()
  const connection = { ...stage.store.get().connection, session: 's2', records: late }
  expect(hasBegun(connection)).toBe(true)
  const screen = opened(connection, stage.store.get())
  expect(screen.view.rows.slice().map(({ kind }) => kind)).toEqual(['session', 'older', 'compact', 'resume'])
  expect(screen.view.waiting.map(({ id, text }) => [id, text])).toEqual([['i7', 'and the lexer']])
  expect(screen.inputs.get('i7')).toMatchObject({ text: 'and the lexer', when: 'after' })
})
