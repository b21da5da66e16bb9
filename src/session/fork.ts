import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { live } from '../core/path.ts'
import type { Fact, FactOf, SessionRecord } from '../core/record.ts'
import { shareBlobs } from './blob.ts'
import { blobsOf } from './companion.ts'
import type { SessionFault } from './fault.ts'
import { errnoOf, faultOf, inWords } from './fault.ts'
import { FILE_MODE, makePrivateFolder, syncFolder } from './private.ts'
import type { AnyRecord } from './reading.ts'
import { recordsOf } from './reading.ts'

export interface ForkOptions {
  /** The copy ends with this record; else with the head of the live path. */
  upTo?: number
  now(): number
  /** The log comes from somebody else: what it allows, and its mode, are left behind. */
  imported?: boolean
}

/**
 * Makes the session file `to` as a copy of the live path of `from`: the records with new numbers and their own times, and after them the settings
 * that hold for the whole of `from`, so that leaving out an abandoned path never allows more. `session` is the new session's own. Nothing is
 * left of a copy that fails. Null: done.
 */
export function forkSession(from: string, to: string, session: FactOf<'session'>, options: ForkOptions): SessionFault | null {
  const temporary = `${to}.${randomBytes(4).toString('hex')}.tmp`
  try {
    const path = readPath(from, options.upTo)
    if ('kind' in path) return path
    makePrivateFolder(dirname(to))
    const hashes = new Set<string>()
    const fd = fs.openSync(temporary, 'wx', FILE_MODE)
    try {
      fs.fchmodSync(fd, FILE_MODE)
      copy(fd, from, path, { ...session, fork: { id: path.id, seq: path.head } }, options, hashes)
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
    shareBlobs(blobsOf(from), blobsOf(to), hashes)
    fs.linkSync(temporary, to)
    syncFolder(dirname(to))
    return null
  } catch (error) {
    return faultOf(errnoOf(error) === 'EEXIST' ? 'exists' : 'not-writable', `${from} cannot be copied to ${to}: ${inWords(error)}.`)
  } finally {
    fs.rmSync(temporary, { force: true })
  }
}

interface Path {
  id: string
  head: number
  /** The numbers of the live records but the `session`, in order. */
  seqs: number[]
  settings: FactOf<'set'>
}

function readPath(from: string, upTo: number | undefined): Path | SessionFault {
  // The path depends on rewinds only; any other record is a number in it.
  const heads: AnyRecord[] = []
  const sessions = new Set<number>()
  const settings: FactOf<'set'> = { type: 'set' }
  let id = ''
  let last = -1
  for (const record of readAll(from)) {
    last = record.seq
    if ('unknown' in record) heads.push({ seq: record.seq, at: 0, type: 'omit', record: -1 })
    else {
      if (record.type === 'session') {
        id ||= record.id
        sessions.add(record.seq)
      }
      if (record.type === 'set') Object.assign(settings, pickSettings(record))
      heads.push(record.type === 'rewind' ? record : { seq: record.seq, at: 0, type: 'omit', record: -1 })
    }
  }
  if (heads.length === 0) return faultOf('not-a-session', `${from} holds no record of a session.`)
  if (upTo !== undefined && !heads.some(({ seq }) => seq === upTo)) return faultOf('missing', `The session ${id} has no record ${upTo}; its records are 0 to ${last}.`)
  const path = live(upTo === undefined ? heads : heads.filter(({ seq }) => seq <= upTo))
  return { id, head: path.at(-1)?.seq ?? 0, seqs: path.filter(({ type, seq }) => type !== 'rewind' && !sessions.has(seq)).map(({ seq }) => seq), settings }
}

function* readAll(from: string): Generator<AnyRecord> {
  try {
    yield* recordsOf(from)
  } catch (error) {
    throw Object.assign(new Error(inWords(error)), { code: 'EREAD' })
  }
}

const pickSettings = ({ model, effort, mode, title }: FactOf<'set'>): Partial<FactOf<'set'>> => ({
  ...(model === undefined ? {} : { model }), ...(effort === undefined ? {} : { effort }), ...(mode === undefined ? {} : { mode }), ...(title === undefined ? {} : { title }),
})

function copy(fd: number, from: string, path: Path, session: FactOf<'session'>, options: ForkOptions, hashes: Set<string>): void {
  const numbers = new Map(path.seqs.map((seq, index) => [seq, index + 1]))
  let lines: string[] = []
  let bytes = 0
  const write = (line: string): void => {
    lines.push(line)
    bytes += line.length
    if (bytes > 4_000_000) flush()
  }
  const flush = (): void => {
    const data = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    for (let done = 0; done < data.length; ) done += fs.writeSync(fd, data, done)
    lines = []
    bytes = 0
  }
  write(lineOf(0, options.now(), session))
  for (const record of readAll(from)) {
    const seq = numbers.get(record.seq)
    if (seq === undefined) continue
    if ('unknown' in record) {
      write(JSON.stringify({ ...(JSON.parse(record.line) as object), seq }))
      continue
    }
    const line = lineOf(seq, record.at, renumber(options.imported ? withoutLeave(record) : record, numbers))
    for (const [, hash] of line.matchAll(/"sha256":"([0-9a-f]{64})"|"(?:before|after|intended)":"([0-9a-f]{64})"/g)) if (hash) hashes.add(hash)
    write(line)
  }
  const { mode, ...others } = path.settings
  const settings = options.imported || mode === undefined ? others : { ...others, mode }
  if (Object.keys(settings).length > 1) write(lineOf(numbers.size + 1, options.now(), settings))
  flush()
}

function lineOf(seq: number, at: number, fact: Fact | SessionRecord): string {
  const { type, ...rest } = fact
  return JSON.stringify(Object.assign({ seq, at, type }, rest, { seq, at }))
}

/** Records that name others name their copies. One that names what was not copied names the next one that was. */
function renumber(record: SessionRecord, numbers: ReadonlyMap<number, number>): SessionRecord {
  const next = (seq: number): number => numbers.get(seq) ?? [...numbers].find(([old]) => old >= seq)?.[1] ?? numbers.size + 1
  const previous = (seq: number): number => numbers.get(seq) ?? [...numbers].findLast(([old]) => old <= seq)?.[1] ?? 0
  switch (record.type) {
    case 'compact':
      return { ...record, keep: next(record.keep) }
    case 'checkpoint':
      return record.undo ? { ...record, undo: { ...record.undo, to: previous(record.undo.to) } } : record
    case 'omit':
      return { ...record, record: numbers.get(record.record) ?? -1 }
    case 'set':
      return record.label ? { ...record, label: { ...record.label, seq: numbers.get(record.label.seq) ?? -1 } } : record
    default:
      return record
  }
}

function withoutLeave(record: SessionRecord): SessionRecord {
  switch (record.type) {
    case 'answer': {
      const { grant: _, ...rest } = record
      return rest
    }
    case 'set': {
      const { mode: _, ...rest } = record
      return rest
    }
    case 'compact': {
      if (!record.carry) return record
      const { mode: _, ...carry } = record.carry
      return { ...record, carry: { ...carry, grants: [] } }
    }
    default:
      return record
  }
}
