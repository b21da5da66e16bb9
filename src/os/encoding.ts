/** How a file's bytes are text. `windows-1252` gives each of the 256 bytes a character of its own, so that any bytes survive an edit elsewhere. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

export interface Decoded {
  encoding: Encoding
  bom: boolean
  /** Without the BOM; line endings as they are. `encode` makes the same bytes of it again. */
  text: string
  /** So many bytes of a UTF-8 text are none: each is half of a surrogate pair, U+DC00 and its value. */
  stray?: number
  /** Hardly what `encoding` says: characters that are not ASCII can be kept, but nobody knows the bytes of a new one. */
  unsure?: true
}

/** null: not text, and `describeBinary` says what it is. */
export function decode(bytes: Uint8Array): Decoded | null {
  const buffer = asBuffer(bytes)
  if (startsWith(buffer, UTF32LE) && buffer.length % 4 === 0) return null
  if (startsWith(buffer, UTF16LE) || startsWith(buffer, UTF16BE)) return decodeUtf16(buffer)
  const bom = startsWith(buffer, UTF8)
  const body = bom ? buffer.subarray(3) : buffer
  if (body.includes(0)) return null
  if (isUtf8(body)) return { encoding: 'utf-8', bom, text: body.toString('utf8') }
  if (looksBinary(body)) return null
  const { text, stray, whole } = fromBrokenUtf8(body)
  // One damaged character does not make an old encoding of a text that else is UTF-8.
  if (bom || stray <= whole) return { encoding: 'utf-8', bom, text, stray }
  return { encoding: 'windows-1252', bom: false, text: fromWindows1252(body), ...(standTogether(body) ? { unsure: true } : {}) }
}

/** The characters that this encoding cannot hold, instead of the bytes, where there are any. */
export function encode(text: string, { encoding, bom, stray }: Pick<Decoded, 'encoding' | 'bom' | 'stray'>): { bytes: Buffer } | { cannot: string[] } {
  // It would be no text from then on, which nobody could read or edit here.
  if (text.includes('\0')) return { cannot: ['a NUL character'] }
  switch (encoding) {
    case 'utf-8': {
      const bytes = stray ? toBrokenUtf8(text) : text.isWellFormed() ? Buffer.from(text, 'utf8') : null
      return bytes ? { bytes: Buffer.concat([bom ? UTF8 : EMPTY, bytes]) } : { cannot: ['half of a surrogate pair'] }
    }
    case 'utf-16le':
      return { bytes: Buffer.concat([bom ? UTF16LE : EMPTY, Buffer.from(text, 'utf16le')]) }
    case 'utf-16be':
      return { bytes: Buffer.concat([bom ? UTF16BE : EMPTY, Buffer.from(text, 'utf16le').swap16()]) }
    case 'windows-1252':
      return toWindows1252(text)
  }
}

const EMPTY = Buffer.alloc(0)
const UTF8 = Buffer.from([0xef, 0xbb, 0xbf])
const UTF16LE = Buffer.from([0xff, 0xfe])
const UTF16BE = Buffer.from([0xfe, 0xff])
const UTF32LE = Buffer.from([0xff, 0xfe, 0, 0])

export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const startsWith = (buffer: Buffer, start: Buffer): boolean => buffer.subarray(0, start.length).equals(start)

/** Half a unit at the end, or NUL characters, and it is no text that could be kept. Lone surrogates are kept. */
function decodeUtf16(buffer: Buffer): Decoded | null {
  if (buffer.length % 2 !== 0) return null
  const big = buffer[0] === 0xfe
  const text = (big ? Buffer.from(buffer).swap16() : buffer).toString('utf16le', 2)
  return text.includes('\0') ? null : { encoding: big ? 'utf-16be' : 'utf-16le', bom: true, text }
}

function isUtf8(buffer: Buffer): boolean {
  try {
    strict.decode(buffer)
    return true
  } catch {
    return false
  }
}
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Bytes that are not ASCII mostly stand beside each other: GBK, Shift_JIS, CP1251 and the like. In western languages they stand alone. */
function standTogether(buffer: Buffer): boolean {
  let [high, together] = [0, 0]
  for (let at = 0; at < buffer.length; at++) {
    if ((buffer[at] ?? 0) < 0x80) continue
    high++
    if ((buffer[at - 1] ?? 0) >= 0x80 || (buffer[at + 1] ?? 0) >= 0x80) together++
  }
  return high > 3 && together * 2 > high
}

/** What of a text for an `unsure` file is neither ASCII nor a word that it has: its bytes there are not known. */
export function unknownIn(text: string, { text: before, unsure }: Pick<Decoded, 'text' | 'unsure'>): string[] {
  if (!unsure) return []
  const known = new Set(before.match(BEYOND_ASCII))
  return (text.match(BEYOND_ASCII) ?? []).filter((word) => !known.has(word))
}
const BEYOND_ASCII = /[^\x00-\x7f]+/g

const STRAY = /[\udc80-\udcff]/gu

/** `whole`: characters of more than one byte that are as they should be. */
function fromBrokenUtf8(buffer: Buffer): { text: string; stray: number; whole: number } {
  const parts: string[] = []
  let [from, stray, whole] = [0, 0, 0]
  for (let at = 0; at < buffer.length; ) {
    const length = characterLength(buffer, at)
    if (length > 1) whole++
    if (length > 0) {
      at += length
      continue
    }
    parts.push(buffer.toString('utf8', from, at), String.fromCharCode(0xdc00 + (buffer[at] ?? 0)))
    stray++
    from = ++at
  }
  return { text: parts.join('') + buffer.toString('utf8', from), stray, whole }
}

/** null: it holds other halves of pairs. */
function toBrokenUtf8(text: string): Buffer | null {
  const parts: Buffer[] = []
  let from = 0
  for (const { index, 0: half } of text.matchAll(STRAY)) {
    parts.push(Buffer.from(text.slice(from, index), 'utf8'), Buffer.from([half.charCodeAt(0) - 0xdc00]))
    from = index + 1
  }
  return text.replace(STRAY, '').isWellFormed() ? Buffer.concat([...parts, Buffer.from(text.slice(from), 'utf8')]) : null
}

/** How many bytes the character of UTF-8 that begins here has; 0: it is none. */
export function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  if (first < 0x80) return 1
  const length = lengthAfter(first)
  if (length === 0 || at + length > bytes.length) return 0
  for (let next = 1; next < length; next++) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0
  const second = bytes[at + 1] ?? 0
  // too long a form, a surrogate, or beyond the last code point
  if ((first === 0xe0 && second < 0xa0) || (first === 0xed && second > 0x9f) || (first === 0xf0 && second < 0x90) || (first === 0xf4 && second > 0x8f)) return 0
  return length
}

/** Of a character of more than one byte, by its first; 0: none begins so. */
export const lengthAfter = (first: number): number => (first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0)

/** Control characters that no text has, in more than one place of a thousand. */
function looksBinary(buffer: Buffer): boolean {
  const sample = buffer.subarray(0, 64 * 1024)
  let odd = 0
  for (const byte of sample) if (byte < 0x20 && (byte < 0x07 || byte > 0x0d) && byte !== 0x1b) odd++
  return odd * 1_000 > sample.length
}

/** What 0x80 to 0x9f are there; five of them are nothing, and stand for themselves. */
const HIGH = '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178'
const BYTE_OF = new Map(HIGH.split('').map((char, index) => [char, 0x80 + index]))

const fromWindows1252 = (buffer: Buffer): string => buffer.toString('latin1').replace(/[\x80-\x9f]/g, (char) => HIGH[char.charCodeAt(0) - 0x80] ?? char)

function toWindows1252(text: string): { bytes: Buffer } | { cannot: string[] } {
  const cannot = [...new Set(text.match(/[^\x00-\x7f\xa0-\xff]/gu) ?? [])].filter((char) => !BYTE_OF.has(char))
  if (cannot.length > 0) return { cannot }
  return { bytes: Buffer.from(text.replace(/[^\x00-\x7f\xa0-\xff]/g, (char) => String.fromCharCode(BYTE_OF.get(char) ?? 0)), 'latin1') }
}

const MAGIC: readonly (readonly [name: string, at: number, bytes: readonly number[]])[] = [
  ['a PNG image', 0, [0x89, 0x50, 0x4e, 0x47]],
  ['a JPEG image', 0, [0xff, 0xd8, 0xff]],
  ['a GIF image', 0, [0x47, 0x49, 0x46, 0x38]],
  ['a WebP image', 8, [0x57, 0x45, 0x42, 0x50]],
  ['a PDF document', 0, [0x25, 0x50, 0x44, 0x46]],
  ['a ZIP archive (also docx, xlsx, jar, whl)', 0, [0x50, 0x4b, 0x03, 0x04]],
  ['a gzip archive', 0, [0x1f, 0x8b]],
  ['a bzip2 archive', 0, [0x42, 0x5a, 0x68]],
  ['an xz archive', 0, [0xfd, 0x37, 0x7a, 0x58, 0x5a]],
  ['a zstd archive', 0, [0x28, 0xb5, 0x2f, 0xfd]],
  ['a tar archive', 257, [0x75, 0x73, 0x74, 0x61, 0x72]],
  ['an ELF program', 0, [0x7f, 0x45, 0x4c, 0x46]],
  ['a Mach-O program', 0, [0xcf, 0xfa, 0xed, 0xfe]],
  ['a Windows program', 0, [0x4d, 0x5a]],
  ['a WebAssembly module', 0, [0x00, 0x61, 0x73, 0x6d]],
  ['an SQLite database', 0, [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20]],
  ['a Java class', 0, [0xca, 0xfe, 0xba, 0xbe]],
  ['text in UTF-32', 0, [0xff, 0xfe, 0, 0]],
  ['text in UTF-32', 0, [0, 0, 0xfe, 0xff]],
]

/** `a PNG image`, `binary data`: by the first bytes of a file. */
export function describeBinary(head: Uint8Array): string {
  const known = MAGIC.find(([, at, bytes]) => bytes.every((byte, index) => head[at + index] === byte))
  if (known) return known[0]
  return likeUtf16(head) ? 'data that looks like UTF-16 without a byte order mark' : 'binary data'
}

/** Every second byte of the beginning is NUL, as in ASCII written in UTF-16. */
function likeUtf16(head: Uint8Array): boolean {
  const sample = head.subarray(0, 512)
  if (sample.length < 4) return false
  const nuls = [0, 1].map((odd) => sample.filter((byte, index) => index % 2 === odd && byte === 0).length) as [number, number]
  return Math.max(...nuls) > sample.length * 0.4 && Math.min(...nuls) < sample.length * 0.05
}
