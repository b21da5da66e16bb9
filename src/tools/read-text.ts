import type { Output } from '../core/ports.ts'
import { endsInCr, splitLines, type Line } from '../core/lines.ts'
import { decode, type Decoded } from '../os/encoding.ts'
import type { Window } from '../os/file-window.ts'
import { failed, plural, withNotes } from './answer.ts'
import { PAGE_LINES, pageOf, type Page, type PageOptions } from './read-page.ts'

export interface TextFile {
  path: string
  shown: string
  bytes: Uint8Array
  sha256: string
}

/** A page of a text file, with what the model has now seen of it; null: it is not text. */
export function readText({ path, shown, bytes, sha256 }: TextFile, asked: Partial<PageOptions>): Output | null {
  const decoded = decode(bytes)
  if (!decoded) return null
  const lines = splitLines(decoded.text)
  const { offset, column, ...options } = where(asked, lines.length)
  if (lines.length === 0) return { status: 'ok', text: '[The file is empty.]', seen: [{ path, sha256, whole: true }] }
  if (offset > lines.length) return failed(`${shown} has ${plural(lines.length, 'line')}, so there is no line ${offset}. Read it with a smaller offset.`)
  const first = lines[offset - 1]?.text.length ?? 0
  if (column > 1 && column > first) return failed(`Line ${offset} of ${shown} has ${plural(first, 'character')}, so there is nothing at column ${column}. ${offset < lines.length ? `Go on with offset ${offset + 1}` : 'That is the end of the file'}.`)
  const page = pageOf(lines.slice(offset - 1, offset + PAGE_LINES).map(({ text }) => text), { offset, column, ...options, bytes: bytes.length })
  const whole = page.from === 1 && page.wholeTo === lines.length
  return {
    status: 'ok',
    text: withNotes(page.text, [goOn(page, lines.length), ...remarks(decoded, lines, page)]),
    seen: [{ path, sha256, whole, lines: { from: page.from, to: page.wholeTo, of: lines.length } }],
  }
}

/** A page of a file that is too large to be taken into memory: its lines are not counted and it cannot be edited. */
export function readWindow({ lines, more, reached }: Window, shown: string, megabytes: number, asked: Partial<PageOptions>): Output {
  const { offset, ...options } = where(asked, null)
  if (lines.length === 0) return failed(`${shown} has ${plural(reached, 'line')}, so there is no line ${offset}. Read it with a smaller offset.`)
  const page = pageOf(lines, { offset, ...options, open: more })
  const next = page.next ?? (more ? { offset: page.to + 1, column: 1 } : null)
  return {
    status: 'ok',
    text: withNotes(page.text, [
      `Lines ${page.from}-${page.to} of a file of ${megabytes} MB${next ? `; go on with offset ${next.offset}${next.column > 1 ? `, column ${next.column}` : ''}` : ', to its end'}. It is too large for \`edit\` and \`write\`; to find a place in it use \`grep\``,
    ]),
  }
}

/** A negative offset counts from the end. */
function where({ offset = 1, column = 1, limit = Infinity, numbers = false }: Partial<PageOptions>, lines: number | null): PageOptions {
  const first = offset < 0 && lines !== null ? Math.max(1, lines + Math.trunc(offset) + 1) : Math.max(1, Math.trunc(offset))
  return { offset: first, column: Math.max(1, Math.trunc(column)), limit: Math.max(1, Math.trunc(limit)), numbers }
}

function goOn({ from, to, next }: Page, of: number): string | null {
  if (next) return `Lines ${from}-${to} of ${of}. Go on with offset ${next.offset}${next.column > 1 ? `, column ${next.column}` : ''}`
  return from > 1 ? `Lines ${from}-${to} of ${of}, to the end` : null
}

/** What the text alone does not show and an edit will keep. */
function remarks(decoded: Decoded, lines: readonly Line[], { to }: Page): (string | null | false)[] {
  const { text, stray } = decoded
  const crlf = lines.filter(({ ending }) => ending === '\r\n').length
  const endings = endsInCr(text) ? 'Lines end in CR alone' : crlf === 0 ? null : crlf >= lines.length - 1 && lines.every(({ ending }) => ending !== '\n') ? 'Lines end in CRLF' : 'Some lines end in CRLF, some in LF'
  return [
    encodingOf(decoded),
    stray !== undefined && `${plural(stray, 'byte')} that ${stray === 1 ? 'is' : 'are'} not UTF-8, shown as \\xNN; \`edit\` keeps what you do not touch`,
    endings && `${endings}; \`edit\` keeps that, send plain line breaks`,
    to === lines.length && lines.at(-1)?.ending === '' ? 'No line break at the end' : null,
  ]
}

function encodingOf({ encoding, bom, unsure }: Decoded): string | null {
  if (unsure) return 'Not UTF-8 but an older encoding that is not known (GBK, Shift_JIS, CP1251, ...): shown as Windows-1252; what is not ASCII is kept, and cannot be added'
  if (encoding === 'windows-1252') return 'Not UTF-8: shown as Windows-1252, and written back so'
  if (encoding !== 'utf-8') return `${encoding.toUpperCase()} with a byte order mark`
  return bom ? 'UTF-8 with a byte order mark' : null
}
