import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { carryOutPlan, certain, diffOf, planLast, planLastRedo, planTo, type ToUndo } from '../../src/cli/undo-runs.ts'
import type { Fact } from '../../src/core/record.ts'
import { openLog } from '../../src/session/open-log.ts'
import { repo, write } from '../os/git-repos.ts'
import { never, session } from '../session/undo-log.ts'

/** A session of two runs, the second of which was compacted in its middle: opened, only its end is in memory. */
async function compacted(): Promise<ToUndo & { cwd: string; begun: number[] }> {
  const cwd = repo()
  write(cwd, 'b.txt', 'b\n')
  const log = session(cwd)
  const begun: number[] = []
  const begin = (run: string): void => {
    log.begin(run)
    begun.push(log.records.length - 1)
    log.append({ type: 'input', id: `i${run}`, text: run, from: 'user' })
    log.append({ type: 'step', run, number: 1, attempt: 1, inputs: [`i${run}`], model: 'm', request: { sha256: '', bytes: 1 } })
  }
  log.append({ type: 'session', version: 1, id: 's1', cwd, root: cwd })
  begin('r1')
  await log.tool('a.txt', 'one\n')
  await log.end()
  begin('r2')
  await log.tool('b.txt', 'two\n')
  await log.command('make', () => write(cwd, 'made.txt', 'made\n'))
  const totals = { steps: 2, calls: 3, input: 1, output: 1, cost: 0, costUnknown: false }
  log.append({ type: 'compact', summary: 's', keep: log.records.length, tokens: { before: 2, after: 1 }, carry: { grants: [], totals, seen: [], inputs: [] } })
  log.append({ type: 'step', run: 'r2', number: 2, attempt: 1, inputs: [], model: 'm', request: { sha256: '', bytes: 1 } })
  await log.tool('c.txt', 'c\n')
  await log.end()
  const file = join(cwd, '.agent', 'sessions', '20260101T000000Z_s1.jsonl')
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, log.records.map((record) => `${JSON.stringify(record)}\n`).join(''), { mode: 0o600 })
  const opened = openLog(file, { now: () => Date.now() })
  if (!opened.ok) throw new Error(opened.fault.message)
  expect(opened.log.base).toBeGreaterThan(begun[1]!)
  return { cwd, begun, log: opened.log, root: cwd, checkpoints: log.deps.checkpoints, blobs: log.deps.blobs }
}

const paths = (of: { cwd: string }, plan: Awaited<ReturnType<typeof planLast>>): string[] => plan!.entries.map(({ path, action, verdict }) => `${verdict} ${action} ${path.slice(of.cwd.length + 1)}`)
const record = (of: ToUndo) => (fact: Fact): void => void of.log.append([fact])

test('a run that began before what is in memory is undone as a whole, and then the one before it', async () => {
  const of = await compacted()
  const plan = await planLast(of, never)
  expect(paths(of, plan)).toEqual(['yes restore b.txt', 'yes delete c.txt', 'ask delete made.txt'])
  await carryOutPlan(of, plan!, new Set(plan!.entries.map(({ path }) => path)), record(of), never)
  expect([readFileSync(join(of.cwd, 'b.txt'), 'utf8'), existsSync(join(of.cwd, 'made.txt')), existsSync(join(of.cwd, 'c.txt'))]).toEqual(['b\n', false, false])
  const before = await planLast(of, never)
  expect(paths(of, before)).toEqual(['yes restore a.txt'])
  await carryOutPlan(of, before!, certain(before!), record(of), never)
  expect(await planLast(of, never)).toBeNull()
  const redo = await planLastRedo(of, never)
  expect(paths(of, redo)).toEqual(['yes restore a.txt'])
  of.log.close()
})

test('files go back to any place of before what is in memory, and a diff of the session is of all of it', async () => {
  const of = await compacted()
  expect(paths(of, await planTo(of, of.begun[0]!, never))).toEqual(['yes restore a.txt', 'yes restore b.txt', 'yes delete c.txt', 'ask delete made.txt'])
  expect(paths(of, await planTo(of, of.begun[1]!, never))).toEqual(['yes restore b.txt', 'yes delete c.txt', 'ask delete made.txt'])
  const heads = (diff: string): string[] => diff.match(/^\+\+\+ .*/gm) ?? []
  expect(heads(await diffOf(of, 'session', never))).toEqual(['+++ b/a.txt', '+++ b/b.txt', '+++ b/c.txt', '+++ b/made.txt'])
  expect(heads(await diffOf(of, 'run', never))).toEqual(['+++ b/b.txt', '+++ b/c.txt', '+++ b/made.txt'])
  of.log.close()
})
