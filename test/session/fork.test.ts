import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { live } from '../../src/core/path.ts'
import type { FactOf, SessionRecord } from '../../src/core/record.ts'
import { openBlobs } from '../../src/session/blob.ts'
import { blobsOf } from '../../src/session/companion.ts'
import { forkSession } from '../../src/session/fork.ts'
import { listSessions } from '../../src/session/list.ts'
import { removeSession } from '../../src/session/store.ts'
import { begun, fixtures, inputFact, now, opened, scratch } from './scratch.ts'

const session: FactOf<'session'> = { type: 'session', version: 1, id: 'copy', cwd: '/x', root: '/x' }
const records = (file: string): SessionRecord[] => opened(file, { watch: true }).records as SessionRecord[]
const contents = (all: readonly SessionRecord[]): unknown[] => all.filter(({ type }) => type !== 'session' && type !== 'rewind').map((record) => ({ ...record, seq: -1 }))

test.each(['plain', 'tools', 'steered', 'rewound', 'faults', 'open'])('a fork of %s is its live path with new numbers, under its own session', (name) => {
  const from = join(fixtures, `${name}.jsonl`)
  const to = join(scratch(), 'sessions', 'copy.jsonl')
  expect(forkSession(from, to, session, { now })).toBe(null)
  const [first, ...rest] = records(to)
  const path = live(records(from))
  expect(first).toMatchObject({ ...session, seq: 0, fork: { id: expect.any(String) as string, seq: path.at(-1)?.seq } })
  expect(contents(rest.slice(0, -1))).toEqual(contents(path).map((record) => ((record as SessionRecord).type === 'set' && 'label' in (record as object) ? { ...(record as object), label: expect.anything() as unknown } : record)))
  expect(rest.at(-1)).toMatchObject({ type: 'set', model: 'local/m', mode: 'ask' })
  expect(rest.map(({ seq }) => seq)).toEqual(rest.map((_, index) => index + 1))
  expect(statSync(to).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(to, '..')).filter((each) => each.endsWith('.tmp'))).toEqual([])
})

test('a fork up to a record ends with it, also on a path that was abandoned', () => {
  const from = join(fixtures, 'rewound.jsonl')
  const folder = scratch()
  const words = (to: string): string[] => records(to).filter((record) => record.type === 'input').map(({ text }) => text)
  expect(forkSession(from, join(folder, 'a.jsonl'), session, { now, upTo: 12 })).toBe(null)
  expect(words(join(folder, 'a.jsonl'))).toEqual(['First way.', 'Further.'])
  expect(forkSession(from, join(folder, 'b.jsonl'), session, { now, upTo: 17 })).toBe(null)
  expect(words(join(folder, 'b.jsonl'))).toEqual(['Second way.'])
  expect(forkSession(from, join(folder, 'c.jsonl'), session, { now, upTo: 99 })).toMatchObject({ kind: 'missing', message: 'The session rewound has no record 99; its records are 0 to 22.' })
  expect(readdirSync(folder).sort()).toEqual(['a.jsonl', 'b.jsonl'])
})

test('records that name others name their copies', () => {
  const folder = scratch()
  const from = join(folder, 'from.jsonl')
  const log = begun(from)
  log.append([inputFact('abandoned', 'i2'), { type: 'rewind', to: 1 }, inputFact('kept', 'i3')])
  log.append([{ type: 'set', label: { seq: 4, text: 'here' } }, { type: 'omit', record: 4 }])
  log.append([{ type: 'compact', summary: 's', keep: 4, tokens: { before: 2, after: 1 } }])
  log.close()
  const to = join(folder, 'to.jsonl')
  forkSession(from, to, session, { now })
  expect(records(to)).toMatchObject([{ type: 'session' }, { text: 'hello' }, { seq: 2, text: 'kept' }, { label: { seq: 2 } }, { record: 2 }, { keep: 2 }])
})

test('a setting that was made on an abandoned path still holds in the fork', () => {
  const folder = scratch()
  const from = join(folder, 'from.jsonl')
  const log = begun(from)
  log.append([{ type: 'set', mode: 'full' }, { type: 'set', mode: 'plan' }, { type: 'rewind', to: 2 }, inputFact('on', 'i2')])
  log.close()
  forkSession(from, join(folder, 'to.jsonl'), session, { now })
  expect(records(join(folder, 'to.jsonl')).filter(({ type }) => type === 'set')).toMatchObject([{ mode: 'full' }, { mode: 'plan' }])
})

test('an import leaves behind what the other session allowed', () => {
  const to = join(scratch(), 'to.jsonl')
  expect(forkSession(join(fixtures, 'tools.jsonl'), to, session, { now, imported: true })).toBe(null)
  const text = readFileSync(to, 'utf8')
  expect(text).not.toContain('"grant"')
  expect(text).not.toContain('"mode"')
  expect(text).toContain('"model":"local/m"')
})

test('damage is left behind, unknown records are not', () => {
  const folder = scratch()
  const to = join(folder, 'to.jsonl')
  forkSession(join(fixtures, 'damaged', 'other-session.jsonl'), to, session, { now })
  expect(opened(to, { watch: true }).damage).toEqual([])
  expect(records(to).length).toBe(27)
  forkSession(join(fixtures, 'unknown.jsonl'), join(folder, 'u.jsonl'), session, { now })
  expect(readFileSync(join(folder, 'u.jsonl'), 'utf8')).toContain('"type":"weather"')
})

test('a blob is shared by a session and its fork, and gone with the last of them', () => {
  const folder = scratch()
  const from = join(folder, 'from.jsonl')
  const log = begun(from)
  const used = openBlobs(blobsOf(from)).put('used')
  openBlobs(blobsOf(from)).put('not used')
  log.append([{ type: 'result', run: 'r', call: 'c', status: 'ok', text: '', output: used }])
  log.close()
  const to = join(folder, 'to.jsonl')
  forkSession(from, to, session, { now })
  const path = join(blobsOf(to), used.sha256.slice(0, 2), used.sha256.slice(2))
  expect(statSync(path).nlink).toBe(2)
  expect(readdirSync(blobsOf(to)).length).toBe(1)
  expect(removeSession(from, 1)).toBe(null)
  expect(Buffer.from(openBlobs(blobsOf(to)).get(used.sha256) ?? []).toString()).toBe('used')
  expect(removeSession(to, 1)).toBe(null)
  expect(readdirSync(folder)).toEqual([])
})

test('a fork does not count what its origin paid', async () => {
  const folder = scratch()
  const to = join(folder, '20300101T000000Z_copy.jsonl')
  forkSession(join(fixtures, 'tools.jsonl'), to, session, { now: () => 1_900_000_000_000 })
  expect((await listSessions(folder))[0]).toMatchObject({ id: 'copy', cost: 0, created: 1_900_000_000_000, hasInput: true })
})

test('a fork replaces nothing, and says what stood in its way', () => {
  const folder = scratch()
  const to = join(folder, 'to.jsonl')
  writeFileSync(to, 'mine')
  expect(forkSession(join(fixtures, 'plain.jsonl'), to, session, { now })).toMatchObject({ kind: 'exists' })
  expect(readFileSync(to, 'utf8')).toBe('mine')
  mkdirSync(join(folder, 'dir.jsonl'))
  expect(forkSession(join(folder, 'dir.jsonl'), join(folder, 'x.jsonl'), session, { now })).toMatchObject({ kind: 'not-writable' })
  expect(readdirSync(folder).sort()).toEqual(['dir.jsonl', 'to.jsonl'])
})
