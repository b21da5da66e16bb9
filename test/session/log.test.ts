import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Fact } from '../../src/core/record.ts'
import { parse } from '../../src/core/record.ts'
import type { LogFiles } from '../../src/session/log.ts'
import { LogError, createLog } from '../../src/session/log.ts'
import { openLog } from '../../src/session/open-log.ts'
import { begun, fixtures, inputFact, now, opened, scratch, sessionFact } from './scratch.ts'

/** The real system calls, counted. */
function counted(): { files: LogFiles; calls: string[] } {
  const calls: string[] = []
  const note = <K extends keyof LogFiles>(name: K): LogFiles[K] =>
    ((...given: unknown[]) => {
      calls.push(name)
      return (fs[name] as (...all: unknown[]) => unknown)(...given)
    }) as LogFiles[K]
  return { calls, files: { openSync: note('openSync'), writeSync: note('writeSync'), fdatasyncSync: note('fdatasyncSync'), fsyncSync: note('fsyncSync'), ftruncateSync: note('ftruncateSync'), fstatSync: note('fstatSync') } }
}

const errno = (code: string): Error => Object.assign(new Error(code), { code })
const caught = (act: () => unknown): LogError => {
  try {
    act()
  } catch (error) {
    if (error instanceof LogError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
const step: Fact = { type: 'step', run: 'r1', number: 1, attempt: 1, inputs: ['i1'], model: 'a/b', request: { sha256: 'x', bytes: 1 } }
const start = (reads: boolean): Fact => ({ type: 'start', run: 'r1', call: 'c1', ...(reads ? { reads } : {}) })
const lines = (file: string): string[] => fs.readFileSync(file, 'utf8').trimEnd().split('\n')

test('facts that need it share one sync, and others need none', () => {
  const file = join(scratch(), 's.jsonl')
  begun(file).close()
  const { files, calls } = counted()
  const log = opened(file, { files })
  const count = (facts: Fact[]): string[] => {
    calls.length = 0
    log.append(facts)
    return calls.filter((call) => call !== 'fstatSync')
  }
  expect(count([step])).toEqual(['writeSync'])
  expect(count([start(true)])).toEqual(['writeSync'])
  expect(count([start(false)])).toEqual(['writeSync', 'fdatasyncSync'])
  expect(count([step, start(false), inputFact('a'), inputFact('b')])).toEqual(['writeSync', 'fdatasyncSync'])
  expect(count([])).toEqual([])
  log.close()
})

test('the first input makes the file with all that waited, in one write, synced together with its folder', () => {
  const file = join(scratch(), '.agent', 'sessions', 's.jsonl')
  const { files, calls } = counted()
  const log = createLog(file, { id: 's1', now, files })
  expect(log.append([sessionFact()]).map((record) => record.seq)).toEqual([0])
  log.append([{ type: 'set', model: 'a/b' }])
  expect(calls).toEqual([])
  expect(fs.existsSync(dirname(file))).toBe(false)
  log.append([inputFact('hello')])
  expect(calls.filter((call) => call !== 'fstatSync')).toEqual(['openSync', 'writeSync', 'fdatasyncSync', 'fsyncSync'])
  expect(lines(file).map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(['session', 'set', 'input'])
  log.close()
})

test('a start without an input leaves nothing behind', () => {
  const folder = scratch()
  const log = createLog(join(folder, '.agent', 'sessions', 's.jsonl'), { id: 's1', now })
  log.append([sessionFact(), { type: 'set', mode: 'plan' }])
  log.close()
  expect(fs.readdirSync(folder)).toEqual([])
})

test.each([0o000, 0o022, 0o077, 0o777])('folders are 0700 and files 0600 under umask %i', (umask) => {
  const folder = scratch()
  const before = process.umask(umask)
  try {
    const log = begun(join(folder, '.agent', 'sessions', 's.jsonl'))
    const modes = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${name} ${(fs.statSync(join(folder, name)).mode & 0o777).toString(8)}`)
    expect(modes.sort()).toEqual(['.agent 700', '.agent/.gitignore 600', '.agent/sessions 700', '.agent/sessions/s.jsonl 600', '.agent/sessions/s.lock 600'])
    log.close()
  } finally {
    process.umask(before)
  }
})

test('git sees nothing of a session', () => {
  const folder = scratch()
  execFileSync('git', ['init', '-q'], { cwd: folder })
  begun(join(folder, '.agent', 'sessions', 's.jsonl')).close()
  expect(execFileSync('git', ['status', '--porcelain', '--untracked-files=all'], { cwd: folder, encoding: 'utf8' })).toBe('')
})

test('a .gitignore that is there is left as it is', () => {
  const folder = scratch()
  fs.mkdirSync(join(folder, '.agent'))
  fs.writeFileSync(join(folder, '.agent', '.gitignore'), 'sessions/\n')
  begun(join(folder, '.agent', 'sessions', 's.jsonl')).close()
  expect(fs.readFileSync(join(folder, '.agent', '.gitignore'), 'utf8')).toBe('sessions/\n')
})

test('.agent as a link out of the repository is not followed', () => {
  const folder = scratch()
  const outside = scratch()
  fs.symlinkSync(outside, join(folder, '.agent'))
  const error = caught(() => begun(join(folder, '.agent', 'sessions', 's.jsonl')))
  expect(error.message).toContain('--session-dir')
  expect(fs.readdirSync(outside)).toEqual([])
})

test('what append returns is what a later opening reads, whatever the text holds', () => {
  const file = join(scratch(), 's.jsonl')
  const log = begun(file)
  const facts = fc.array(fc.string({ unit: 'binary', maxLength: 40 }).map((text): Fact => inputFact(`${text}\u2028\u0000\ud800`)), { minLength: 1, maxLength: 5 })
  fc.assert(fc.property(facts, (group) => { expect(log.append(group)).toMatchObject(group) }), { numRuns: 50 })
  const written = [...log.records]
  log.close()
  const again = opened(file)
  expect(again.records).toEqual(written)
  expect(again.damage).toEqual([])
  again.close()
})

test('short writes are gone on with', () => {
  const file = join(scratch(), 's.jsonl')
  begun(file).close()
  const files: LogFiles = { ...fs, writeSync: ((fd: number, bytes: Buffer, offset: number) => fs.writeSync(fd, bytes, offset, Math.min(7, bytes.length - offset))) as typeof fs.writeSync }
  const log = opened(file, { files })
  log.append([inputFact('a text longer than seven bytes'), step])
  log.close()
  const again = opened(file)
  expect(again.records.map((record) => record.type)).toEqual(['session', 'input', 'input', 'step'])
  again.close()
})

test('a bad fact is refused before anything is written, and the log goes on', () => {
  const file = join(scratch(), 's.jsonl')
  const log = begun(file)
  const size = fs.statSync(file).size
  expect(() => log.append([step, { type: 'input', id: 1 } as unknown as Fact])).toThrow(/no reader would accept/)
  expect(() => log.append([{ type: 'nonsense' } as unknown as Fact])).toThrow(/unknown type/)
  expect(fs.statSync(file).size).toBe(size)
  expect(log.append([step])[0]?.seq).toBe(2)
  log.close()
})

/** Appends fail after some bytes, as on a full disk. */
const full = (after: number, rest: Partial<LogFiles> = {}): { files: LogFiles; space: { left: number } } => {
  const space = { left: after }
  const writeSync = ((fd: number, bytes: Buffer, offset: number) => {
    if (space.left === 0) throw errno('ENOSPC')
    const wrote = fs.writeSync(fd, bytes, offset, Math.min(space.left, bytes.length - offset))
    space.left -= wrote
    return wrote
  }) as typeof fs.writeSync
  return { space, files: { ...fs, writeSync, ...rest } }
}

test('a full disk closes the log for writing, says so with its errno, leaves no half record, and goes on when there is space', () => {
  const file = join(scratch(), 's.jsonl')
  begun(file).close()
  const before = fs.readFileSync(file, 'utf8')
  const { files, space } = full(90)
  const log = opened(file, { files })
  const facts = [inputFact('first', 'i2'), inputFact('second', 'i3')]
  const error = caught(() => log.append(facts))
  expect(error).toMatchObject({ kind: 'io', code: 'ENOSPC', facts })
  expect(error.message).toContain('no space is left on the device (ENOSPC)')
  expect(fs.readFileSync(file, 'utf8')).toBe(before)
  expect(log.records.length).toBe(2)
  expect(caught(() => log.append([step]))).toMatchObject({ kind: 'closed', facts: [step] })
  expect(log.failed).toBe(error)

  space.left = Infinity
  expect(log.reopen()).toBe(0)
  expect(log.append(error.facts).map((record) => record.seq)).toEqual([2, 3])
  log.close()
  const again = opened(file)
  expect(again.records.map((record) => record.type)).toEqual(['session', 'input', 'input', 'input'])
  expect(again.damage).toEqual([])
  again.close()
})

test('a failed sync takes back what was written: it was never acknowledged', () => {
  const file = join(scratch(), 's.jsonl')
  begun(file).close()
  const before = fs.readFileSync(file, 'utf8')
  let broken = true
  const log = opened(file, { files: { ...fs, fdatasyncSync: (fd) => { if (broken) throw errno('EIO'); fs.fdatasyncSync(fd) } } })
  const error = caught(() => log.append([step, inputFact('x')]))
  expect(error).toMatchObject({ kind: 'io', code: 'EIO' })
  expect(fs.readFileSync(file, 'utf8')).toBe(before)
  broken = false
  log.reopen()
  expect(log.append(error.facts).map((record) => record.seq)).toEqual([2, 3])
  log.close()
})

test.each([0, 1, 50, 120, 170, 300, 10_000])('where a failed append cannot be taken back (%i bytes), reopening says how much of it is there', (bytes) => {
  const file = join(scratch(), 's.jsonl')
  begun(file).close()
  const { files, space } = full(bytes, { ftruncateSync: () => { throw errno('EIO') }, fdatasyncSync: () => { throw errno('EIO') } })
  const log = opened(file, { files })
  const facts = [inputFact('first', 'i2'), inputFact('second', 'i3'), inputFact('caf\u00e9', 'i4')]
  const error = caught(() => log.append(facts))
  space.left = Infinity
  const landed = log.reopen()
  expect(log.records.length).toBe(2 + landed)
  files.fdatasyncSync = fs.fdatasyncSync
  if (landed < facts.length) log.append(error.facts.slice(landed))
  log.append([step])
  log.close()
  const again = opened(file)
  expect(again.records.map((record) => ('id' in record ? record.id : record.type))).toEqual(['s1', 'i1', 'i2', 'i3', 'i4', 'step'])
  expect(again.damage.length).toBeLessThanOrEqual(1)
  again.close()
})

test('a session whose file cannot be made keeps what waited, and makes it later', () => {
  const folder = scratch()
  const file = join(folder, '.agent', 'sessions', 's.jsonl')
  const { files, space } = full(10)
  const log = createLog(file, { id: 's1', now, files })
  log.append([sessionFact()])
  const error = caught(() => log.append([inputFact('hello')]))
  expect(error).toMatchObject({ kind: 'io', code: 'ENOSPC', facts: [inputFact('hello')] })
  expect(fs.readdirSync(dirname(file))).toEqual([])
  space.left = Infinity
  expect(log.reopen()).toBe(0)
  log.append(error.facts)
  log.close()
  expect(lines(file).length).toBe(2)
})

test('a second writer is noticed before anything is mixed', () => {
  const file = join(scratch(), 's.jsonl')
  const log = begun(file)
  fs.appendFileSync(file, '{"seq":2,"at":1,"type":"input","id":"x","text":"not ours"}\n')
  const before = fs.readFileSync(file, 'utf8')
  expect(caught(() => log.append([step]))).toMatchObject({ kind: 'other-writer', message: expect.stringContaining('Somebody else wrote') as string })
  expect(caught(() => log.reopen())).toMatchObject({ kind: 'other-writer' })
  expect(fs.readFileSync(file, 'utf8')).toBe(before)
  log.close()
})

test('a session that was removed while it was open takes nothing more', () => {
  const file = join(scratch(), 's.jsonl')
  const log = begun(file)
  fs.rmSync(file)
  expect(caught(() => log.append([step])).message).toContain('was removed')
  log.close()
})

test.each(['plain', 'tools'])('%s cut at every byte opens, keeps every whole line, and takes more', (name) => {
  const bytes = fs.readFileSync(join(fixtures, `${name}.jsonl`))
  const file = join(scratch(), 's.jsonl')
  const ends = [...bytes.toString().matchAll(/\n/g)].map((match) => match.index)
  const whole = opened(join(fixtures, `${name}.jsonl`), { watch: true }).records
  const kept = (size: number): number => ends.filter((end) => end <= size).length
  for (let size = 1; size <= bytes.length; size++) {
    fs.writeFileSync(file, bytes.subarray(0, size))
    // Going on is tried at every byte of the short log, and around every line's end of the long one.
    const goOn = name === 'plain' || ends.some((end) => Math.abs(end - size) < 3)
    const result = openLog(file, { now, watch: !goOn, files: { ...fs, fdatasyncSync: () => undefined } })
    if (kept(size) === 0) {
      expect(result).toMatchObject({ ok: false, fault: { kind: 'not-a-session' } })
      continue
    }
    if (!result.ok) throw new Error(result.fault.message)
    const { log } = result
    if (log.records.length !== kept(size) || log.records.at(-1)?.seq !== kept(size) - 1) throw new Error(`cut at ${size}: ${log.records.length} of ${kept(size)} records`)
    const torn = !ends.includes(size) && !ends.includes(size - 1)
    if (log.damage.length !== (torn ? 1 : 0)) throw new Error(`cut at ${size}: ${JSON.stringify(log.damage)}`)
    if (goOn) {
      const [added] = log.append([inputFact('on', 'i9')])
      const after = opened(file, { watch: true })
      expect(after.records).toEqual([...whole.slice(0, kept(size)), added])
      after.close()
    }
    log.close()
  }
}, 120_000)

test('opening reads back to what the newest compaction keeps, and older records are read when asked for', () => {
  const log = opened(join(fixtures, 'compacted.jsonl'), { watch: true })
  expect(log.base).toBe(11)
  expect(log.records.map((record) => record.seq)).toEqual([0, ...Array.from({ length: 18 }, (_, index) => 11 + index)])
  expect(log.read(3, 6).map((record) => record.seq)).toEqual([3, 4, 5, 6])
  expect(log.read(2, 2).map((record) => record.seq)).toEqual([2])
  expect(log.read(9, 12).map((record) => record.seq)).toEqual([9, 10, 11, 12])
  expect(log.read(0, 999).length).toBe(29)
  expect(log.read(0, 4).map((record) => record.seq)).toEqual([0, 1, 2, 3, 4])
  log.close()
})

test('a compaction that does not carry the rest, or is off the live path, is no reason to read less', () => {
  const folder = scratch()
  const text = fs.readFileSync(join(fixtures, 'compacted.jsonl'), 'utf8')
  const bare = join(folder, 'bare.jsonl')
  fs.writeFileSync(bare, text.replace(/"carry":\{.*\}(?=\}\n)/, '"other":1'))
  expect(opened(bare, { watch: true }).base).toBe(0)
  const rewound = join(folder, 'rewound.jsonl')
  fs.writeFileSync(rewound, `${text}{"seq":29,"at":1,"type":"rewind","to":6}\n{"seq":30,"at":1,"type":"input","id":"i9","text":"again"}\n`)
  expect(opened(rewound, { watch: true }).base).toBe(0)
})

test('a rewind to before what is in memory brings it into memory', () => {
  const file = join(scratch(), 's.jsonl')
  fs.copyFileSync(join(fixtures, 'compacted.jsonl'), file)
  const log = opened(file)
  expect(log.base).toBe(11)
  log.append([{ type: 'rewind', to: 6 }])
  expect(log.base).toBe(0)
  expect(log.records.map((record) => record.seq)).toEqual(Array.from({ length: 30 }, (_, index) => index))
  log.append([inputFact('other way', 'i9')])
  log.close()
  const again = opened(file)
  expect(again.records.length).toBe(31)
  expect(again.base).toBe(0)
  again.close()
})

test('a rewind to before the compaction that what is in memory begins with brings in what is before it, too', () => {
  const file = join(scratch(), 's.jsonl')
  fs.copyFileSync(join(fixtures, 'compacted.jsonl'), file)
  const log = opened(file)
  const compact = log.records.find(({ type }) => type === 'compact')!
  expect(compact.seq).toBeGreaterThan(log.base + 1)
  // It is in memory itself, but what it follows is in the summary alone.
  const to = compact.seq - 1
  expect(log.reach(to).base).toBe(0)
  expect(log.base).toBe(11)
  log.append([{ type: 'rewind', to }])
  expect(log.base).toBe(0)
  expect(log.reach(to).records).toBe(log.records)
  log.close()
})

test('a watcher sees what is appended, whole lines only', () => {
  const file = join(scratch(), 's.jsonl')
  const log = begun(file)
  const watcher = opened(file, { watch: true })
  const more = log.append([step, inputFact('more', 'i2')])
  expect(watcher.refresh()).toEqual(more)
  expect(watcher.refresh()).toEqual([])
  log.close()
  fs.appendFileSync(file, '{"seq":4,"at":1,"type":"input","id":"i3",')
  expect(watcher.refresh()).toEqual([])
  fs.appendFileSync(file, '"text":"late"}\n')
  expect(watcher.refresh()).toMatchObject([{ seq: 4, text: 'late' }])
  expect(() => watcher.append([step])).toThrow(/reading only/)
  watcher.close()
})

test('a missing file, a folder and an unreadable file are told apart', () => {
  const folder = scratch()
  const fault = (file: string): unknown => {
    const result = openLog(file, { now })
    return result.ok ? null : result.fault
  }
  expect(fault(join(folder, 'no.jsonl'))).toMatchObject({ kind: 'missing' })
  fs.mkdirSync(join(folder, 'dir.jsonl'))
  expect(fault(join(folder, 'dir.jsonl'))).toMatchObject({ kind: 'unreadable', message: expect.stringContaining('not a file') as string })
  const file = join(folder, 's.jsonl')
  begun(file).close()
  asNobody(folder, () => {
    fs.chmodSync(file, 0o000)
    expect(fault(file)).toMatchObject({ kind: 'unreadable', message: expect.stringContaining('permission denied (EACCES)') as string })
  })
})

test('a session that may only be read is opened for reading, and says why', () => {
  const folder = scratch()
  const file = join(folder, 's.jsonl')
  begun(file).close()
  asNobody(folder, () => {
    fs.chmodSync(file, 0o400)
    const log = opened(file)
    expect(log.readOnly).toContain('permission denied (EACCES)')
    log.close()
    fs.chmodSync(file, 0o600)
    fs.chmodSync(folder, 0o500)
    const result = opened(file)
    expect(result.readOnly).toContain('permission denied')
    result.close()
    fs.chmodSync(folder, 0o700)
  })
})

/** Root may read everything, so the test is a normal user for a moment. */
function asNobody(folder: string, act: () => void): void {
  const root = process.geteuid?.() === 0
  if (root) execFileSync('chown', ['-R', '65534', folder])
  if (root) process.seteuid?.(65534)
  try {
    act()
  } finally {
    if (root) process.seteuid?.(0)
  }
}

test('a real full disk: nothing acknowledged is lost, nothing half is left, and it goes on', (context) => {
  const folder = scratch()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    context.skip('mounting a small file system needs root')
  }
  try {
    const file = join(folder, 's.jsonl')
    const log = begun(file)
    const error = caught(() => { for (let index = 0; ; index++) log.append([inputFact('x'.repeat(3000), `n${index}`)]) })
    expect(error).toMatchObject({ kind: 'io', code: 'ENOSPC' })
    const acknowledged = [...log.records]
    expect(acknowledged.length).toBeGreaterThan(10)
    for (const line of lines(file)) expect(parse(line).ok).toBe(true)
    expect(caught(() => { log.reopen(); log.append(error.facts) }).code).toBe('ENOSPC')
    execFileSync('mount', ['-o', 'remount,size=1m', folder])
    log.reopen()
    const added = log.append(error.facts)
    log.close()
    const again = opened(file)
    expect(again.records).toEqual([...acknowledged, ...added])
    expect(again.damage).toEqual([])
    again.close()
  } finally {
    execFileSync('umount', [folder])
  }
})
