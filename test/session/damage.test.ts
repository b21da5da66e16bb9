import { chmodSync, copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { files } from '../../fixtures/sessions/make.ts'
import { fixtures, inputFact, opened, scratch } from './scratch.ts'
import { openLog } from '../../src/session/open-log.ts'

const whole = opened(join(fixtures, 'tools.jsonl'), { watch: true }).records
const all = whole.map((record) => record.seq)
const without = (...lost: number[]): number[] => all.filter((seq) => !lost.includes(seq))

/** What is read of each damaged log, and what is said of it. */
const cases: Record<string, { seqs: number[]; damage: string[] }> = {
  'binary': { seqs: all, damage: ['bytes that are no text'] },
  'bom': { seqs: all, damage: [] },
  'crlf': { seqs: all, damage: [] },
  'empty-lines': { seqs: all, damage: [] },
  'far-ahead': { seqs: all, damage: ['record 9999 out of its place'] },
  'half-line': { seqs: without(4), damage: ['4: half a record'] },
  'half-line-glued': { seqs: without(4), damage: ['half a record, with a whole record behind it', '4: record 4 is missing'] },
  'missing-record': { seqs: without(9), damage: ['9: record 9 is missing'] },
  'missing-records': { seqs: without(8, 9, 10, 11, 12), damage: ['8: records 8 to 12 are missing'] },
  'newer-version': { seqs: all, damage: [] },
  'no-session-line': { seqs: without(0), damage: ['0: record 0 is missing'] },
  'not-utf8': { seqs: all, damage: ['bytes that are not UTF-8'] },
  'nul-before-record': { seqs: all, damage: ['400 NUL bytes, with a whole record behind it'] },
  'nul-block': { seqs: all, damage: ['400 NUL bytes'] },
  'other-key-order': { seqs: all, damage: [] },
  'other-session': { seqs: all, damage: ["another session's records"] },
  'other-session-behind': { seqs: all, damage: ["another session's records"] },
  'other-session-lines': { seqs: all, damage: ['a second record 3', 'a second record 4', 'a second record 5'] },
  'second-record': { seqs: all, damage: ['a second record 6', 'a second record 7'] },
  'separators': { seqs: all, damage: [] },
  'torn-and-fenced': { seqs: all, damage: ['half a record'] },
  'torn-in-character': { seqs: all, damage: ['the last write was cut off'] },
  'torn-tail': { seqs: all, damage: ['the last write was cut off'] },
  'whole-without-newline': { seqs: all, damage: [] },
  'wrong-shape': { seqs: without(10), damage: ['10: reply: run Invalid input'] },
}

const say = (damage: readonly { seq?: number; why: string }[]): string[] => damage.map(({ seq, why }) => (seq === undefined ? why : `${seq}: ${why}`))

test('every damaged fixture has a case here, and is what its script makes', () => {
  const names = readdirSync(join(fixtures, 'damaged')).map((name) => name.replace('.jsonl', ''))
  expect(names.filter((name) => name !== 'not-a-session').sort()).toEqual(Object.keys(cases).sort())
  for (const [name, bytes] of Object.entries(files)) expect(readFileSync(join(fixtures, name)).equals(bytes), name).toBe(true)
})

test.each(Object.entries(cases))('%s loses only itself, is named, and goes on without being rewritten', (name, { seqs, damage }) => {
  const file = join(scratch(), `${name}.jsonl`)
  copyFileSync(join(fixtures, 'damaged', `${name}.jsonl`), file)
  const before = readFileSync(file)
  const log = opened(file)
  expect(log.records.map((record) => record.seq)).toEqual(seqs)
  expect(say(log.damage)).toEqual(damage)
  for (const record of log.records) {
    if (!['not-utf8', 'separators', 'newer-version'].includes(name)) expect(record).toEqual(whole[record.seq])
  }
  if (name === 'newer-version') {
    log.close()
    return
  }
  const [added] = log.append([inputFact('and on', 'i9')])
  log.close()
  expect(added?.seq).toBe(26)
  expect(readFileSync(file).subarray(0, before.length).equals(before)).toBe(true)

  const again = opened(file)
  expect(again.records.map((record) => record.seq)).toEqual([...seqs, 26])
  expect(again.records.at(-1)).toEqual(added)
  again.close()
})

test('a torn tail is named with its place, and what is appended next stands on its own line', () => {
  const file = join(scratch(), 's.jsonl')
  copyFileSync(join(fixtures, 'damaged', 'torn-tail.jsonl'), file)
  const size = readFileSync(join(fixtures, 'tools.jsonl')).length
  const log = opened(file)
  expect(log.damage).toEqual([{ offset: size, after: 25, why: 'the last write was cut off' }])
  log.append([inputFact('hi', 'i2')])
  log.append([inputFact('ho', 'i3')])
  log.close()
  const lines = readFileSync(file, 'utf8').split('\n')
  expect(lines.slice(-4).map((line) => line.slice(0, 10))).toEqual(['{"seq":26,', '{"seq":26,', '{"seq":27,', ''])
})

test('line separators other than LF are text and come back as they were', () => {
  const input = opened(join(fixtures, 'damaged', 'separators.jsonl'), { watch: true }).records[3]
  expect(input).toMatchObject({ type: 'input', text: 'a\u2028b\u2029c\u0085d\u000be\u000cf' })
})

test('a newer major version is opened for reading only, without a lock, and says so', () => {
  const file = join(scratch(), 's.jsonl')
  copyFileSync(join(fixtures, 'damaged', 'newer-version.jsonl'), file)
  const log = opened(file)
  expect(log.readOnly).toMatch(/newer version of tiller/)
  expect(() => log.append([inputFact('no')])).toThrow(/open for reading only.*newer version/)
  const second = opened(file)
  second.close()
  log.close()
  expect(readFileSync(file).equals(readFileSync(join(fixtures, 'damaged', 'newer-version.jsonl')))).toBe(true)
})

test('a minor version of the same major one is written to', () => {
  const file = join(scratch(), 's.jsonl')
  writeFileSync(file, readFileSync(join(fixtures, 'tools.jsonl'), 'utf8').replace('"version":1', '"version":1.7'))
  const log = opened(file)
  expect(log.readOnly).toBe(null)
  log.close()
})

test('unknown types and fields are kept', () => {
  const log = opened(join(fixtures, 'unknown.jsonl'), { watch: true })
  expect(log.records[4]).toMatchObject({ type: 'weather', unknown: true, line: expect.stringContaining('"sky":"blue"') as string })
  expect(log.records[5]).toMatchObject({ type: 'step', mood: 'good' })
  expect(log.damage).toEqual([])
})

test('a file that is no session is refused and not touched', () => {
  const file = join(scratch(), 'letter.jsonl')
  copyFileSync(join(fixtures, 'damaged', 'not-a-session.jsonl'), file)
  expect(openLog(file, { now: () => 1 })).toMatchObject({ ok: false, fault: { kind: 'not-a-session' } })
  expect(readFileSync(file, 'utf8')).toBe('This is a letter.\n\nDear reader,\n')
})

test('a foreign session as long as what stands before it does not swallow the rest', () => {
  const own = readFileSync(join(fixtures, 'tools.jsonl'), 'utf8').trimEnd().split('\n')
  const other = readFileSync(join(fixtures, 'damaged', 'other-session.jsonl'), 'utf8').split('\n').slice(10, 20)
  const file = join(scratch(), 's.jsonl')
  writeFileSync(file, `${[...own.slice(0, 10), ...other, ...own.slice(10)].join('\n')}\n`)
  const log = opened(file)
  expect(log.records).toEqual(whole)
  expect(say(log.damage)).toEqual(["another session's records"])
  log.close()
})

test('a session that others can read may not be of this program, and is marked', () => {
  const file = join(scratch(), 's.jsonl')
  writeFileSync(file, readFileSync(join(fixtures, 'tools.jsonl')), { mode: 0o644 })
  const foreign = opened(file)
  expect(foreign.foreign).toBe(true)
  foreign.close()
  chmodSync(file, 0o600)
  const own = opened(file)
  expect(own.foreign).toBe(false)
  own.close()
})

test('what a file or a session calls itself cannot steer the terminal through an error', () => {
  const result = openLog('/nowhere/\u001b]0;gone\u0007\u202e.jsonl', { now: () => 1 })
  if (result.ok) throw new Error('opened')
  expect(result.fault.message).not.toMatch(/[\u0000-\u001f\u202e]/)
})
