import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTerminal } from '../support/interactive.ts'
import { openWorld, say, type World } from '../support/world.ts'

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures', 'sessions')

/** A world that has this damaged session, as if it had been begun there. */
async function withSession(name: string): Promise<{ world: World; file: string; bytes: Buffer }> {
  const world = await openWorld([say('As before.')], { git: false, unchecked: true })
  world.configure({ providers: { local: world.server.providers.chat } })
  const folder = join(world.repo, '.agent', 'sessions')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `20261129T000000Z_tools.jsonl`)
  const bytes = Buffer.from(readFileSync(join(FIXTURES, `${name}.jsonl`), 'latin1').replaceAll('"/w"', JSON.stringify(world.repo)), 'latin1')
  writeFileSync(file, bytes, { mode: 0o600 })
  return { world, file, bytes }
}

/** What is shown where it stands, and how the session goes on. In each the rest of it is there, and no byte of it is written anew. */
it.each<[string, string, RegExp]>([
  ['a torn tail', 'torn-tail', /verified[^]*the log is damaged: the last write was cut off\n$/],
  ['half a line in the middle', 'half-line', /the log is damaged: half a record\n[^]*the log is damaged: record 4 is missing\n[^]*verified[^]*not delivered yet: Fix the failing test, please\.\n$/],
  ['a block of NULs', 'nul-block', /the log is damaged: 400 NUL bytes\n[^]*verified/],
  ['lines that end in CRLF', 'crlf', /^(?![^]*damaged)[^]*verified/],
  ['a BOM', 'bom', /^(?![^]*damaged)[^]*verified/],
  ['U+2028 and its like', 'separators', /^(?![^]*damaged)[^]*> abcdef[^]*verified/],
  ['numbers that come twice', 'second-record', /the log is damaged: a second record 6\n+the log is damaged: a second record 7\n/],
  ['numbers that are missing', 'missing-records', /the log is damaged: records 8 to 12 are missing\n/],
  ['lines of another session', 'other-session', /the log is damaged: another session's records\n/],
  ['bytes that are no text', 'binary', /the log is damaged: bytes that are no text\n[^]*verified/],
])('%s: shown as a gap, gone on with, not rewritten', async (_, name, shown) => {
  const { world, file, bytes } = await withSession(`damaged/${name}`)
  const show = await world.run(['sessions', 'show', 'tools'])
  expect([show.code, show.stderr, show.stdout]).toEqual([0, '', expect.stringMatching(shown)])
  expect(readFileSync(file).equals(bytes)).toBe(true)
  const { code, stdout, stderr } = await world.run(['-c', '-p', 'and now?'])
  expect([code, stdout]).toEqual([0, 'As before.\n'])
  expect(stderr).toMatch(show.stdout.includes('damaged') ? /^tiller: \S+ is damaged in (one place|\d+ places) \(at byte \d+: [^\n]+the file is left as it is\.\n$/ : /^$/)
  expect(JSON.stringify(world.server.requests.at(-1)?.body['messages'])).toMatch(/sum\.js.*and now\?/)
  expect(readFileSync(file).subarray(0, bytes.length).equals(bytes), 'nothing of it was rewritten').toBe(true)
})

it('a record of a type that nobody knows is kept and passed over', async () => {
  const { world, file, bytes } = await withSession('unknown')
  expect((await world.run(['sessions', 'show', 'tools'])).stdout).not.toContain('damaged')
  const { code, stderr } = await world.run(['-c', '-p', 'and now?'])
  expect([code, stderr]).toEqual([0, ''])
  expect(readFileSync(file).subarray(0, bytes.length).equals(bytes)).toBe(true)
})

it('a newer version is shown and not written to', async () => {
  const { world, file, bytes } = await withSession('damaged/newer-version')
  expect((await world.run(['sessions', 'show', 'tools'])).stdout).toContain('Fix the failing test')
  expect(await world.run(['-c', '-p', 'more'])).toMatchObject({ code: 2, stderr: expect.stringMatching(/newer version/) })
  expect(readFileSync(file).equals(bytes)).toBe(true)
})

it('on the screen the gap stands where it is', async () => {
  const { world } = await withSession('damaged/half-line')
  const terminal = openTerminal(world, ['-c'], { rows: 50 })
  await terminal.waitFor(/the log is damaged: half a record[^]*the log is damaged: record 4 is missing[^]*verified[^]*going on with/)
})
