import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyEdits, type Edit } from '../../src/core/edit.ts'
import { fold } from '../../src/core/edit-fold.ts'
import { retain } from '../../src/core/edit-retain.ts'
import { splitLines } from '../../src/core/lines.ts'
import { decode, encode, type Encoding } from '../../src/os/encoding.ts'

const line = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\t', '"', "'", '{', '}', '$', '&', '=', 'é', '-'), maxLength: 12 }),
  fc.constantFrom('', '\tif a {', '    if a {', '}', 'const a = "Alice";', 'trailing  ', 'x\u00a0= \u201cy\u201d \u2014 z', '  * it\u2019s', "  * it's", '$& $1 $$', 'foo', 'foo bar'),
)
const ending = fc.constantFrom('\n', '\r\n')
const endings = fc.oneof(fc.constant(fc.constant('\n')), fc.constant(fc.constant('\r\n')), fc.constant(fc.constant('\r')), fc.constant(ending)).chain((one) => fc.infiniteStream(one))
const encodings = fc.constantFrom<{ encoding: Encoding; bom: boolean }>({ encoding: 'utf-8', bom: false }, { encoding: 'utf-8', bom: true }, { encoding: 'utf-16le', bom: true }, { encoding: 'utf-16be', bom: true }, { encoding: 'windows-1252', bom: false })

const file = fc.record({ lines: fc.array(line, { minLength: 1, maxLength: 25 }), endings, encoding: encodings, closed: fc.boolean() }).map(({ lines, endings, encoding, closed }) => {
  const breaks = lines.map(() => endings.next().value)
  const last = lines.length - 1
  return { lines, encoding, text: lines.map((each, index) => each + (index < last || closed ? breaks[index] : '')).join('') }
})

const bytesOf = (text: string, encoding: { encoding: Encoding; bom: boolean }): Buffer => {
  const encoded = encode(text, encoding)
  if ('cannot' in encoded) throw new Error(encoded.cannot.join())
  return encoded.bytes
}
const plain = (text: string): string => text.replace(/\r\n?/g, '\n')

/** Some lines of the file, as a model that was shown plain line breaks sends them. */
const someLines = (lines: readonly string[]): fc.Arbitrary<{ from: number; to: number; closed: boolean }> =>
  fc.tuple(fc.nat(lines.length - 1), fc.nat(3), fc.boolean()).map(([from, more, closed]) => ({ from, to: Math.min(lines.length - 1, from + more), closed }))

const cases = file.chain(({ lines, encoding, text }) =>
  fc.record({ lines: fc.constant(lines), encoding: fc.constant(encoding), text: fc.constant(text), place: someLines(lines), replacement: fc.array(line, { maxLength: 4 }), spoil: fc.constantFrom('', 'blanks', 'quotes', 'indent', 'crlf') }),
)

const spoiled = (text: string, how: string): string => {
  switch (how) {
    case 'blanks':
      return text.replace(/[ \t]+$/gm, '')
    case 'quotes':
      return text.replace(/[\u2019]/g, "'").replace(/[\u201c\u201d]/g, '"').replace(/\u2014/g, '-').replace(/\u00a0/g, ' ')
    case 'indent':
      return text.replace(/^\t/gm, '    ')
    case 'crlf':
      return text.replace(/\n/g, '\r\n')
    default:
      return text
  }
}

test('bytes outside the place that is replaced stay, in every encoding and with every kind of line ending', () => {
  let [made, refused] = [0, 0]
  fc.assert(
    fc.property(cases, ({ lines, encoding, text, place, replacement, spoil }) => {
      const old = spoiled(lines.slice(place.from, place.to + 1).join('\n') + (place.closed ? '\n' : ''), spoil)
      const edit = { old, new: replacement.join('\n') + (place.closed && replacement.length > 0 ? '\n' : '') }
      const before = bytesOf(text, encoding)
      const decoded = decode(before)
      // A CP1252 file that happens to be UTF-8 is that.
      if (!decoded || decoded.text !== text) return
      const edited = applyEdits(text, [edit])
      if (!edited.ok) {
        refused++
        return
      }
      made++
      expect(edited.places).toHaveLength(1)
      const { line: number, removed } = edited.places[0]!
      const was = splitLines(text).map(({ text, ending }) => text + ending)
      const head = bytesOf(was.slice(0, number - 1).join(''), encoding)
      const tail = bytesOf(was.slice(number - 1 + removed).join(''), { ...encoding, bom: false })
      const after = bytesOf(edited.text, decoded)
      expect(after.subarray(0, head.length)).toEqual(head)
      expect(after.subarray(after.length - tail.length)).toEqual(tail)
    }),
    { numRuns: 4_000 },
  )
  expect(made).toBeGreaterThan(800)
  expect(refused).toBeGreaterThan(100)
})

test('with plain line breaks taken for what they are, an edit is that of a text editor', () => {
  let made = 0
  fc.assert(
    fc.property(cases, ({ lines, text, place, replacement }) => {
      const old = lines.slice(place.from, place.to + 1).join('\n') + (place.closed ? '\n' : '')
      const edit = { old, new: replacement.join('\n') + (place.closed && replacement.length > 0 ? '\n' : '') }
      const flat = plain(text)
      const only = old !== '' && flat.indexOf(old) === flat.lastIndexOf(old) && flat.includes(old)
      const edited = applyEdits(text, [edit])
      if (!only || old === edit.new) return
      expect(edited.ok).toBe(true)
      if (!edited.ok) return
      made++
      expect(plain(edited.text)).toBe(flat.replace(old, () => edit.new))
      // No kind of line ending that was not there.
      const kinds = new Set(splitLines(text).map(({ ending }) => ending).filter((each) => each !== ''))
      if (kinds.size > 0) for (const { ending } of splitLines(edited.text, kinds.has('\r'))) if (ending !== '') expect(kinds).toContain(ending)
    }),
    { numRuns: 4_000 },
  )
  expect(made).toBeGreaterThan(800)
})

test('a line that was found loosely and changes is what was wanted, but for what a loose look overlooks', () => {
  const plainly = (text: string): string => fold(text, 'unicode', { cr: false }).text
  const loose = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '"', "'", '\u201c', '\u2019', '\u2014', '-', '\u00a0', '\u2026', '...', 'e\u0301', '\u00e9', '\u200b'), maxLength: 20 })
  let kept = 0
  fc.assert(
    fc.property(loose, loose, fc.nat(20), fc.nat(20), (there, other, from, to) => {
      const old = plainly(there)
      const wanted = old.slice(0, from) + other + old.slice(from + to)
      const made = retain(there, old, wanted)
      if (made !== wanted) kept++
      expect(plainly(made).trimEnd()).toBe(plainly(wanted).trimEnd())
    }),
    { numRuns: 5_000 },
  )
  expect(kept).toBeGreaterThan(500)
})

test('several edits do what each of them does at its own place', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(99), { minLength: 1, maxLength: 10 }), ending, fc.string({ unit: fc.constantFrom('$', '&', '1', 'x', '\\'), maxLength: 5 }), (numbers, eol, replacement) => {
      const lines = Array.from({ length: 100 }, (_, index) => `line ${index};`)
      const chosen = [...new Set(numbers)]
      const edits: Edit[] = chosen.map((number) => ({ old: `line ${number};`, new: `${replacement}\n!` }))
      const edited = applyEdits(lines.map((each) => each + eol).join(''), edits)
      expect(edited).toMatchObject({ ok: true, text: lines.map((each, index) => (chosen.includes(index) ? `${replacement}${eol}!` : each) + eol).join('') })
    }),
    { numRuns: 500 },
  )
})

describe('time', () => {
  test.each([
    ['a long run of blanks', `${' '.repeat(300_000)}x\n`, 'nothing like it  \nat all'],
    ['a long run of blanks that is sought', 'a\n'.repeat(1_000), `${' '.repeat(300_000)}x`],
    ['very many empty lines that are sought', 'a\n'.repeat(1_000), `x${'\n'.repeat(200_000)}y`],
    ['very many short lines', 'a\n'.repeat(300_000), 'b\nc'],
    ['many places that overlap', 'ab'.repeat(100_000), 'ababab'],
    ['a single line of a megabyte', '{"a":1},'.repeat(130_000), '{"b":2},\n{"c":3}'],
    ['many lines that are alike', '  const value = compute(index)\n'.repeat(40_000), '  const value = computed(indices)'],
  ])('does not run away: %s', (_, text, old) => {
    const begun = performance.now()
    expect(applyEdits(text, [{ old, new: 'x' }]).ok).toBe(false)
    expect(performance.now() - begun).toBeLessThan(10_000)
  })
})
