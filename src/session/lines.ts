import { readSync } from 'node:fs'

/** One line of a file, split on LF only: CR, U+2028 and their like are content. */
export interface RawLine {
  offset: number
  /** Without its LF, and valid until the next line is asked for. Of a line longer than MAX_LINE, the first bytes only. */
  bytes: Buffer
  /** An LF follows. Only the last line of a file may have none. */
  ended: boolean
  tooLong: boolean
}

/** No record is as long as this; what is, is damage, and must not fill the memory. */
export const MAX_LINE = 64 * 1024 * 1024
const CHUNK = 1024 * 1024
const LF = 10

/** The lines from byte `from` (a line's beginning) to byte `to`, in bounded memory. */
export function* linesFrom(fd: number, from = 0, to = Infinity, most = MAX_LINE): Generator<RawLine> {
  let buffer = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(HEAD, to - from + 1)))
  let offset = from
  let filled = 0
  for (;;) {
    if (filled === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
    const read = readSync(fd, buffer, filled, Math.min(buffer.length - filled, to - offset - filled), offset + filled)
    const searched = filled
    filled += read
    let begin = 0
    let end = buffer.subarray(0, filled).indexOf(LF, searched)
    while (end >= 0) {
      yield { offset: offset + begin, bytes: buffer.subarray(begin, end), ended: true, tooLong: false }
      begin = end + 1
      end = buffer.subarray(0, filled).indexOf(LF, begin)
    }
    if (read === 0) {
      if (filled > begin) yield { offset: offset + begin, bytes: buffer.subarray(begin, filled), ended: false, tooLong: false }
      return
    }
    buffer.copyWithin(0, begin, filled)
    offset += begin
    filled -= begin
    if (filled < most) continue
    const next = afterLine(fd, offset + filled, to)
    yield { offset, bytes: buffer.subarray(0, HEAD), ended: next.ended, tooLong: true }
    offset = next.offset
    filled = 0
    buffer = Buffer.allocUnsafe(CHUNK)
  }
}

const HEAD = 4096

/** Where the line after the one at `offset` begins. */
function afterLine(fd: number, offset: number, to: number): { offset: number; ended: boolean } {
  const buffer = Buffer.allocUnsafe(CHUNK)
  for (let at = offset; ; ) {
    const read = readSync(fd, buffer, 0, Math.min(CHUNK, to - at), at)
    const found = buffer.subarray(0, read).indexOf(LF)
    if (found >= 0) return { offset: at + found + 1, ended: true }
    if (read === 0) return { offset: at, ended: false }
    at += read
  }
}

/** The lines before byte `end`, last one first. What is read grows with the length of a line, so each byte is copied a few times at most. */
export function* linesBack(fd: number, end: number, most = MAX_LINE): Generator<RawLine> {
  let start = end
  let buffer: Buffer = Buffer.alloc(0)
  let lineEnd = 0
  let ended = false
  let chunk = 64 * 1024
  for (;;) {
    const found = lineEnd === 0 ? -1 : buffer.lastIndexOf(LF, lineEnd - 1)
    if (found >= 0) {
      if (ended || found + 1 < lineEnd) yield lineOf(buffer.subarray(found + 1, lineEnd), start + found + 1, ended, most)
      lineEnd = found
      ended = true
      continue
    }
    if (start === 0) {
      if (ended || lineEnd > 0) yield lineOf(buffer.subarray(0, lineEnd), 0, ended, most)
      return
    }
    if (lineEnd >= most) {
      const offset = lineBefore(fd, start)
      const head = Buffer.alloc(HEAD)
      readSync(fd, head, 0, HEAD, offset)
      yield { offset, bytes: head, ended, tooLong: true }
      if (offset === 0) return
      start = offset - 1
      buffer = Buffer.alloc(0)
      lineEnd = 0
      ended = true
      continue
    }
    const size = Math.min(start, Math.max(chunk, lineEnd))
    const more = Buffer.allocUnsafe(size + lineEnd)
    buffer.copy(more, size, 0, lineEnd)
    readWhole(fd, more.subarray(0, size), start - size)
    buffer = more
    start -= size
    lineEnd += size
    chunk = Math.min(CHUNK, chunk * 2)
  }
}

function lineOf(bytes: Buffer, offset: number, ended: boolean, most: number): RawLine {
  const tooLong = bytes.length >= most
  return { offset, bytes: tooLong ? bytes.subarray(0, HEAD) : bytes, ended, tooLong }
}

/** Where the line begins that goes on at `offset`. */
function lineBefore(fd: number, offset: number): number {
  const buffer = Buffer.allocUnsafe(CHUNK)
  for (let at = offset; at > 0; ) {
    const size = Math.min(CHUNK, at)
    readWhole(fd, buffer.subarray(0, size), at - size)
    const found = buffer.subarray(0, size).lastIndexOf(LF)
    if (found >= 0) return at - size + found + 1
    at -= size
  }
  return 0
}

/** Fills the buffer; the file can only end sooner where somebody cut it meanwhile, and what is missing is then NULs. */
export function readWhole(fd: number, buffer: Buffer, offset: number): void {
  for (let done = 0; done < buffer.length; ) {
    const read = readSync(fd, buffer, done, buffer.length - done, offset + done)
    if (read === 0) {
      buffer.fill(0, done)
      return
    }
    done += read
  }
}
