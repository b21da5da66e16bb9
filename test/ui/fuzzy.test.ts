import { expect, test } from 'vitest'
import { fuzzy, ranked } from '../../src/ui/fuzzy.ts'

function find(texts: readonly string[], query: string): string[] {
  const finder = fuzzy(texts, (text) => text)
  return ranked(Array.from({ length: finder.pieces }, (_, piece) => finder.find(piece, query)).flat())
}

const texts = ['Fix the parser of durations', 'Write the changelog', 'The lock of a session survives a crash', 'A long text about all kinds of clocks']

test('words are found in any case and order, and with letters left out', () => {
  expect(find(texts, 'DURATIONS parser')).toEqual([texts[0]])
  expect(find(texts, 'prsr')).toEqual([texts[0]])
  expect(find(texts, 'chnglog')).toEqual([texts[1]])
  expect(find(texts, 'ftp')).toEqual([texts[0]])
})

test('what stands at the beginning of a word goes before what stands inside one', () => {
  expect(find(texts, 'lock')).toEqual([texts[2], texts[3]])
})

test('letters that are scattered over a text are no find', () => {
  expect(find(texts, 'wagc')).toEqual([])
  expect(find(['a rather long sentence in which every letter occurs somewhere'], 'list')).toEqual([])
})

test('signs that mean something to the matcher are letters to a person', () => {
  for (const query of ['!lock', "'lock", '^lock', 'lock$', 'lock |']) expect(find(texts, query)).toEqual([texts[2], texts[3]])
  expect(find(texts, '!')).toEqual([])
})

test('many texts come in pieces, each of the same size', () => {
  const many = Array.from({ length: 2_500 }, (_, index) => `text number ${index}`)
  const finder = fuzzy(many, (text) => text)
  expect(finder.pieces).toBe(3)
  expect(finder.find(0, 'number').length).toBe(1_000)
  expect(finder.find(2, '2499').map(({ item }) => item)).toEqual(['text number 2499'])
  expect(find(many, 'number 2499')).toEqual(['text number 2499'])
})
