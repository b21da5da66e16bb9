import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { context } from '../../src/core/context.ts'
import { live } from '../../src/core/path.ts'
import type { SessionRecord } from '../../src/core/record.ts'
import { readState } from '../../src/core/state.ts'
import { TREE_TYPES, treeOf } from '../../src/core/tree.ts'
import { forkSession } from '../../src/session/fork.ts'
import { olderRecords } from '../../src/session/older.ts'
import { begun, fixtures, inputFact, now, opened, scratch } from './scratch.ts'

const compacted = (): string => {
  const file = join(scratch(), 's.jsonl')
  copyFileSync(join(fixtures, 'compacted.jsonl'), file)
  return file
}

test('the inputs of before a compaction are in the tree though they are not in memory, and going back to one brings its path into memory', async () => {
  const file = compacted()
  const log = opened(file)
  expect(log.base).toBe(11)
  const older = await olderRecords(file, log.base, TREE_TYPES)
  expect(older.map(({ seq, type }) => `${seq} ${type}`)).toEqual(['3 input', '4 step', '6 outcome', '7 input', '8 step', '10 outcome'])
  const points = treeOf([...older, ...log.records.filter(({ seq }) => seq >= log.base)])
  expect(points.map(({ kind, text, to, depth }) => [kind, text, to, depth])).toEqual([
    ['head', 'Question 4.', 28, 0], ['input', 'Question 4.', 16, 0], ['input', 'Question 3.', 10, 0], ['input', 'Question 2.', 6, 0], ['input', 'Question 1.', 2, 0],
  ])
  const second = points.find(({ text }) => text === 'Question 2.')!
  expect(log.reach(second.to)).toMatchObject({ base: 0 })
  log.append([{ type: 'rewind', to: second.to }])
  const messages = JSON.stringify(context(live(log.records)).messages)
  expect(messages).toContain('Answer 1.')
  expect(messages).not.toMatch(/Summary of the work|Question 2/)
  // The other path is then one that was left, and can be brought back from its end, compacted as it was.
  const left = treeOf(log.records).find(({ kind }) => kind === 'end')!
  expect(left).toMatchObject({ text: 'Question 4.', depth: 1 })
  log.append([{ type: 'rewind', to: left.to }])
  log.close()
  const again = opened(file)
  expect(again.base).toBe(11)
  expect(JSON.stringify(context(live(again.records)).messages)).toMatch(/Summary of the work.*Answer 4/)
  again.close()
})

test('what the state says after a rewind is what it says after a restart, wherever it leads', () => {
  for (let to = 1; to <= 28; to++) {
    const file = compacted()
    const log = opened(file)
    log.append([{ type: 'rewind', to }])
    const now = readState(log.records).live
    log.close()
    const again = opened(file)
    expect(readState(again.records).live, `to ${to}`).toEqual(now)
    expect(context(live(again.records)), `to ${to}`).toEqual(context(live(log.records)))
    again.close()
  }
})

test('only what is asked for is read, texts of results are left out, and where lines do not follow each other all are looked at', async () => {
  const file = join(scratch(), 's.jsonl')
  const log = begun(file)
  log.append([inputFact('one', 'i1'), { type: 'result', run: 'r', call: 'c', status: 'ok', text: 'x'.repeat(1_000), changes: [{ path: '/w/a', before: null, after: 'h' }] }, inputFact('two', 'i2')])
  log.close()
  const all = (await olderRecords(file, 99, ['input', 'result'])) as (SessionRecord & { text: string })[]
  expect(all.map(({ type, text }) => [type, text])).toEqual(expect.arrayContaining([['input', 'one'], ['result', ''], ['input', 'two']]))
  expect(await olderRecords(file, all.at(-1)!.seq, ['input'])).toHaveLength(all.filter(({ type }) => type === 'input').length - 1)
  const lines = readFileSync(file, 'utf8').split('\n')
  const foreign = JSON.stringify({ seq: 1, at: 1, type: 'input', id: 'f', text: 'of another session' })
  writeFileSync(file, [...lines.slice(0, 2), '\0\0\0', JSON.stringify({ seq: 0, at: 1, type: 'session', version: 1, id: 'other', cwd: '/x', root: '/x' }), foreign, ...lines.slice(2)].join('\n'))
  expect(((await olderRecords(file, 99, ['input'])) as (SessionRecord & { text: string })[]).map(({ text }) => text)).not.toContain('of another session')
})

test('a copy of a session knows what was put back to where in it', () => {
  const folder = scratch()
  const from = join(folder, 'a.jsonl')
  const log = begun(from)
  log.append([inputFact('one', 'i1')])
  const { seq } = log.append([inputFact('left', 'i2')]).at(-1)!
  log.append([{ type: 'rewind', to: seq - 1 }])
  log.append([{ type: 'checkpoint', why: 'after undo', tree: null, undo: { to: seq, changes: [] } }, { type: 'checkpoint', why: 'after undo', tree: null, undo: { to: seq - 1, changes: [] } }])
  log.close()
  const to = join(folder, 'b.jsonl')
  expect(forkSession(from, to, { type: 'session', version: 1, id: 'copy', cwd: '/x', root: '/x' }, { now })).toBeNull()
  const copy = opened(to, { watch: true })
  const one = copy.records.find((record) => record.type === 'input' && !('unknown' in record) && record.text === 'one')!
  expect(copy.records.flatMap((record) => (record.type === 'checkpoint' && !('unknown' in record) ? [record.undo?.to] : []))).toEqual([one.seq, one.seq])
})
