import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
// @ts-expect-error -- it is JavaScript, part of the build
import { NARROW } from '../../scripts/string-width.js'
import { Segmenter } from '../../src/ui/segmenter.ts'

const units = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit))
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const late = new Segmenter(undefined, { granularity: 'grapheme' })

test('every text that the late segmenter takes apart by itself is taken apart as by ICU', () => {
  const mixed = fc.array(fc.oneof(fc.constantFrom(...'aZ ·…│✓中\t\n\x1b'.split('')), fc.constantFrom('\u0301', '\r', '\u200d', '👩', '️', '각', '\u0600'), fc.string({ unit: 'binary', maxLength: 1 }))).map((parts) => parts.join(''))
  fc.assert(fc.property(mixed, (text) => {
    expect([...late.segment(text)].map(({ segment, index }) => [segment, index])).toEqual([...graphemes.segment(text)].map(({ segment, index }) => [segment, index]))
    for (const index of [0, 1, text.length]) expect(late.segment(text).containing(index)?.segment).toBe(graphemes.segment(text).containing(index)?.segment)
  }))
})

test('a letter that counts as narrow without being looked at is one column, alone and between others', () => {
  const narrow = units.filter((unit) => (NARROW as RegExp).test(unit))
  expect(narrow.length).toBeGreaterThan(1_000)
  expect(narrow.filter((unit) => stringWidth(unit) !== 1)).toEqual([])
  expect(stringWidth(narrow.join(''))).toBe(narrow.length)
  expect(stringWidth(narrow.toReversed().join(''))).toBe(narrow.length)
})
