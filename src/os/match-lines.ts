import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { decode, type Decoded } from './encoding.ts'

export interface MatchOptions {
  source: string
  flags: string
  /** Lines before and after each match. */
  context: number
  /** Matching lines at most, over all files. */
  limit: number
}

export interface Row {
  number: number
  text: string
  match: boolean
}

export interface FileRows {
  path: string
  rows: Row[]
}

export interface Matched {
  /** There is at least one more matching line. */
  more: boolean
  binary: number
  unreadable: number
}

/** A file is looked at in pieces of this size, cut at line ends. A longer line is in two pieces. */
const PIECE = 4 * 1024 * 1024
const LONGEST = 400
const BEFORE = 100

/** The matching lines of the files, in their order, until there are enough. Synchronous: for a worker. `step` is told before each piece is tried. */
export function matchLines(paths: readonly string[], { source, flags, context, limit }: MatchOptions, found: (rows: FileRows) => void, step: (file: number) => void): Matched {
  const regex = new RegExp(source, flags)
  const matched: Matched = { more: false, binary: 0, unreadable: 0 }
  let left = limit
  for (const [index, path] of paths.entries()) {
    const rows: Row[] = []
    let lines = 0
    const end = eachPiece(path, (text) => {
      step(index)
      const seen = tryLines(text, regex, lines, context, left, rows)
      lines += seen.lines
      left -= seen.matches
      matched.more ||= seen.more
      return !matched.more
    })
    if (end !== 'read') matched[end]++
    if (rows.length > 0) found({ path, rows })
    if (matched.more) break
  }
  return matched
}

function tryLines(text: string, regex: RegExp, before: number, context: number, left: number, rows: Row[]): { lines: number; matches: number; more: boolean } {
  let [lines, matches, until, shown] = [0, 0, -1, -1]
  const recent: string[] = []
  for (let from = 0; from < text.length; ) {
    const at = text.indexOf('\n', from)
    const end = at === -1 ? text.length : at
    const line = text.slice(from, text[end - 1] === '\r' && end > from ? end - 1 : end)
    from = end + 1
    const match = regex.exec(line)
    if (match && matches === left) return { lines, matches, more: true }
    if (match) {
      matches++
      for (const [index, earlier] of recent.entries()) if (lines - recent.length + index > shown) rows.push({ number: before + lines - recent.length + index + 1, text: shorten(earlier, 0), match: false })
      until = lines + context
    }
    if (match || lines <= until) {
      rows.push({ number: before + lines + 1, text: shorten(line, match?.index ?? 0), match: match !== null })
      shown = lines
    }
    if (context > 0) recent.push(line)
    if (recent.length > context) recent.shift()
    // A line that goes on in the next piece is counted there.
    if (at !== -1) lines++
  }
  return { lines, matches, more: false }
}

/** Of a long line the part around the match. */
function shorten(line: string, at: number): string {
  if (line.length <= LONGEST) return line
  const from = Math.min(Math.max(0, at - BEFORE), line.length - LONGEST)
  return `${from > 0 ? '…' : ''}${line.slice(from, from + LONGEST)}${from + LONGEST < line.length ? '…' : ''}`
}

/** Calls back with the decoded text, piece by piece, until told to stop. Never follows a link and never waits for a pipe. */
function eachPiece(path: string, take: (text: string) => boolean): 'read' | 'binary' | 'unreadable' {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return 'unreadable'
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) return 'unreadable'
    return readPieces(file, stat.size, take)
  } catch {
    return 'unreadable'
  } finally {
    closeSync(file)
  }
}

function readPieces(file: number, size: number, take: (text: string) => boolean): 'read' | 'binary' {
  let rest = Buffer.alloc(0)
  let first: Decoded | null = null
  for (let at = 0; ; ) {
    const chunk = Buffer.allocUnsafe(Math.min(PIECE, Math.max(size - at, 0) + 4096))
    const read = readSync(file, chunk, 0, chunk.length, null)
    at += read
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk.subarray(0, read)]) : chunk.subarray(0, read)
    const end = read === 0 ? bytes.length : lastBreak(bytes, first?.encoding ?? encodingOf(bytes), bytes.length < PIECE)
    rest = bytes.subarray(end)
    if (end > 0) {
      const decoded = decode(withMark(bytes.subarray(0, end), first))
      // A NUL in a later piece ends the search of this file; what was found before stands.
      if (!decoded) return first ? 'read' : 'binary'
      first ??= decoded
      if (!take(decoded.text)) return 'read'
    }
    if (read === 0) return 'read'
  }
}

const encodingOf = (bytes: Buffer): Decoded['encoding'] => (bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8')

/** After the last line break; 0 to read on; in a line longer than a piece after its last whole character. */
function lastBreak(bytes: Buffer, encoding: Decoded['encoding'], mayGrow: boolean): number {
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const even = bytes.length - (bytes.length % 2)
    for (let at = even - 2; at >= 0; at -= 2) if (bytes[encoding === 'utf-16le' ? at : at + 1] === 0x0a && bytes[encoding === 'utf-16le' ? at + 1 : at] === 0) return at + 2
    return mayGrow ? 0 : even
  }
  const at = bytes.lastIndexOf(0x0a)
  if (at !== -1 || mayGrow) return at + 1
  let end = bytes.length
  while (end > bytes.length - 4 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end--
  return ((bytes[end - 1] ?? 0) & 0xc0) === 0xc0 ? end - 1 : bytes.length
}

/** Pieces after the first have no byte order mark of their own. */
function withMark(bytes: Buffer, first: Decoded | null): Buffer {
  if (first?.encoding === 'utf-16le') return Buffer.concat([Buffer.from([0xff, 0xfe]), bytes])
  return first?.encoding === 'utf-16be' ? Buffer.concat([Buffer.from([0xfe, 0xff]), bytes]) : bytes
}
