/** How a file's bytes are text. `windows-1252` gives each of the 256 bytes a character of its own, so that any bytes survive an edit elsewhere. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

export interface Decoded {
  encoding: Encoding
  bom: boolean
  /** Without the BOM; line endings as they are. `encode` makes the same bytes of it again. */
  text: string
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
  if (bom || looksBinary(body)) return null
  return { encoding: 'windows-1252', bom: false, text: fromWindows1252(body) }
}

/** The characters that this encoding cannot hold, instead of the bytes, where there are any. */
export function encode(text: string, { encoding, bom }: Pick<Decoded, 'encoding' | 'bom'>): { bytes: Buffer } | { cannot: string[] } {
  switch (encoding) {
    case 'utf-8':
      return text.isWellFormed() ? { bytes: Buffer.concat([bom ? UTF8 : EMPTY, Buffer.from(text, 'utf8')]) } : { cannot: ['half of a surrogate pair'] }
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
