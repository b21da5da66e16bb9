import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { openBlobs } from '../../src/session/blob.ts'
import { blobsOf, draftOf, outputsOf } from '../../src/session/companion.ts'
import { readDraft, takeLeftDraft, writeDraft } from '../../src/session/draft.ts'
import { findSession } from '../../src/session/find.ts'
import { completeSessions, listSessions, newestSession, sessionEntry, sessionsIn } from '../../src/session/list.ts'
import { createLog } from '../../src/session/log.ts'
import { searchSessions } from '../../src/session/search.ts'
import { newId, removeSession, renameSession, sessionFile, sessionFolder, whyElsewhere, whyNotWritable } from '../../src/session/store.ts'
import { begun, fixtures, inputFact, now, opened, scratch, sessionFact } from './scratch.ts'

const place = (folder: string, id: string, time = 1_796_000_000_000): string => sessionFile(folder, id, time)

/** Puts a fixture there as a session of its own. */
function put(folder: string, fixture: string, id: string, root = '/w', at = 0): string {
  const file = place(folder, id, 1_796_000_000_000 + at)
  const text = readFileSync(join(fixtures, `${fixture}.jsonl`), 'utf8').replace(/"id":"[a-z]+","cwd":"\/w","root":"\/w"/, `"id":"${id}","cwd":"${root}","root":"${root}"`)
  writeFileSync(file, at === 0 ? text : text.replaceAll(/"at":(\d+)/g, (_, time: string) => `"at":${Number(time) + at}`), { mode: 0o600 })
  return file
}

test('a session lies in its root, under its time and id', () => {
  expect(sessionFolder('/repo')).toBe('/repo/.agent/sessions')
  expect(sessionFolder('/repo', 'elsewhere')).toBe('/repo/elsewhere')
  expect(sessionFolder('/repo', '/abs')).toBe('/abs')
  expect(sessionFile('/d', 'abc', Date.UTC(2026, 0, 2, 3, 4, 5))).toBe('/d/20260102T030405Z_abc.jsonl')
  expect(newId()).toMatch(/^[0-9a-z]{12}$/)
})

test('an entry says what its session is about, from the file alone', async () => {
  const folder = scratch()
  put(folder, 'rewound', 'aaa')
  const [entry] = await listSessions(folder)
  expect(entry).toMatchObject({
    id: 'aaa', title: 'Two ways', words: 'First way.', hasInput: true, cwd: '/w', root: '/w', branch: 'main', outcome: 'done', complete: true,
    created: 1_796_000_000_000, last: 1_796_000_022_000, costUnknown: false, foreign: false, locked: false, unreadable: null,
  })
  expect(entry?.cost).toBeCloseTo(4 * 0.0021)
})

test('a run that is open has no outcome, and an unknown price makes the cost a lower bound', async () => {
  const folder = scratch()
  put(folder, 'open', 'ooo')
  put(folder, 'compacted', 'ccc')
  const entries = await listSessions(folder)
  expect(entries.find(({ id }) => id === 'ooo')?.outcome).toBe(null)
  expect(entries.find(({ id }) => id === 'ccc')).toMatchObject({ outcome: 'done', costUnknown: true })
})

test('the newest activity comes first, other files are passed over, and what cannot be read is said', async () => {
  const folder = scratch()
  put(folder, 'plain', 'old')
  put(folder, 'plain', 'new', '/w', 60_000)
  mkdirSync(join(folder, 'dir.jsonl'))
  writeFileSync(join(folder, 'notes.txt'), 'x')
  const entries = await listSessions(folder)
  expect(entries.map(({ id }) => id)).toEqual(['new', 'old', 'dir'])
  expect(entries[2]).toMatchObject({ unreadable: 'it is not a file', hasInput: false })
  expect(await listSessions(join(folder, 'none'))).toEqual([])
})

test('a large session is read at its ends only, until somebody asks for the rest', async () => {
  const folder = scratch()
  const file = place(folder, 'big')
  const log = createLog(file, { id: 'big', now })
  log.append([sessionFact('big'), inputFact('the question'), { type: 'set', title: 'Old title' }])
  const reply = { type: 'reply' as const, run: 'r', parts: [{ type: 'text' as const, text: 'x'.repeat(4000) }], stop: 'end' as const, usage: { input: 1, output: 1 }, cost: 0.5 }
  for (let index = 0; index < 10; index++) log.append(Array.from({ length: 60 }, () => reply))
  log.append([{ type: 'set', title: 'In the middle' }])
  for (let index = 0; index < 10; index++) log.append(Array.from({ length: 60 }, () => reply))
  log.append([{ type: 'outcome', run: 'r', status: 'verified', reason: 'ok' }])
  log.close()
  expect(statSync(file).size).toBeGreaterThan(4_000_000)
  const before = bytesRead()
  const entries = await listSessions(folder)
  if (before !== null) expect((bytesRead() ?? 0) - before).toBeLessThan(300_000)
  expect(entries[0]).toMatchObject({ words: 'the question', title: null, outcome: 'verified', cost: null, complete: false })

  const filled = []
  for await (const entry of completeSessions(folder, entries)) filled.push(entry)
  expect(filled).toMatchObject([{ title: 'In the middle', cost: 600, complete: true, outcome: 'verified' }])
  expect(await listSessions(folder)).toEqual(filled)

  // What was learned stays learned when the session goes on.
  const again = opened(file)
  again.append([{ ...reply, cost: 1 }])
  again.close()
  expect((await listSessions(folder))[0]).toMatchObject({ title: 'In the middle', cost: 601, complete: true })
})

/** By this process so far; null where the system does not say. */
function bytesRead(): number | null {
  try {
    return Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
  } catch {
    return null
  }
}

test('the list of many sessions costs a stat a file the second time, and its memory is a file that can be lost or broken', async () => {
  const folder = scratch()
  for (let index = 0; index < 300; index++) put(folder, 'tools', `id${index}`)
  const first = await listSessions(folder)
  const before = bytesRead()
  expect(await listSessions(folder)).toEqual(first)
  if (before !== null) expect((bytesRead() ?? 0) - before).toBeLessThan(300 * 1000)
  expect(statSync(join(folder, '.list-cache.json')).mode & 0o777).toBe(0o600)
  const name = basename(place(folder, 'id1'))
  for (const text of ['', '{', '{"version":9}\n', '{"version":2}\n[1]\nnull\n\n', `{"version":2}\n["${name}",1,2,{"scanned":"x"}]\n["${name}"\n`]) {
    writeFileSync(join(folder, '.list-cache.json'), text)
    expect(await listSessions(folder)).toEqual(first)
  }
  writeFileSync(place(folder, 'id7'), readFileSync(join(fixtures, 'plain.jsonl')))
  expect((await listSessions(folder)).find(({ file }) => file.endsWith('_id7.jsonl'))).toMatchObject({ words: 'What does this do?' })
})

test('many sessions come in pieces, the newest made first, and can be stopped', async () => {
  const folder = scratch()
  for (let index = 0; index < 600; index++) put(folder, 'plain', `id${index}`, '/w', index * 1000)
  const pieces = []
  for await (const piece of sessionsIn(folder)) pieces.push(piece.map(({ id }) => id))
  expect(pieces.map(({ length }) => length)).toEqual([250, 250, 100])
  expect(pieces[0]?.[0]).toBe('id599')
  const stop = new AbortController()
  stop.abort()
  await expect(listSessions(folder, stop.signal)).rejects.toThrow('aborted')
})

test('what completes the list stops when it is told to, and keeps what it has learned', async () => {
  const folder = scratch()
  for (const id of ['one', 'two']) {
    const log = createLog(place(folder, id), { id, now })
    log.append([sessionFact(id), inputFact('the question'), { type: 'set', title: `Title of ${id}` }])
    for (let index = 0; index < 100; index++) log.append([{ type: 'shell', command: 'x', exit: 0, text: 'x'.repeat(4000), model: false }])
    log.close()
  }
  const entries = await listSessions(folder)
  expect(entries.map(({ complete }) => complete)).toEqual([false, false])
  const stop = new AbortController()
  for await (const entry of completeSessions(folder, entries, stop.signal)) {
    expect(entry).toMatchObject({ title: 'Title of two', complete: true })
    stop.abort()
  }
  expect((await listSessions(folder)).map(({ title }) => title)).toEqual(['Title of two', null])
})

test('a session is found by its id, by what only it begins with, and by its path', async () => {
  const folder = scratch()
  const one = put(folder, 'plain', 'abc1')
  put(folder, 'tools', 'abd2')
  put(folder, 'tools', 'abc')
  expect(await findSession(folder, 'abc1')).toEqual({ ok: true, file: one })
  expect(await findSession(folder, 'abd')).toMatchObject({ ok: true })
  expect(await findSession(folder, 'abc')).toEqual({ ok: true, file: place(folder, 'abc') })
  expect(await findSession(folder, one)).toEqual({ ok: true, file: one })
  copyFileSync(join(fixtures, 'steered.jsonl'), join(folder, 'renamed_by-hand.jsonl'))
  expect(await findSession(folder, 'steer')).toEqual({ ok: true, file: join(folder, 'renamed_by-hand.jsonl') })
})

test('what is ambiguous or missing is said with suggestions', async () => {
  const folder = scratch()
  put(folder, 'plain', 'abc1')
  put(folder, 'tools', 'abd2', '/w', 5000)
  const ambiguous = await findSession(folder, 'ab')
  expect(ambiguous).toMatchObject({ ok: false, fault: { kind: 'ambiguous', suggestions: ['abd2', 'abc1'] } })
  if (!ambiguous.ok) expect(ambiguous.fault.message).toBe('2 sessions begin with "ab": abd2 (Fix the failing test, please.), abc1 (What does this do?). Give more of the id.')
  const missing = await findSession(folder, 'zzz')
  if (!missing.ok) expect(missing.fault.message).toMatch(/^No session has the id "zzz"\. The newest ones are abd2 \(Fix/)
  const similar = await findSession(folder, 'failing')
  expect(similar).toMatchObject({ ok: false, fault: { kind: 'missing', suggestions: ['abd2'] } })
  expect(await findSession(join(folder, 'none'), 'x')).toMatchObject({ ok: false, fault: { message: expect.stringContaining('There are none in') as string } })
  expect(await findSession(folder, './not/there.jsonl')).toMatchObject({ ok: false, fault: { kind: 'missing' } })
})

test('a session that cannot be read says so and hides no other', async () => {
  const folder = scratch()
  put(folder, 'plain', 'good')
  mkdirSync(join(folder, '20260101T000000Z_bad.jsonl'))
  expect((await listSessions(folder)).map(({ id, unreadable }) => [id, unreadable])).toEqual([['good', null], ['bad', 'it is not a file']])
  expect(await findSession(folder, 'bad')).toMatchObject({ ok: true })
})

test('continuing takes the newest session of exactly this root and folder that has an input', () => {
  const folder = scratch()
  put(folder, 'plain', 'mine', '/w/a-b/c')
  put(folder, 'plain', 'newer', '/w/a-b/c', 1000)
  put(folder, 'plain', 'other', '/w/a/b-c', 2000)
  const empty = place(folder, 'empty', 1_797_000_000_000)
  writeFileSync(empty, '{"seq":0,"at":1797000000000,"type":"session","version":1,"id":"empty","cwd":"/w/a-b/c","root":"/w/a-b/c"}\n')
  expect(newestSession(folder, { root: '/w/a-b/c', cwd: '/w/a-b/c' })?.id).toBe('newer')
  expect(newestSession(folder, { root: '/w/a/b-c', cwd: '/w/a/b-c' })?.id).toBe('other')
  expect(newestSession(folder, { root: '/w/a-b/c', cwd: '/w/a-b/c/sub' })).toBe(null)
  expect(newestSession(join(folder, 'none'), { root: '/w', cwd: '/w' })).toBe(null)
})

test('times of files do not decide: what is newest is what was said last', () => {
  const folder = scratch()
  const old = put(folder, 'plain', 'old')
  const young = put(folder, 'plain', 'young', '/w', 60_000)
  utimesSync(old, 1_796_000_500, 1_796_000_500)
  utimesSync(young, 1_796_000_400, 1_796_000_400)
  expect(newestSession(folder, { root: '/w', cwd: '/w' })?.id).toBe('young')
})

test('a session of another root is told from one of here, with the way to go on there while that is there', () => {
  const there = scratch()
  const session = { id: 'abc', root: there }
  expect(whyElsewhere(session, { root: there })).toBe(null)
  expect(whyElsewhere(session, { root: `${there}-2` })?.message).toContain(`(tiller -C ${there} -r abc), or take a copy of it here with --fork abc.`)
  expect(whyElsewhere(session, { root: '/w' }, '/some/where.jsonl')?.message).toContain('--fork /some/where.jsonl')
  expect(whyElsewhere({ id: 'abc', root: `${there}/gone` }, { root: '/w' })?.message).toMatch(/is not there any more: take a copy of it here with --fork abc/)
})

test('a session of a work tree beside this one is found after those of here, and a folder that cannot be read hides no other', async () => {
  const [here, beside] = [scratch(), scratch()]
  put(here, 'plain', 'abc1')
  const other = put(beside, 'plain', 'abd2')
  put(beside, 'plain', 'abc3')
  expect(await findSession([here, beside], 'ab')).toMatchObject({ ok: true, file: expect.stringContaining('abc1') as string })
  expect(await findSession([here, beside], 'abd')).toEqual({ ok: true, file: other })
  expect(await findSession([here, beside], 'zz')).toMatchObject({ ok: false, fault: { suggestions: ['abc1', 'abd2', 'abc3'] } })
  writeFileSync(join(here, 'a file'), '')
  expect(await findSession([join(here, 'a file'), beside], 'abd')).toEqual({ ok: true, file: other })
  expect(await findSession([join(here, 'a file'), beside], 'zz')).toMatchObject({ ok: false, fault: { kind: 'unreadable' } })
  expect(await findSession([here, join(here, 'a file')], 'zz')).toMatchObject({ ok: false, fault: { kind: 'missing' } })
})

test('a rename is one more record, also in a session that is not read as a whole', async () => {
  const folder = scratch()
  const file = put(folder, 'compacted', 'abc')
  const before = readFileSync(file, 'utf8')
  expect(renameSession(file, 'A better name', now)).toBe(null)
  expect(readFileSync(file, 'utf8').startsWith(before)).toBe(true)
  expect(JSON.parse(readFileSync(file, 'utf8').slice(before.length))).toMatchObject({ seq: 29, type: 'set', title: 'A better name' })
  expect((await listSessions(folder))[0]?.title).toBe('A better name')
  expect(renameSession(file, ' \n', now)).toMatchObject({ message: 'A title has to say something.' })
  const log = opened(file)
  expect(renameSession(file, 'no', now)).toMatchObject({ kind: 'locked', message: expect.stringMatching(/^The session abc is open in this program: rename it there with \/title/) as string })
  log.close()
  expect(renameSession(file, ' two\n lines ', now)).toBe(null)
  expect(sessionEntry(file).title).toBe('two lines')
})

test('removing takes everything of a session, nothing of another, and nothing that is open', () => {
  const folder = scratch()
  const file = place(folder, 'abc')
  const log = begun(file, 'abc')
  openBlobs(blobsOf(file)).put('a large output')
  mkdirSync(outputsOf(file))
  writeDraft(file, 'unsent')
  const other = place(folder, 'abcd')
  begun(other, 'abcd').close()
  expect(removeSession(file, 1)).toMatchObject({ kind: 'locked' })
  expect(existsSync(file)).toBe(true)
  log.close()
  expect(removeSession(file, 1)).toBe(null)
  expect(readdirSync(folder)).toEqual([basename(other)])
  expect(removeSession(file, 1)).toMatchObject({ kind: 'missing' })
  expect(readdirSync(folder)).toEqual([basename(other)])
})

test('text is found in all that was said, called and shown, whatever the case and order', async () => {
  const folder = scratch()
  const files = ['tools', 'steered', 'compacted'].map((name) => put(folder, name, name))
  const search = async (query: string): Promise<string[]> => {
    const hits = []
    for await (const hit of searchSessions(files, query)) hits.push(`${basename(hit.file, '.jsonl').split('_')[1]} ${hit.seq} ${hit.type}: ${hit.excerpt}`)
    return hits
  }
  expect(await search('NOTES write')).toEqual(['steered 9 input: Then write the notes.'])
  expect(await search('a + b')).toEqual(['tools 11 reply: edit {"path":"sum.js","edits":[{"old":"a - b","new":"a + b"}]} shell {"command":"npm test"}'])
  expect(await search('"path":"sum.js"')).toHaveLength(2)
  expect(await search('two questions')).toEqual(['compacted 15 compact: Two questions were asked and answered.'])
  expect(await search('c0ffee')).toEqual([])
  expect(await search('  ')).toEqual([])
})

test('blobs are stored once, private, checked when read, and mended when put again', () => {
  const folder = join(scratch(), 's.blobs')
  const blobs = openBlobs(folder)
  const ref = blobs.put('the text')
  expect(ref).toEqual({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string, bytes: 8 })
  expect(blobs.put(Buffer.from('the text'))).toEqual(ref)
  expect(readdirSync(folder, { recursive: true }).length).toBe(2)
  const file = join(folder, ref.sha256.slice(0, 2), ref.sha256.slice(2))
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(Buffer.from(blobs.get(ref.sha256) ?? []).toString()).toBe('the text')
  writeFileSync(file, 'the TEXT')
  expect(blobs.get(ref.sha256)).toBe(undefined)
  blobs.put('the text')
  expect(readFileSync(file, 'utf8')).toBe('the text')
  writeFileSync(join(folder, 'secret'), 'x')
  expect(blobs.get('../secret')).toBe(undefined)
  expect(blobs.get('0'.repeat(64))).toBe(undefined)
})

test('a draft is kept beside the log, and gone when it is empty', () => {
  const folder = scratch()
  const file = place(join(folder, '.agent', 'sessions'), 'abc')
  expect(readDraft(file)).toBe('')
  writeDraft(file, '')
  expect(readdirSync(folder)).toEqual([])
  writeDraft(file, 'half a thought\n\u2028')
  expect(readDraft(file)).toBe('half a thought\n\u2028')
  expect(statSync(draftOf(file)).mode & 0o777).toBe(0o600)
  writeDraft(file, '')
  expect(existsSync(draftOf(file))).toBe(false)
  writeFileSync(draftOf(file), '\0\0')
  expect(readDraft(file)).toBe('')
})

test('a draft of a session that was never begun is offered once its writer is gone', () => {
  const folder = scratch()
  const file = place(folder, 'never')
  writeDraft(file, 'typed before the first send')
  expect(takeLeftDraft(folder)).toBe('')
  const draft = JSON.parse(readFileSync(draftOf(file), 'utf8')) as object
  writeFileSync(draftOf(file), JSON.stringify({ ...draft, started: '1' }))
  const begunFile = place(folder, 'begun')
  begun(begunFile, 'begun').close()
  writeFileSync(draftOf(begunFile), JSON.stringify({ ...draft, text: 'of a session that can be resumed', started: '1' }))
  expect(takeLeftDraft(folder)).toBe('typed before the first send')
  expect(takeLeftDraft(folder)).toBe('')
  expect(readDraft(begunFile)).toBe('of a session that can be resumed')
})

test('a place where no session can be kept is known before the first input', () => {
  const folder = scratch()
  expect(whyNotWritable(join(folder, 'a', 'b'))).toBe(null)
  expect(readdirSync(folder)).toEqual([])
  writeFileSync(join(folder, 'file'), '')
  expect(whyNotWritable(join(folder, 'file', 'x'))?.message).toMatch(/a part of the path is not a folder.*--session-dir/)
  if (process.geteuid?.() !== 0) {
    chmodSync(folder, 0o500)
    expect(whyNotWritable(join(folder, 'a'))?.message).toContain('EACCES')
    chmodSync(folder, 0o700)
  }
  rmSync(join(folder, 'file'))
})

test('a session among a person\'s own files takes nothing of theirs with it, and what is no session is not removed', () => {
  const folder = scratch()
  const file = join(folder, 'notes.jsonl')
  begun(file).close()
  for (const name of ['notes.md', 'notes.out-of-office', 'notes.lockfile', 'notes', 'letter.jsonl']) writeFileSync(join(folder, name), 'mine')
  for (const name of ['notes.draft', 'notes.lock.abc', 'notes.jsonl.0a.tmp']) writeFileSync(join(folder, name), 'ours')
  mkdirSync(join(folder, 'notes.blobs'))
  mkdirSync(join(folder, 'checkpoints'))
  expect(removeSession(join(folder, 'letter.jsonl'), 1)).toMatchObject({ kind: 'not-a-session' })
  expect(removeSession(file, 1)).toBe(null)
  expect(readdirSync(folder).sort()).toEqual(['checkpoints', 'letter.jsonl', 'notes', 'notes.lockfile', 'notes.md', 'notes.out-of-office'])
})

test('the last session of a folder takes the kept states of the work tree with it; one of which nothing can be read goes, too', () => {
  const folder = scratch()
  const [one, other] = [put(folder, 'tools', 'one'), place(folder, 'other')]
  writeFileSync(other, '{"seq":0,"at"')
  mkdirSync(join(folder, 'checkpoints', 'abc'), { recursive: true })
  expect(removeSession(other, 1)).toBe(null)
  expect(existsSync(join(folder, 'checkpoints'))).toBe(true)
  expect(removeSession(one, 1)).toBe(null)
  expect(readdirSync(folder)).toEqual([])
})
