import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode, describeBinary, encode } from '../../src/os/encoding.ts'

const bytesOf = (decoded: NonNullable<ReturnType<typeof decode>>): Buffer => {
  const encoded = encode(decoded.text, decoded)
  if ('cannot' in encoded) throw new Error(encoded.cannot.join())
  return encoded.bytes
}

test('whatever is taken for text is the same bytes again', () => {
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ min: 9, maxLength: 200 }), fc.uint8Array({ maxLength: 99 }).map((bytes) => Uint8Array.from([0xff, 0xfe, ...bytes])), fc.uint8Array({ maxLength: 99 }).map((bytes) => Uint8Array.from([0xfe, 0xff, ...bytes])), fc.string({ unit: 'binary' }).map((text) => Buffer.from(`\ufeff${text}`)), fc.array(fc.oneof(fc.constantFrom('a', 'é', '€', '😀', '\u{10080}').map((text) => Buffer.from(text)), fc.uint8Array({ min: 0x80, maxLength: 2 })), { maxLength: 60 }).map((parts) => Buffer.concat(parts))), (bytes) => {
      const decoded = decode(bytes)
      if (decoded) expect(bytesOf(decoded)).toEqual(Buffer.from(bytes))
    }),
    { numRuns: 3_000 },
  )
})

test.each([
  ['plain', Buffer.from('a\nb\n'), 'utf-8', false, 'a\nb\n'],
  ['a mark', Buffer.from('\ufeffé'), 'utf-8', true, 'é'],
  ['two marks, of which the second is text', Buffer.from('\ufeff\ufeffé'), 'utf-8', true, '\ufeffé'],
  ['UTF-16 little', Buffer.from('\ufeffé😀', 'utf16le'), 'utf-16le', true, 'é😀'],
  ['UTF-16 big', Buffer.from('\ufeffé😀', 'utf16le').swap16(), 'utf-16be', true, 'é😀'],
  ['half a pair in UTF-16', Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x61, 0x00]), 'utf-16le', true, '\ud800a'],
  ['Latin-1', Buffer.from('caf\xe9', 'latin1'), 'windows-1252', false, 'café'],
  ['CP1252 quotes and the euro', Buffer.from([0x93, 0x61, 0x94, 0x80]), 'windows-1252', false, '“a”€'],
  ['bytes that CP1252 does not define', Buffer.from([0x81, 0x8d, 0x61, 0xff]), 'windows-1252', false, '\x81\x8daÿ'],
  ['one byte of another encoding in a UTF-8 text', Buffer.from([0xc3, 0xa9, 0xff, 0x61]), 'utf-8', false, 'é\udcffa', 1],
  ['a character that was cut off', Buffer.from([0xc3, 0xa9, 0x0a, 0xe2, 0x82, 0xc3, 0xa9]), 'utf-8', false, 'é\n\udce2\udc82é', 2],
  ['a broken UTF-8 file with a mark', Buffer.from([0xef, 0xbb, 0xbf, 0xff]), 'utf-8', true, '\udcff', 1],
  ['Chinese of an older encoding', Buffer.from([0xd6, 0xd0, 0xce, 0xc4, 0x0a]), 'windows-1252', false, 'ÖÐÎÄ\n', -1],
  ['ESC and form feed', Buffer.from('\x1b[1m\f'), 'utf-8', false, '\x1b[1m\f'],
] as [string, Buffer, string, boolean, string, number?][])('%s is decoded', (_, bytes, encoding, bom, text, stray) => {
  expect(decode(bytes)).toEqual({ encoding, bom, text, ...(stray === undefined ? {} : stray < 0 ? { unsure: true } : { stray }) })
})

describe('not text', () => {
  test.each([
    ['a NUL', Buffer.from('a\0b'), 'binary data'],
    ['UTF-16 of odd length', Buffer.from([0xff, 0xfe, 0x61]), 'binary data'],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), 'text in UTF-32'],
    ['UTF-16 without its mark', Buffer.from('hello', 'utf16le'), 'data that looks like UTF-16 without a byte order mark'],
    ['control characters', Buffer.from([0xff, 1, 2, 3, 4]), 'binary data'],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0]), 'a gzip archive'],
  ])('%s', (_, bytes, name) => {
    expect(decode(bytes)).toBeNull()
    expect(describeBinary(bytes)).toBe(name)
  })
})

test('what an encoding cannot hold is named', () => {
  expect(encode('a日😀é€', { encoding: 'windows-1252', bom: false })).toEqual({ cannot: ['日', '😀'] })
  expect(encode('\ud800', { encoding: 'utf-8', bom: false })).toHaveProperty('cannot')
  expect(encode('\ud800', { encoding: 'utf-8', bom: false, stray: 1 })).toHaveProperty('cannot')
  for (const encoding of ['utf-8', 'utf-16le', 'windows-1252'] as const) expect(encode('a\0', { encoding, bom: true })).toEqual({ cannot: ['a NUL character'] })
})
