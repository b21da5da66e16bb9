import { byteLength, MAX_BYTES, MAX_LINES } from '../core/cap.ts'
import { visible } from '../core/visible.ts'

/** Room for the remarks below a page. */
const PAGE_BYTES = MAX_BYTES - 2_048
export const PAGE_LINES = MAX_LINES - 10
/** A longer line is cut, unless the page begins with it on purpose, or all of the file is short. */
export const LONGEST_LINE = 5_000
const SHORT_BYTES = 20 * 1024

export interface PageOptions {
  /** From 1. */
  offset: number
  /** From 1: the character of the first line to begin with. */
  column: number
  limit: number
  numbers: boolean
  /** The last line may go on after what is given of it. */
  open?: boolean
  /** Of the whole file. */
  bytes?: number
}

export interface Page {
  text: string
  /** The first and the last line of which something is shown. */
  from: number
  to: number
  /** Up to here, counted from `from`, every line is shown to its end. */
  wholeTo: number
  /** Where to read on; null: that was the end of the lines given. */
  next: { offset: number; column: number } | null
}

/** As many lines as fit, beginning with `lines[0]`, which is line `offset`. Always gets on: by a line, or by a part of one. */
export function pageOf(lines: readonly string[], { offset, column, limit, numbers, open = false, bytes = Infinity }: PageOptions): Page {
  const short = bytes <= SHORT_BYTES
  const shown: string[] = []
  let left = PAGE_BYTES
  let wholeTo = offset - 1
  const most = Math.max(1, Math.min(limit, PAGE_LINES))
  for (const [index, line] of lines.slice(0, most).entries()) {
    const number = offset + index
    const from = index === 0 ? column - 1 : 0
    const prefix = numbers ? `${number}\t` : ''
    const room = index === 0 && from > 0 ? left - 200 : short ? left : LONGEST_LINE
    const part = cutAt(line, from, room)
    const end = from + part.length
    const text = `${prefix}${from > 0 ? '…' : ''}${visible(part)}${end < line.length ? `…[line ${number} is cut here: it has ${open && index === lines.length - 1 ? 'at least ' : ''}${line.length} characters; to go on in it: offset ${number}, column ${end + 1}]` : ''}`
    const size = byteLength(text) + 1
    if (size > left && index > 0) return { text: shown.join('\n'), from: offset, to: number - 1, wholeTo, next: { offset: number, column: 1 } }
    shown.push(text)
    left -= size
    if (end < line.length && index === 0 && from > 0) return { text, from: number, to: number, wholeTo, next: { offset: number, column: end + 1 } }
    if (from === 0 && end === line.length && wholeTo === number - 1) wholeTo = number
  }
  const to = offset + shown.length - 1
  return { text: shown.join('\n'), from: offset, to, wholeTo, next: shown.length < lines.length ? { offset: to + 1, column: 1 } : null }
}

/** From a character on, as many as take that many bytes when they are shown; never half of one. */
function cutAt(line: string, from: number, bytes: number): string {
  let part = line.slice(from, from + bytes)
  while (part !== '' && byteLength(visible(part)) > bytes) part = part.slice(0, Math.floor((part.length * bytes) / byteLength(visible(part))))
  const last = part.charCodeAt(part.length - 1)
  return last >= 0xd800 && last <= 0xdbff && from + part.length < line.length && part.length > 1 ? part.slice(0, -1) : part
}
