import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkpoints } from '../../src/session/checkpoint.ts'
import { BOUND, isDue, pruneCheckpoints, sizeOfCheckpoints, wantedOf, type PruneOptions } from '../../src/session/checkpoint-prune.ts'
import { treesIn } from '../../src/session/kept-trees.ts'
import { takeLock } from '../../src/session/lock.ts'
import { removeSession } from '../../src/session/store.ts'
import { repo, write } from '../os/git-repos.ts'

const DAY = 24 * 60 * 60 * 1_000
const NOW = Date.now()
const never = new AbortController().signal
const PIECE = 300_000

/** A root with sessions whose runs each changed a large file, and states of the files before and after. */
function place() {
  const root = repo()
  const folder = join(root, '.agent', 'sessions')
  const options = { dir: join(folder, 'checkpoints'), root }
  const of = checkpoints(options)
  mkdirSync(folder, { recursive: true })
  const lines = new Map<string, object[]>()
  const add = (id: string, record: object, at: number): void => {
    const all = lines.get(id) ?? [{ seq: 0, at, type: 'session', version: 1, id, cwd: root, root }]
    all.push({ seq: all.length, at, ...record })
    lines.set(id, all)
    writeFileSync(join(folder, `20260101T000000Z_${id}.jsonl`), all.map((each) => `${JSON.stringify(each)}\n`).join(''))
  }
  return {
    root, folder, options, of, add,
    file: (id: string) => join(folder, `20260101T000000Z_${id}.jsonl`),
    /** A run that changes the file, so many days ago; the state before it. */
    async run(id: string, run: string, days: number): Promise<string> {
      const { tree } = await of.take('before', never)
      add(id, { type: 'checkpoint', run, why: "before the run's first change", tree }, NOW - days * DAY)
      add(id, { type: 'outcome', run, status: 'done', reason: 'x'.repeat(100) }, NOW - days * DAY)
      write(root, 'large.bin', randomBytes(PIECE))
      return tree!
    },
    holds: async (tree: string): Promise<boolean> => (await of.states(tree, [join(root, 'large.bin')])).size > 0 && (await checkpoints(options).meta(tree)) !== null,
    prune: (more: Partial<PruneOptions> = {}) => pruneCheckpoints(options, { now: NOW, signal: never, force: true, ...more }),
  }
}

test('needed are the last runs of sessions in use; what is older goes with time, and what is left makes room when there is too much', () => {
  const tree = (name: string, days: number, run: string | null) => ({ tree: name, at: NOW - days * DAY, run })
  const used = [tree('a', 40, 'r1'), tree('b', 20, 'r2'), tree('c', 10, 'r3'), tree('d', 10, 'r3'), tree('e', 9, null), tree('f', 5, 'r4'), tree('g', 1, 'r5')]
  const resting = [tree('m', 90, 'r1'), tree('n', 80, 'r2'), tree('o', 80, null)]
  expect(wantedOf([used, resting, []], NOW, BOUND)).toEqual({ needed: ['c', 'd', 'e', 'f', 'g'], optional: ['b', 'n', 'o'] })
  // A fork names the same states: needed by one is needed.
  expect(wantedOf([used, used.slice(0, 2)], NOW, BOUND)).toEqual({ needed: ['c', 'd', 'e', 'f', 'g', 'a', 'b'], optional: [] })
})

test('states that no session needs any more are dropped, and all others can be put back byte for byte', async () => {
  const at = place()
  const old = await at.run('s1', 'r1', 60)
  const kept = [await at.run('s1', 'r2', 3), await at.run('s1', 'r3', 2), await at.run('s1', 'r4', 1)]
  const gone = await at.run('s2', 'r1', 1)
  const last = await at.run('s3', 'r1', 1)
  rmSync(at.file('s2'))
  const bytes = await Promise.all(kept.map((tree) => at.of.file(tree, join(at.root, 'large.bin'))))
  const before = await sizeOfCheckpoints(at.options)
  const pruned = await at.prune()
  expect(pruned!.before).toBe(before)
  expect(pruned!.after).toBeLessThan(before - PIECE / 2)
  expect(await Promise.all([old, gone].map((tree) => checkpoints(at.options).meta(tree)))).toEqual([null, null])
  const again = checkpoints(at.options)
  for (const [index, tree] of kept.entries()) expect(await again.file(tree, join(at.root, 'large.bin'))).toEqual(bytes[index])
  expect(await again.meta(last)).not.toBeNull()
  // The next state is taken as ever, and nothing names the states for git.
  expect(await at.holds(await at.run('s1', 'r5', 0))).toBe(true)
  const [store = ''] = readdirSync(at.options.dir)
  expect(existsSync(join(at.options.dir, store, 'git/packed-refs'))).toBe(false)
})

test('what was just written stays while a session is open, whoever needs it', async () => {
  const at = place()
  const tree = await at.run('s1', 'r1', 1)
  rmSync(at.file('s1'))
  await at.run('s2', 'r1', 0)
  const locked = takeLock(at.file('s2').replace(/jsonl$/, 'lock'), NOW)
  expect(await at.prune()).not.toBeNull()
  expect(await checkpoints(at.options).meta(tree)).not.toBeNull()
  if (locked.ok) locked.lock.release()
  expect(await at.prune()).not.toBeNull()
  expect(await checkpoints(at.options).meta(tree)).toBeNull()
})

test('where there is too much, the oldest of what is not needed go first', async () => {
  const at = place()
  const trees = []
  for (let run = 0; run < 8; run++) trees.push(await at.run('s1', `r${run}`, 10 - run))
  await at.prune({ bound: { ...BOUND, bytes: 5.5 * PIECE } })
  const left = await Promise.all(trees.map(async (tree) => (await checkpoints(at.options).meta(tree)) !== null))
  expect(left.slice(5)).toEqual([true, true, true])
  expect(left.slice(0, 3)).toEqual([false, false, false])
  expect(left[4]).toBe(true)
})

test('with the last session all of it goes, and what a session names goes with it', async () => {
  const at = place()
  await at.run('s1', 'r1', 0)
  await at.prune()
  expect(existsSync(at.file('s1').replace(/jsonl$/, 'trees'))).toBe(true)
  expect(removeSession(at.file('s1'), NOW)).toBeNull()
  expect(readdirSync(at.folder).filter((name) => name.includes('s1'))).toEqual([])
  expect(existsSync(at.options.dir)).toBe(false)
  expect(await at.prune()).toBeNull()
  await at.run('s2', 'r1', 0)
  rmSync(at.file('s2'))
  expect(await at.prune()).toMatchObject({ after: 0 })
  expect(readdirSync(at.options.dir)).toEqual([])
})

test('each byte of a log is looked at once, and a log that was cut off or damaged costs only what is damaged', async () => {
  const at = place()
  const first = await at.run('s1', 'r1', 1)
  expect((await treesIn(at.folder)).flat().map(({ tree }) => tree)).toEqual([first])
  const cached = at.file('s1').replace(/jsonl$/, 'trees')
  writeFileSync(cached, readFileSync(cached, 'utf8').replace(first, 'as it was found then'))
  const second = await at.run('s1', 'r2', 0)
  expect((await treesIn(at.folder)).flat().map(({ tree }) => tree)).toEqual(['as it was found then', second])
  writeFileSync(cached, '{')
  writeFileSync(at.file('s1'), `${readFileSync(at.file('s1'), 'utf8')}\0\0\n{"seq":9,"at":1,"type":"checkpoint","why":"x","tree":"${'0'.repeat(40)}"}\n{"seq":10,"at":1,"type":"checkp`)
  expect((await treesIn(at.folder)).flat().map(({ tree }) => tree)).toEqual([first, second, '0'.repeat(40)])
})

test('it is time once a day, and one that is cancelled or beside another one leaves all as it was', async () => {
  const at = place()
  expect(isDue(at.options, NOW)).toBe(false)
  const tree = await at.run('s1', 'r1', 0)
  expect([isDue(at.options, NOW), isDue(at.options, NOW + DAY / 2), isDue(at.options, NOW + 2 * DAY)]).toEqual([false, false, true])
  expect(await at.prune({ force: false })).toBeNull()
  const cancelled = new AbortController()
  cancelled.abort()
  expect(await at.prune({ signal: cancelled.signal })).toBeNull()
  const [store = ''] = readdirSync(at.options.dir)
  const lock = join(at.options.dir, store, 'prune.lock')
  mkdirSync(lock)
  expect(await at.prune()).toBeNull()
  utimesSync(lock, (NOW - DAY) / 1_000, (NOW - DAY) / 1_000)
  expect(await at.prune()).not.toBeNull()
  expect(existsSync(lock)).toBe(false)
  expect(await checkpoints(at.options).meta(tree)).not.toBeNull()
})
