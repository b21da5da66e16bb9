import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { writeSession } from '../bench/sessions.ts'
import { inputFact, opened, scratch } from './scratch.ts'

const MB = 1_000_000

/** A session of 8 records a turn, as it is and with its lines changed. */
function large(change: (lines: string[]) => string[] = (lines) => lines, compactEvery = Infinity): string {
  const folder = scratch()
  const file = writeSession({ cwd: folder, sessions: folder }, 's1', { bytes: 1.6 * MB, turns: 160, compactEvery })
  writeFileSync(file, change(readFileSync(file, 'utf8').split('\n')).join('\n'))
  return file
}

const wholeOf = (file: string): ReturnType<typeof opened> => opened(file, { watch: true })

const cut = (line: string): string => line.slice(0, line.length / 2)
const cases: Record<string, (lines: string[]) => string[]> = {
  'as it was written': (lines) => lines,
  'with a torn tail': (lines) => [...lines.slice(0, -2), cut(lines.at(-2) ?? '')],
  'with a bad line near its end': (lines) => lines.map((line, index) => (index === lines.length - 5 ? cut(line) : line)),
  'with a bad line near its beginning': (lines) => lines.map((line, index) => (index === 20 ? 'x' : line)),
  'with a line missing': (lines) => lines.toSpliced(100, 1),
  'with lines twice': (lines) => lines.toSpliced(100, 0, ...lines.slice(90, 95)),
  'with a rewind to its middle near its end': (lines) => [...lines.slice(0, -1), JSON.stringify({ seq: lines.length - 1, at: 1, type: 'rewind', to: 800 }), ''],
}

test.each(Object.entries(cases))('a large session %s is shown from its end, and whole in the end', async (_name, change) => {
  const file = large(change)
  const whole = wholeOf(file)
  const log = opened(file, { partial: true })
  expect(log.partial).toBe(true)
  expect(log.session).toEqual(whole.session)
  const shown = log.records.slice(1)
  expect(whole.records.slice(whole.records.length - shown.length)).toEqual(shown)
  expect(() => log.append([inputFact('too soon')])).toThrow(/before it was read/)
  await log.rest()
  expect(log.partial).toBe(false)
  expect(log.records).toEqual(whole.records)
  expect(log.damage).toEqual(whole.damage)
  expect(log.append([inputFact('go on', 'last')])[0]?.seq).toBe((whole.records.at(-1)?.seq ?? 0) + 1)
  log.close()
  expect(wholeOf(file).records.at(-1)).toMatchObject({ id: 'last' })
})

test('what is shown first begins where a run begins, and is a small part', () => {
  const log = opened(large(), { partial: true })
  expect(log.records[0]?.type).toBe('session')
  expect(log.records[1]?.type).toBe('input')
  expect(JSON.stringify(log.records).length).toBeLessThan(MB / 4)
  log.close()
})

test('a session that is soon read is read at once: a small one, and a large one that was compacted lately', () => {
  const folder = scratch()
  const small = writeSession({ cwd: folder, sessions: folder }, 's1', { bytes: MB / 10, turns: 10 })
  for (const file of [small, large((lines) => lines, 20)]) {
    const log = opened(file, { partial: true })
    expect(log.partial).toBe(false)
    expect(log.records).toEqual(wholeOf(file).records)
    log.close()
  }
})

test('one that is closed before it was read stays as it was', async () => {
  const file = large()
  const log = opened(file, { partial: true })
  const rest = log.rest()
  log.close()
  await expect(rest).rejects.toThrow()
  opened(file).close()
})
