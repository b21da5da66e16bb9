import { isUtf8 } from 'node:buffer'
import type { SessionRecord, UnknownRecord } from '../core/record.ts'
import { parse } from '../core/record.ts'
import type { RawLine } from './lines.ts'

/** What a line says of itself at its beginning, read without parsing it: that is enough to walk through a log of any size. */
export interface Head {
  seq: number
  at: number
  type: string
  offset: number
}

const BEGINNING = /^\s*\{\s*"seq"\s*:\s*(\d{1,15})\s*,\s*"at"\s*:\s*(-?\d+(?:\.\d+)?)\s*,\s*"type"\s*:\s*"([\w.-]{1,64})"/

/** Null: this is no record, or one only if `parseLine` says so. A line whose beginning is whole may still be broken further on. */
export function headOf(line: RawLine): Head | null {
  const match = line.tooLong ? null : BEGINNING.exec(line.bytes.toString('latin1', 0, 200))
  if (match?.[1] && match[2] && match[3]) return { seq: Number(match[1]), at: Number(match[2]), type: match[3], offset: line.offset }
  const read = parseLine(line)
  return read.record ? { seq: read.record.seq, at: read.record.at, type: read.record.type, offset: line.offset } : null
}

export interface ReadLine {
  record: SessionRecord | UnknownRecord | null
  /** What is wrong with the line, where something is. A line may be damaged and still hold a record. */
  why: string | null
}

/** One line as a record, or what is left of one. An empty line is neither a record nor damage. */
export function parseLine(line: RawLine): ReadLine {
  if (line.tooLong) return { record: null, why: 'a line that is too long for a record' }
  const plain = line.bytes.toString('utf8')
  const parsed = parse(plain)
  if (parsed.ok) return { record: parsed.record, why: plain.includes('\uFFFD') && !isUtf8(line.bytes) ? 'bytes that are not UTF-8' : null }
  const text = plain.replace(/^\uFEFF/, '')
  if (text.trim() === '') return { record: null, why: null }
  return rescue(text) ?? { record: null, why: whatIsWrong(text, parsed.why, line.ended) }
}

/** A whole record that stands behind NULs or behind half of another one: the newline between them was lost. */
function rescue(text: string): ReadLine | null {
  let at = text.lastIndexOf('{"seq":')
  for (let tries = 0; at >= 0 && tries < 8; tries++) {
    const parsed = parse(text.slice(at))
    if (parsed.ok) return { record: parsed.record, why: at === 0 ? null : `${whatIsWrong(text.slice(0, at), 'half a record', true)}, with a whole record behind it` }
    at = at === 0 ? -1 : text.lastIndexOf('{"seq":', at - 1)
  }
  const parsed = text.startsWith('{') ? parse(text) : null
  return parsed?.ok ? { record: parsed.record, why: null } : null
}

function whatIsWrong(text: string, why: string, ended: boolean): string {
  if (/^\0+$/.test(text.trim())) return `${text.length} NUL bytes`
  if (!ended) return 'the last write was cut off'
  if (/^[^{]*[\0-\x08]/.test(text)) return 'bytes that are no text'
  if (!text.trimStart().startsWith('{')) return 'not a record'
  return why.startsWith('Unterminated') || why.includes('end of JSON') ? 'half a record' : why
}
