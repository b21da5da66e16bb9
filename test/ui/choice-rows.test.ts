import fc from 'fast-check'
import { expect, test } from 'vitest'
import { choiceRows } from '../../src/ui/choice-rows.ts'
import { columnsOf } from '../../src/ui/graphemes.ts'

const session = (label: string, ...details: string[]): Parameters<typeof choiceRows>[0][number] => ({ label, note: '', details: () => details })
const list = [
  session('Durations with two digits', '', '3 min ago', 'verified', 'main', '$0.42', '826 B'),
  session('Make the button blue 日本語', 'packages/ui', '1 h ago', 'interrupted', 'topic/blue', '', '1.2 MB'),
]

test('what is said of the choices stands in even columns', () => {
  expect(choiceRows(list, 100)).toEqual([
    'Durations with two digits                 3 min ago  verified     main        $0.42  826 B',
    'Make the button blue 日本語  packages/ui  1 h ago    interrupted  topic/blue         1.2 MB',
  ])
})

test('a column in which nothing stands takes no room', () => {
  expect(choiceRows([list[0] ?? session('')], 100)).toEqual(['Durations with two digits  3 min ago  verified  main  $0.42  826 B'])
})

test('where there is little room the least useful columns go first, the first one never', () => {
  const shown = (columns: number): string[] => choiceRows(list, columns).map((row) => row.replace(/ {2,}/g, '|'))
  expect(shown(80)).toEqual(['Durations with two digits|3 min ago|verified|main', 'Make the button blue 日本語|packages/ui|1 h ago|interrupted|topic/blue'])
  expect(shown(62)[1]).toBe('Make the button blue 日…|packages/ui|1 h ago|interrupted')
  expect(shown(45)[1]).toBe('Make the button blue…|packages/ui|1 h ago')
  expect(shown(34)[1]).toBe('Make the button blue…|packages/ui')
  expect(shown(20)[1]).toMatch(/^Make the …\|package…$/)
})

test('a note stands behind the label as before, also among choices with columns', () => {
  expect(choiceRows([{ label: 'one', note: 'said of it' }, { label: 'three', note: '' }], 40)).toEqual(['one    said of it', 'three'])
  expect(choiceRows([session('one', 'a', 'b'), { label: 'found', note: '…in its text' }], 40)).toEqual(['one    a  b', 'found  …in its text'])
})

test('no row is wider than the window, and nothing in it steers the terminal', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', '日', '\x1b[2J', '\n', ' ', 'é', '👩‍🚀') })
  fc.assert(fc.property(fc.array(fc.record({ label: texts, note: texts, cells: fc.option(fc.array(texts, { maxLength: 6 })) }), { maxLength: 8 }), fc.integer({ min: 4, max: 120 }), (choices, columns) => {
    for (const row of choiceRows(choices.map(({ label, note, cells }) => ({ label, note, details: cells === null ? undefined : () => cells })), columns)) {
      expect(columnsOf(row)).toBeLessThanOrEqual(columns)
      expect(row).not.toMatch(/[\x00-\x1f]/)
    }
  }))
})
