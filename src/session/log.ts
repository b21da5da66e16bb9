import * as fs from 'node:fs'
import { dirname } from 'node:path'
import type { Log } from '../core/ports.ts'
import type { Fact, RecordOf, SessionRecord } from '../core/record.ts'
import { isSynced, parse } from '../core/record.ts'
import { lockOf } from './companion.ts'
import { errnoOf, inWords } from './fault.ts'
import { parseLine } from './head.ts'
import { MAX_LINE, linesFrom } from './lines.ts'
import type { Lock } from './lock.ts'
import { takeLock } from './lock.ts'
import { atOnce, inPieces } from './pieces.ts'
import { FILE_MODE, makePrivateFolder, syncFolder } from './private.ts'
import type { AnyRecord, Damage, Reading } from './reading.ts'
import { readNeeded, readRange } from './reading.ts'

/** The system calls that an append makes. Tests count them and let them fail. */
export type LogFiles = Pick<typeof fs, 'openSync' | 'writeSync' | 'fdatasyncSync' | 'fsyncSync' | 'ftruncateSync' | 'fstatSync'>

export interface LogOptions {
  now(): number
  files?: LogFiles
}

export interface SessionLog extends Log {
  readonly session: RecordOf<'session'> | null
  /** See `isForeign`: what such a session allows was perhaps not allowed by this person. */
  readonly foreign: boolean
  /** Why nothing can be appended, in a sentence; null: it can. */
  readonly readOnly: string | null
  /** Of the part that was read. */
  readonly damage: readonly Damage[]
  /** Only the end was read. Until `rest` has read all that is needed, nothing may be appended. */
  readonly partial: boolean
  /** In pieces, with pauses. Rejects as `openLog` would have failed, or when the log is closed meanwhile. */
  rest(): Promise<void>
  /** Why the log is closed for writing since an append failed. */
  readonly failed: LogError | null
  /** Records in the file by their numbers, the ends included; also those before `base`. */
  read(from: number, to: number): AnyRecord[]
  /** What somebody else has appended since; only where the log is read only. */
  refresh(): AnyRecord[]
  /** After a failed append: opens for writing again. Says how many facts of the failed append are in the file after all. Throws a LogError while it cannot. */
  reopen(): number
}

/** An append that did not happen as a whole. The caller keeps `facts`; they may be appended after `reopen`. */
export class LogError extends Error {
  readonly kind: 'io' | 'read-only' | 'closed' | 'other-writer'
  /** Of the system call that failed, else empty. */
  readonly code: string
  readonly facts: readonly Fact[]
  constructor(kind: LogError['kind'], message: string, facts: readonly Fact[], options: ErrorOptions & { code?: string } = {}) {
    super(message, options)
    this.name = 'LogError'
    this.kind = kind
    this.code = options.code ?? ''
    this.facts = facts
  }
}

/**
 * A session that is not there yet. Its file is made, with its folder and lock, by the first append that holds an `input`; what was
 * appended before waits in memory and is written with it. Its first fact is the `session`.
 */
export function createLog(file: string, options: LogOptions & { id: string }): SessionLog {
  const reading: Reading = { records: [], session: null, base: 0, from: 0, damage: [], next: 0, torn: false }
  return logOver({ file, id: options.id, options, reading, readOnly: null, foreign: false, open: null, unborn: [] })
}

/** How a log stands. Only the functions of this file change it. */
export interface State {
  file: string
  id: string
  options: LogOptions
  reading: Reading
  readOnly: string | null
  foreign: boolean
  /** The size is what this log knows to be in the file. */
  open: { fd: number; size: number; lock: Lock | null } | null
  /** Lines that wait for the first input. */
  unborn: string[] | null
  failed?: Failed | null
  closed?: boolean
  partial?: boolean
  /** Where older records were found, so that reading further back does not begin at `base` again. */
  marks?: { seq: number; offset: number }[]
  /** What was read last for a rewind. */
  wide?: { to: number; next: number; reading: Reading }
}

/** An append that failed, and whether the file ended in the middle of a line before it. */
interface Failed {
  error: LogError
  lines: readonly string[]
  torn: boolean
}

export function logOver(state: State): SessionLog {
  return {
    id: state.id,
    file: state.file,
    get records() { return state.reading.records },
    get base() { return state.reading.base },
    get session() { return state.reading.session },
    get damage() { return state.reading.damage },
    get readOnly() { return state.readOnly },
    foreign: state.foreign,
    get partial() { return state.partial === true },
    rest: () => readRest(state),
    get failed() { return state.failed?.error ?? null },
    append: (facts) => append(state, facts),
    read: (from, to) => read(state, from, to),
    reach: (to) => reach(state, to),
    refresh: () => refresh(state),
    reopen: () => reopen(state),
    close: () => { close(state) },
  }
}

function append(state: State, facts: readonly Fact[]): SessionRecord[] {
  refuse(state, facts)
  if (facts.length === 0) return []
  const at = state.options.now()
  const lines = facts.map(({ type, ...rest }, index) => JSON.stringify({ seq: state.reading.next + index, at, type, ...rest }))
  const records = lines.map(readBack)
  if (state.reading.next === 0 && facts[0]?.type !== 'session') throw new Error('the first fact of a session must be its `session`')
  const back = facts.findLast((fact) => fact.type === 'rewind')
  const wider = back ? wideFor(state, back.to) : null
  if (state.unborn) {
    if (facts.some((fact) => fact.type === 'input')) bear(state, state.unborn, lines, facts)
    else state.unborn.push(...lines)
  } else write(state, lines, facts)
  if (wider) state.reading = { ...wider, torn: false }
  if (back) delete state.wide
  return adopt(state, records)
}

/**
 * A rewind to before what is in memory, or to before the compaction that what is in memory begins with, needs what is live there. Null: that is there.
 * If it is too much for the memory, this throws, and nothing was written.
 */
function wideFor(state: State, to: number): Reading | null {
  const { reading, open, wide } = state
  if (!open || reading.base === 0) return null
  const needed = wide?.to === to && wide.next === reading.next ? wide.reading : atOnce(readNeeded(open.fd, open.size, to))
  state.wide = { to, next: reading.next, reading: needed }
  return needed.base < reading.base ? needed : null
}

function reach(state: State, to: number): Pick<Log, 'records' | 'base'> {
  const { records, base } = wideFor(state, to) ?? state.reading
  return { records, base }
}

function refuse(state: State, facts: readonly Fact[]): void {
  if (state.readOnly) throw new LogError('read-only', `${state.file} is open for reading only. ${state.readOnly}`, facts)
  if (state.failed) throw new LogError('closed', `Nothing more is saved in ${state.file} since this happened: ${state.failed.error.message}`, facts, { cause: state.failed.error })
  if (state.closed) throw new LogError('closed', `${state.file} was closed.`, facts)
  if (state.partial) throw new Error(`${state.file} is written to before it was read`)
}

/** As whoever opens the file later will read it. A fact that does not fit its own schema is a bug, and is found before it is on the disk. */
function readBack(line: string): SessionRecord {
  if (Buffer.byteLength(line) > MAX_LINE) throw new Error(`a fact of ${line.length} characters, more than any reader would accept: ${line.slice(0, 200)}`)
  const parsed = parse(line)
  if (!parsed.ok) throw new Error(`a fact that no reader would accept (${parsed.why}): ${line.slice(0, 200)}`)
  if ('unknown' in parsed.record) throw new Error(`a fact of an unknown type: ${line.slice(0, 200)}`)
  return parsed.record
}

function adopt(state: State, records: SessionRecord[]): SessionRecord[] {
  const { reading } = state
  for (const record of records) {
    reading.records.push(record)
    reading.next = record.seq + 1
    if (record.type === 'session') reading.session ??= record
  }
  return records
}

/** Makes the file with everything that waited. */
function bear(state: State, waiting: readonly string[], lines: readonly string[], facts: readonly Fact[]): void {
  const files = state.options.files ?? fs
  let lock: Lock | null = null
  let fd: number | null = null
  try {
    makePrivateFolder(dirname(state.file))
    const locked = takeLock(lockOf(state.file), state.options.now())
    if (!locked.ok) throw Object.assign(new Error(`somebody else is making ${state.file}`), { code: 'EEXIST' })
    lock = locked.lock
    fd = files.openSync(state.file, fs.constants.O_RDWR | fs.constants.O_APPEND | fs.constants.O_CREAT | fs.constants.O_EXCL, FILE_MODE)
    fs.fchmodSync(fd, FILE_MODE)
    writeAll(files, fd, bytesOf([...waiting, ...lines], false))
    files.fdatasyncSync(fd)
    syncFolder(dirname(state.file), files)
    state.open = { fd, size: files.fstatSync(fd).size, lock }
    state.unborn = null
  } catch (error) {
    if (fd !== null) {
      fs.closeSync(fd)
      fs.rmSync(state.file, { force: true })
    }
    lock?.release()
    const where = `Sessions cannot be kept in ${dirname(state.file)}: ${inWords(error)}. Name another place with --session-dir <dir>.`
    throw fail(state, new LogError('io', where, facts, { cause: error, code: errnoOf(error) }), lines, facts)
  }
}

/** One write of whole lines and, where a fact needs it, one sync. */
function write(state: State, lines: readonly string[], facts: readonly Fact[]): void {
  const files = state.options.files ?? fs
  const { open, reading } = state
  if (!open) throw new LogError('closed', `${state.file} was closed.`, facts)
  const bytes = bytesOf(lines, reading.torn)
  try {
    const found = files.fstatSync(open.fd)
    if (found.nlink === 0) throw new LogError('other-writer', `${state.file} was removed while it was open.`, facts)
    if (found.size !== open.size) throw new LogError('other-writer', `Somebody else wrote to ${state.file} while it was open.`, facts)
    writeAll(files, open.fd, bytes)
    if (facts.some(isSynced)) files.fdatasyncSync(open.fd)
    open.size += bytes.length
    reading.torn = false
  } catch (error) {
    if (!(error instanceof LogError)) takeBack(files, open.fd, open.size, bytes.length)
    throw fail(state, error, lines, facts)
  }
}

/** A torn tail stays where it is: what is appended next stands on its own line. */
const bytesOf = (lines: readonly string[], torn: boolean): Buffer => Buffer.from(`${torn ? '\n' : ''}${lines.join('\n')}\n`)

function writeAll(files: LogFiles, fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += files.writeSync(fd, bytes, done)
}

/** What a failed append left behind was never acknowledged. Where it cannot be taken back, `reopen` looks what is there. */
function takeBack(files: LogFiles, fd: number, size: number, most: number): void {
  try {
    // Never what another one wrote.
    if (files.fstatSync(fd).size <= size + most) files.ftruncateSync(fd, size)
  } catch {
    // looked at by `reopen`
  }
}

function fail(state: State, error: unknown, lines: readonly string[], facts: readonly Fact[]): LogError {
  const said =
    error instanceof LogError
      ? error
      : new LogError('io', `${state.file} could not be written: ${inWords(error)}.`, facts, { cause: error, code: errnoOf(error) })
  state.failed = { error: said, lines, torn: state.reading.torn }
  return said
}

function reopen(state: State): number {
  const { failed, open, reading } = state
  if (!failed) return 0
  if (!open) {
    state.failed = null
    return 0
  }
  let fd: number | null = null
  try {
    if (fs.statSync(state.file).ino !== fs.fstatSync(open.fd).ino) throw new LogError('other-writer', `${state.file} is another file now.`, failed.error.facts)
    fd = fs.openSync(state.file, fs.constants.O_RDWR | fs.constants.O_APPEND)
    const { size } = fs.fstatSync(fd)
    const landed = whatLanded(state.file, fd, open.size, size, failed)
    fs.fdatasyncSync(fd)
    fs.closeSync(open.fd)
    state.open = { ...open, fd, size }
    reading.torn = landed.torn
    state.failed = null
    return adopt(state, landed.records).length
  } catch (again) {
    if (fd !== null) fs.closeSync(fd)
    throw again instanceof LogError ? again : new LogError('io', `${state.file} still cannot be written: ${inWords(again)}.`, failed.error.facts, { cause: again, code: errnoOf(again) })
  }
}

/** What is in the file of an append that failed: its first lines, and perhaps a piece of the next. Anything else is somebody else's. */
function whatLanded(file: string, fd: number, from: number, size: number, { lines, error, torn: before }: Failed): { records: SessionRecord[]; torn: boolean } {
  if (size < from) throw new LogError('other-writer', `${file} was cut short by somebody else.`, error.facts)
  const records: SessionRecord[] = []
  let torn = size === from && before
  for (const line of linesFrom(fd, from, size)) {
    torn = !line.ended
    const text = line.bytes.toString()
    if (text === '') continue
    const expected = lines[records.length]
    if (text === expected) records.push(readBack(text))
    else if (line.ended || !expected?.startsWith(text.replace(/\uFFFD$/, ''))) throw new LogError('other-writer', `Somebody else wrote to ${file} while it was open.`, error.facts)
  }
  return { records, torn }
}

async function readRest(state: State): Promise<void> {
  const { open, partial } = state
  if (!open || !partial) return
  const reading = await inPieces(readNeeded(open.fd, open.size), () => state.closed !== true)
  state.reading = reading
  state.partial = false
}

function read(state: State, from: number, to: number): AnyRecord[] {
  const { reading, open } = state
  const inMemory = reading.records.filter((record) => record.seq >= reading.base && record.seq >= from && record.seq <= to)
  if (from >= reading.base || !open) return inMemory
  const marks = (state.marks ??= [])
  const start = marks.filter((mark) => mark.seq > to).sort((one, other) => one.seq - other.seq)[0]
  const older = readRange(open.fd, start?.offset ?? reading.from, from, Math.min(to, reading.base - 1))
  if (!marks.some((mark) => mark.seq === from)) marks.push({ seq: from, offset: older.offset })
  return [...older.records, ...inMemory]
}

/** Whole lines only: the last one may just be being written. */
function refresh(state: State): AnyRecord[] {
  const { open, reading } = state
  if (!open || !state.readOnly || state.partial) return []
  const added: AnyRecord[] = []
  const { size } = fs.fstatSync(open.fd)
  open.size = Math.min(open.size, size)
  for (const line of linesFrom(open.fd, open.size, size)) {
    if (!line.ended) break
    open.size = line.offset + line.bytes.length + 1
    const { record, why } = parseLine(line)
    const wrong = why ?? (record && record.seq < reading.next ? `a second record ${record.seq}` : null)
    if (wrong) reading.damage.push({ offset: line.offset, after: reading.next - 1, why: wrong })
    if (!record || record.seq < reading.next) continue
    reading.records.push(record)
    reading.next = record.seq + 1
    added.push(record)
  }
  return added
}

function close(state: State): void {
  if (state.closed) return
  state.closed = true
  if (!state.open) return
  fs.closeSync(state.open.fd)
  state.open.lock?.release()
  state.open = null
}

