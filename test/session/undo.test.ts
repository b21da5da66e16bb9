import { chmodSync, existsSync, lstatSync, linkSync, mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { madeDiff, undoDiff } from '../../src/session/file-diffs.ts'
import { undoableRuns, type Window } from '../../src/session/file-history.ts'
import { applyUndo, planRedo, planUndo, previewUndo, type UndoPlan } from '../../src/session/undo.ts'
import { planPath, type Known, type Point } from '../../src/session/undo-plan.ts'
import { folder, raw, repo, write } from '../os/git-repos.ts'
import { never, session, snapshot } from './undo-log.ts'

const read = (cwd: string, path: string): string => readFileSync(join(cwd, path), 'utf8')
const verdicts = (plan: UndoPlan, cwd: string): string[] => plan.entries.map(({ path, action, verdict }) => `${verdict} ${action} ${path.slice(cwd.length + 1)}`)

const certain = (plan: UndoPlan): string[] => plan.entries.filter(({ verdict }) => verdict === 'yes').map(({ path }) => path)
const asked = (plan: UndoPlan): string[] => plan.entries.filter(({ verdict }) => verdict === 'ask').map(({ path }) => path)

/** Puts back what is certain, and what is chosen besides. */
async function undo(log: ReturnType<typeof session>, run: string, chosen: 'none' | 'asked' | string[] = 'none'): Promise<{ plan: UndoPlan; left: string[] }> {
  const plan = await planUndo(log.deps, log.records, log.before(run), never)
  const { left } = await applyUndo(log.deps, plan, new Set([...certain(plan), ...(chosen === 'none' ? [] : chosen === 'asked' ? asked(plan) : chosen)]), log.append, never)
  return { plan, left: left.map(({ entry, why }) => `${entry.path.slice(log.deps.root.length + 1)}: ${why}`) }
}

test('what a run changed through tools goes back byte for byte, and what it made goes away with its empty folders', async () => {
  const cwd = repo()
  write(cwd, 'crlf.txt', '\ufeffone\r\ntwo\r')
  write(cwd, 'secret', 's\n', 0o600)
  mkdirSync(join(cwd, 'empty'))
  const before = snapshot(cwd)
  const log = session(cwd)
  log.begin('r1')
  await log.tool('crlf.txt', 'changed\n')
  await log.tool('crlf.txt', 'changed again\n')
  await log.tool('secret', null)
  await log.tool('new/deep/file.txt', 'n\n')
  await log.tool('empty/file.txt', 'n\n')
  await log.end()
  const { plan, left } = await undo(log, 'r1')
  expect(left).toEqual([])
  expect(verdicts(plan, cwd)).toEqual(['yes restore crlf.txt', 'yes delete empty/file.txt', 'yes delete new/deep/file.txt', 'yes restore secret'])
  expect(snapshot(cwd)).toEqual(before)
})

test('changes of a command are shown and asked, and put back only with a yes', async () => {
  const cwd = repo()
  write(cwd, 'b.txt', 'b\n', 0o640)
  symlinkSync('a.txt', join(cwd, 'link'))
  const before = snapshot(cwd)
  const log = session(cwd)
  log.begin('r1')
  await log.command('make mess', () => {
    write(cwd, 'data.csv', '1,2\n')
    write(cwd, 'b.txt', 'B\n')
    chmodSync(join(cwd, 'b.txt'), 0o755)
    rmSync(join(cwd, 'a.txt'))
    rmSync(join(cwd, 'link'))
    symlinkSync('b.txt', join(cwd, 'link'))
  })
  await log.tool('new.txt', 'n\n')
  await log.end()
  const plain = await undo(log, 'r1')
  expect(verdicts(plain.plan, cwd)).toEqual(['ask restore a.txt', 'ask restore b.txt', 'ask delete data.csv', 'ask restore link', 'yes delete new.txt'])
  expect(plain.plan.notes[0]).toContain('make mess')
  expect(existsSync(join(cwd, 'new.txt'))).toBe(false)
  expect(read(cwd, 'data.csv')).toBe('1,2\n')
  const asked = await undo(log, 'r1', 'asked')
  expect(asked.left).toEqual([])
  expect(snapshot(cwd)).toEqual(before)
})

test('what somebody changed since, or in between, is refused and stays, unless a person says yes to that very file', async () => {
  const cwd = repo()
  for (const name of ['since', 'between', 'early']) write(cwd, name, `${name}\n`)
  const log = session(cwd)
  log.begin('r1')
  await log.tool('since', 'agent\n')
  write(cwd, 'early', 'by the person\n')
  await log.tool('early', 'agent\n')
  await log.tool('between', 'agent\n')
  write(cwd, 'between', 'person\n')
  await log.tool('between', 'agent again\n')
  await log.end()
  write(cwd, 'since', 'person\n')
  const { plan, left } = await undo(log, 'r1')
  expect(verdicts(plan, cwd)).toEqual(['refuse restore between', 'refuse restore early', 'refuse restore since'])
  expect(left[0]).toContain('somebody else changed it after that')
  expect(read(cwd, 'since')).toBe('person\n')
  expect(plan.entries.find(({ path }) => path.endsWith('early'))!.why).toBe('no copy of it was kept')
  await undo(log, 'r1', [join(cwd, 'since')])
  expect(read(cwd, 'since')).toBe('since\n')
  expect(read(cwd, 'between')).toBe('agent again\n')
})

test('before-images that were kept otherwise are used where no checkpoint has the bytes', async () => {
  const cwd = repo()
  const log = session(cwd)
  log.begin('r1')
  await log.tool('x', 'agent\n')
  write(cwd, 'a.txt', 'by the person\n')
  await log.tool('a.txt', 'agent\n')
  await log.end()
  const bytes = Buffer.from('by the person\n')
  log.deps.blobs.put(bytes)
  expect(verdicts((await undo(log, 'r1')).plan, cwd)).toEqual(['yes restore a.txt', 'yes delete x'])
  expect(read(cwd, 'a.txt')).toBe('by the person\n')
})

test("other folders, untracked and ignored files, the index, refs and stash are not touched", async () => {
  const cwd = repo()
  write(cwd, 'pkg/a/x', 'a\n')
  write(cwd, 'pkg/b/x', 'b\n')
  write(cwd, '.gitignore', 'ignored\n')
  write(cwd, 'ignored', 'i\n')
  raw(cwd, 'add', '.')
  raw(cwd, 'commit', '-qm', 'mono')
  write(cwd, 'pkg/b/x', 'stashed\n')
  raw(cwd, 'stash')
  write(cwd, 'staged', 's\n')
  raw(cwd, 'add', 'staged')
  write(cwd, 'untracked', 'u\n')
  writeFileSync(join(cwd, 'huge'), '')
  truncateSync(join(cwd, 'huge'), 3 * 1024 ** 3)
  const log = session(join(cwd))
  log.begin('r1')
  await log.tool('pkg/a/x', 'agent\n')
  await log.end()
  write(cwd, 'pkg/b/x', 'person\n')
  const state = (): string[] => [raw(cwd, 'rev-parse', 'HEAD', 'stash'), raw(cwd, 'ls-files', '--stage'), read(cwd, 'ignored'), read(cwd, 'untracked'), read(cwd, 'pkg/b/x')]
  const before = state()
  await undo(log, 'r1')
  expect(read(cwd, 'pkg/a/x')).toBe('a\n')
  expect(state()).toEqual(before)
  expect(statSync(join(cwd, 'huge')).size).toBe(3 * 1024 ** 3)
})

test('an undo is undone by a redo, and that can be undone again', async () => {
  const cwd = repo()
  const log = session(cwd)
  log.begin('r1')
  await log.tool('a.txt', 'agent\n')
  await log.tool('new.txt', 'n\n')
  await log.end()
  const done = snapshot(cwd)
  expect(undoableRuns(log.records).map(({ run }) => run)).toEqual(['r1'])
  await undo(log, 'r1')
  expect(undoableRuns(log.records)).toEqual([])
  const redo = await planRedo(log.deps, log.records, never)
  await applyUndo(log.deps, redo!, new Set(certain(redo!)), log.append, never)
  expect(snapshot(cwd)).toEqual(done)
  expect(await planRedo(log.deps, log.records, never)).toBeNull()
  expect(undoableRuns(log.records).map(({ run }) => run)).toEqual(['r1'])
  await undo(log, 'r1')
  expect(read(cwd, 'a.txt')).toBe('a\n')
})

test('a person who changes a file after the undo is not overruled by the redo', async () => {
  const cwd = repo()
  const log = session(cwd)
  log.begin('r1')
  await log.tool('a.txt', 'agent\n')
  await log.end()
  await undo(log, 'r1')
  write(cwd, 'a.txt', 'person\n')
  const redo = await planRedo(log.deps, log.records, never)
  expect(verdicts(redo!, cwd)).toEqual(['refuse restore a.txt'])
})

test('several runs go back together, to before the first, and the last alone by itself', async () => {
  const cwd = repo()
  const log = session(cwd)
  log.begin('r1')
  await log.tool('a.txt', 'one\n')
  await log.end()
  log.begin('r2')
  await log.tool('a.txt', 'two\n')
  await log.tool('b.txt', 'b\n')
  await log.end()
  expect(verdicts(await planUndo(log.deps, log.records, log.before('r2'), never), cwd)).toEqual(['yes restore a.txt', 'yes delete b.txt'])
  await undo(log, 'r1')
  expect(read(cwd, 'a.txt')).toBe('a\n')
  expect(existsSync(join(cwd, 'b.txt'))).toBe(false)
})

test('a run that a crash cut off is undone too: its started edit, and its command, whose end nobody saw', async () => {
  const cwd = repo()
  write(cwd, 'c.txt', 'c\n')
  const log = session(cwd)
  log.begin('r1')
  await log.command('sed', () => write(cwd, 'c.txt', 'C\n'), false)
  await log.tool('a.txt', 'agent\n', 'lost')
  const { plan } = await undo(log, 'r1', 'asked')
  expect(verdicts(plan, cwd)).toEqual(['yes restore a.txt', 'ask restore c.txt'])
  expect([read(cwd, 'a.txt'), read(cwd, 'c.txt')]).toEqual(['a\n', 'c\n'])
})

test('files that became folders and folders that became files go back', async () => {
  const cwd = repo()
  write(cwd, 'dir/x', 'x\n')
  write(cwd, 'file', 'f\n')
  const before = snapshot(cwd)
  const log = session(cwd)
  log.begin('r1')
  await log.command('swap', () => {
    rmSync(join(cwd, 'dir'), { recursive: true })
    write(cwd, 'dir', 'file now\n')
    rmSync(join(cwd, 'file'))
    write(cwd, 'file/in', 'in\n')
  })
  await log.end()
  expect((await undo(log, 'r1', 'asked')).left).toEqual([])
  expect(snapshot(cwd)).toEqual(before)
})

test('a link on the way is not followed, and hard links and owners stay', async () => {
  const cwd = repo()
  const outside = folder()
  write(outside, 'x', 'outside\n')
  write(cwd, 'dir/x', 'x\n')
  linkSync(join(cwd, 'a.txt'), join(cwd, 'other-name'))
  const log = session(cwd)
  log.begin('r1')
  await log.tool('dir/x', 'agent\n')
  await log.tool('a.txt', 'agent\n')
  await log.end()
  renameSync(join(cwd, 'dir'), join(cwd, 'moved'))
  symlinkSync(outside, join(cwd, 'dir'))
  const { left } = await undo(log, 'r1', [join(cwd, 'dir/x')])
  expect(left.length).toBe(1)
  expect(read(outside, 'x')).toBe('outside\n')
  expect(readlinkSync(join(cwd, 'dir'))).toBe(outside)
  expect(read(cwd, 'other-name')).toBe('a\n')
  expect(lstatSync(join(cwd, 'a.txt')).nlink).toBe(2)
})

test('between plan and yes a file that changes is left alone', async () => {
  const cwd = repo()
  const log = session(cwd)
  log.begin('r1')
  await log.tool('a.txt', 'agent\n')
  await log.end()
  const plan = await planUndo(log.deps, log.records, log.before('r1'), never)
  write(cwd, 'a.txt', 'person\n')
  const { left } = await applyUndo(log.deps, plan, new Set(certain(plan)), log.append, never)
  expect(left.map(({ why }) => why)).toEqual(['it has changed a moment ago'])
  expect(read(cwd, 'a.txt')).toBe('person\n')
})

test('it works in a folder without git, and the preview and the diff say what would happen', async () => {
  const cwd = folder()
  write(cwd, 'x.txt', 'one\ntwo\n')
  const log = session(cwd)
  log.begin('r1')
  await log.tool('x.txt', 'one\n2\n')
  await log.command('touch y', () => write(cwd, 'y', ''))
  await log.end()
  const plan = await planUndo(log.deps, log.records, log.before('r1'), never)
  expect(previewUndo(plan, cwd)).toBe('  restore  x.txt  (changed by the agent)\n  delete?  y  (it changed while a command ran)\nCommands ran; what they did beyond the files here is not undone (commits, branches, pushes, packages, files elsewhere): touch y')
  expect(await undoDiff(log.deps, plan)).toContain('-2\n+two\n')
  expect(await madeDiff(log.deps, log.records, -1, Infinity, never)).toContain('-two\n+2\n')
})

test('what is put back and changed by a person then is theirs: going further back does not touch it', async () => {
  const cwd = repo()
  write(cwd, 'b.txt', 'b\n')
  const log = session(cwd)
  log.begin('r1')
  await log.tool('b.txt', 'agent\n')
  await log.end()
  log.begin('r2')
  await log.tool('a.txt', 'agent\n')
  await log.end()
  await undo(log, 'r2')
  write(cwd, 'a.txt', 'person\n')
  expect(undoableRuns(log.records).map(({ run }) => run)).toEqual(['r1'])
  const { plan } = await undo(log, 'r1')
  expect(verdicts(plan, cwd)).toEqual(['yes restore b.txt'])
  expect(read(cwd, 'a.txt')).toBe('person\n')
})

test('files go forward to how they were after a run that was put back since, and what came after that goes', async () => {
  const cwd = repo()
  const log = session(cwd)
  log.begin('r1')
  await log.tool('a.txt', 'one\n')
  await log.command('make', () => write(cwd, 'made', 'm\n'))
  await log.end()
  const after = log.records.length - 1
  const then = snapshot(cwd)
  await undo(log, 'r1', 'asked')
  log.begin('r2')
  await log.tool('other.txt', 'o\n')
  await log.tool('a.txt', 'two\n')
  await log.end()
  expect(undoableRuns(log.records).map(({ run }) => run)).toEqual(['r2'])
  const plan = await planUndo(log.deps, log.records, after, never)
  expect(verdicts(plan, cwd)).toEqual(['yes restore a.txt', 'yes restore made', 'yes delete other.txt'])
  await applyUndo(log.deps, plan, new Set(certain(plan)), log.append, never)
  expect(snapshot(cwd)).toEqual(then)
  expect(undoableRuns(log.records).map(({ run }) => run)).toEqual(['r1'])
  const redo = await planRedo(log.deps, log.records, never)
  await applyUndo(log.deps, redo!, new Set(certain(redo!)), log.append, never)
  expect(read(cwd, 'a.txt')).toBe('two\n')
  expect(undoableRuns(log.records).map(({ run }) => run)).toEqual(['r2'])
})

test('what a later run made of a file is not overruled by taking an undo back', async () => {
  const cwd = repo()
  const log = session(cwd)
  log.begin('r1')
  await log.tool('a.txt', 'one\n')
  await log.tool('b.txt', 'one\n')
  await log.end()
  await undo(log, 'r1')
  log.begin('r2')
  await log.tool('a.txt', 'two\n')
  await log.end()
  expect(verdicts((await planRedo(log.deps, log.records, never))!, cwd)).toEqual(['refuse restore a.txt', 'yes restore b.txt'])
})

test('without git, images of files are enough: for undo, for taking it back, and for the diff', async () => {
  const cwd = folder()
  write(cwd, 'x.txt', 'x\n')
  const log = session(cwd, { environment: { base: { PATH: '/nowhere', HOME: cwd } } })
  log.deps.blobs.put('x\n')
  log.begin('r1')
  await log.tool('x.txt', 'agent\n')
  await log.tool('new/y.txt', 'y\n')
  await log.end()
  const { plan, left } = await undo(log, 'r1')
  expect([verdicts(plan, cwd), left]).toEqual([['yes delete new/y.txt', 'yes restore x.txt'], []])
  expect([read(cwd, 'x.txt'), existsSync(join(cwd, 'new/y.txt'))]).toEqual(['x\n', false])
  expect(await madeDiff(log.deps, log.records, -1, log.before('r1') + 6, never)).toContain('-x\n+agent\n')
  const redo = await planRedo(log.deps, log.records, never)
  await applyUndo(log.deps, redo!, new Set(certain(redo!)), log.append, never)
  expect([read(cwd, 'x.txt'), read(cwd, 'new/y.txt')]).toEqual(['agent\n', 'y\n'])
  expect(undoableRuns(log.records)).toHaveLength(1)
})

test('a file is replaced only if what it holds is kept: where that cannot be, it stays', async () => {
  const cwd = folder()
  write(cwd, 'x.txt', 'x\n')
  const log = session(cwd, { environment: { base: { PATH: '/nowhere', HOME: cwd } } })
  log.deps.blobs.put('x\n')
  log.begin('r1')
  await log.tool('x.txt', 'agent\n')
  await log.end()
  log.deps.blobs.put = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  }
  const { left } = await undo(log, 'r1')
  expect(left).toEqual(['x.txt: no copy of it as it is now could be kept'])
  expect(read(cwd, 'x.txt')).toBe('agent\n')
})

test('an undo that a crash cut off is seen for what it did, and can be done again or taken further', async () => {
  const cwd = repo()
  write(cwd, 'b.txt', 'b\n')
  const log = session(cwd)
  log.begin('r1')
  await log.tool('a.txt', 'agent\n')
  await log.tool('b.txt', 'agent\n')
  await log.end()
  const plan = await planUndo(log.deps, log.records, log.before('r1'), never)
  const facts: Parameters<typeof log.append>[0][] = []
  await applyUndo(log.deps, plan, new Set([join(cwd, 'a.txt')]), (fact) => void facts.push(fact), never)
  // Only what was written before it is in the log: it says more than was done.
  log.append({ ...facts[0]!, undo: { to: plan.to, changes: plan.entries.map(({ path, current, target }) => ({ path, before: current?.sha256 ?? null, after: target?.sha256 ?? null })) } } as never)
  expect(undoableRuns(log.records).map(({ run }) => run)).toEqual(['r1'])
  const again = await undo(log, 'r1')
  expect(verdicts(again.plan, cwd)).toEqual(['yes restore b.txt'])
  expect([read(cwd, 'a.txt'), read(cwd, 'b.txt')]).toEqual(['a\n', 'b\n'])
})

test('the diff of a run shows what the agent made, and nothing that a person changed between, since or besides', async () => {
  const cwd = repo()
  for (const name of ['late', 'between', 'own']) write(cwd, name, 'one\ntwo\nthree\n')
  const log = session(cwd)
  log.begin('r1')
  await log.tool('late', 'one\nAGENT\nthree\n')
  await log.tool('between', 'one\nAGENT\nthree\n')
  await log.command('make', () => write(cwd, 'made', 'made\n'))
  log.deps.blobs.put(readFileSync(join(cwd, 'between')))
  write(cwd, 'between', 'PERSON\nAGENT\nthree\n')
  log.deps.blobs.put(readFileSync(join(cwd, 'between')))
  await log.tool('between', 'PERSON\nAGENT\nAGENT\n')
  await log.end()
  write(cwd, 'late', 'PERSON\nAGENT\nthree\n')
  write(cwd, 'own', 'PERSON\n')
  write(cwd, 'made', 'PERSON\n')
  const diff = await madeDiff(log.deps, log.records, log.before('r1'), log.records.length - 1, never)
  expect(diff.match(/^[-+].*/gm)).toEqual([
    '--- a/between', '+++ b/between', '-two', '+AGENT', '--- a/between', '+++ b/between', '-three', '+AGENT',
    '--- a/late', '+++ b/late', '-two', '+AGENT', '--- /dev/null', '+++ b/made', '+made',
  ])
})

test('of one path: a mode alone, a change and back, and a command that only may have done it', () => {
  const file = (content: string, mode = 0o644): Known => ({ sha256: content, mode, link: false })
  const seen = (seq: number, state: Known): Point => ({ kind: 'seen', seq, state, certain: true, tree: `t${seq}` })
  const tool = (seq: number, before: string | null, after: string | null, maybe = false): Point => ({
    kind: 'told', by: 'tool', seq, before: before === null ? null : { sha256: before }, after: after === null ? null : { sha256: after }, maybe,
  })
  const plan = (points: Point[], windows: [number, number][], current: Known): string | null => planPath('p', points, windows.map(([from, to]) => ({ from, to, by: 'command' as const })), current)?.verdict ?? null
  expect(plan([seen(0, file('a')), seen(4, file('a', 0o755))], [[1, 3]], file('a', 0o755))).toBe('ask')
  expect(plan([seen(0, file('a')), tool(2, 'a', 'b'), tool(3, 'b', 'a')], [], file('a'))).toBeNull()
  expect(plan([seen(0, file('a')), tool(2, 'a', 'b')], [], file('b'))).toBe('yes')
  expect(plan([seen(0, file('a')), tool(2, 'a', 'b')], [], file('b', 0o755))).toBe('refuse')
  expect(plan([seen(0, file('a')), tool(2, 'a', 'b'), seen(8, file('c'))], [[4, 6]], file('c'))).toBe('ask')
  expect(plan([seen(0, file('a')), tool(2, 'a', 'b'), seen(3, file('b')), seen(8, file('c'))], [[1, 2]], file('c'))).toBe('refuse')
  expect(plan([seen(0, file('a')), seen(8, file('c'))], [], file('c'))).toBeNull()
  expect(plan([tool(1, null, 'b', true)], [], null)).toBeNull()
  expect(plan([seen(0, file('a')), tool(1, 'a', 'b'), tool(2, 'b', 'c', true)], [], file('b'))).toBe('yes')
})

test('of one path, whatever happens to it: unasked goes back only what tools alone did, and to what was there before', () => {
  const value = fc.constantFrom(null, 'a', 'b', 'c')
  const event = fc.record({ who: fc.constantFrom('tool', 'person', 'command', 'command and person', 'look'), to: value, cut: fc.boolean() })
  fc.assert(
    fc.property(value, fc.array(event, { maxLength: 8 }), (start, events) => {
      const state = (content: string | null): Known => (content === null ? null : { sha256: content })
      let now: string | null = start
      let seq = 0
      let original: { content: string | null } | null = null
      let [commands, others] = [false, false]
      const points: Point[] = []
      const windows: Window[] = []
      // A person acted while a command ran, or nobody looked between the two: then nobody can tell them apart.
      let [unseen, vague] = [false, false]
      const look = (): void => {
        points.push({ kind: 'seen', seq: ++seq, state: state(now), certain: true, tree: 't' })
        unseen = false
      }
      const change = (to: string | null, by: 'tool' | 'command' | 'person'): void => {
        if (to === now) return
        if (by === 'person') {
          others ||= original !== null
          vague ||= unseen
        } else original ??= { content: now }
        now = to
      }
      look()
      for (const { who, to, cut } of events) {
        if (who === 'look') look()
        else if (who === 'person') change(to, 'person')
        else if (who === 'tool') {
          const before = now
          // One that was cut off may not have come to it.
          if (!cut || to !== 'b') change(to, 'tool')
          if (before !== to) points.push({ kind: 'told', by: 'tool', seq: ++seq, before: state(before), after: state(to), maybe: cut })
        } else {
          look()
          const from = ++seq
          const at = now
          unseen = true
          change(to, 'command')
          if (who === 'command and person') change('c', 'person')
          commands ||= now !== at
          windows.push({ from, to: ++seq, by: 'command' })
          if (!cut) look()
        }
      }
      const plan = planPath('p', points, windows, state(now))
      if (vague) return
      const first = original as { content: string | null } | null
      // Of a call that was cut off only the content can tell whether it came to it.
      const doubtful = events.some(({ who, cut }) => who === 'tool' && cut)
      if (plan?.verdict === 'yes') expect(commands).toBe(false)
      if (plan?.verdict === 'yes' && !doubtful) expect(plan.target).toEqual(state(first!.content))
      // What the agent alone did, with tools alone, needs no question.
      if (first && !others && !commands && first.content !== now && !events.some(({ cut }) => cut)) expect(plan).toMatchObject({ verdict: 'yes', target: state(first.content) })
      if (first && !others && !doubtful && first.content !== now) expect(plan).not.toBeNull()
      if (!first && windows.length === 0 && !doubtful) expect(plan).toBeNull()
    }),
    { numRuns: Number(process.env['PATH_RUNS'] ?? 5_000) },
  )
})

/** Steps of the agent and of a person on few paths, so that they meet. */
const paths = ['a.txt', 'b.txt', 'dir/c', 'dir/d', 'new', 'deep/er/new']
const content = fc.oneof(fc.constant(null), fc.uint8Array({ maxLength: 8 }), fc.constantFrom('x\r\n', '\ufeffy', ''))
const step = fc.oneof(
  fc.record({ who: fc.constant('tool' as const), path: fc.constantFrom(...paths), content }),
  fc.record({ who: fc.constant('person' as const), path: fc.constantFrom(...paths), content }),
  fc.record({ who: fc.constant('command' as const), path: fc.constantFrom(...paths), content }),
)
let tried = 0
/** Each takes some thirty git processes. */
const RUNS = Number(process.env['UNDO_RUNS'] ?? 6)

test('whatever agent and person do: undo puts back what only the agent changed, byte for byte, and leaves all else as it is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...paths), fc.uint8Array({ maxLength: 6 }), fc.constantFrom(0o644, 0o600, 0o755)), { maxLength: 5 }), fc.array(step, { minLength: 1, maxLength: 7 }), fc.array(step, { maxLength: 2 }), async (start, steps, later) => {
      tried++
      const cwd = folder()
      for (const [path, bytes, mode] of start) write(cwd, path, bytes, mode)
      const log = session(cwd)
      log.begin('r1')
      const set = (path: string, bytes: string | Uint8Array | null): void => {
        if (bytes === null) rmSync(join(cwd, path), { force: true })
        else write(cwd, path, bytes)
      }
      const original = new Map<string, string | undefined>()
      const byPerson = new Set<string>()
      const byCommand = new Set<string>()
      const of = (path: string): string | undefined => snapshot(cwd).get(path)
      for (const { who, path, content: bytes } of steps) {
        const before = of(path)
        if (who === 'person') set(path, bytes)
        else if (who === 'tool') {
          if (bytes !== null || existsSync(join(cwd, path))) await log.tool(path, bytes)
        } else await log.command('x', () => set(path, bytes))
        if (of(path) === before) continue
        if (who === 'person') byPerson.add(path)
        else {
          if (!original.has(path)) original.set(path, before)
          if (who === 'command') byCommand.add(path)
        }
      }
      await log.end()
      for (const { path, content: bytes } of later) {
        const before = of(path)
        set(path, bytes)
        if (of(path) !== before) byPerson.add(path)
      }
      const now = snapshot(cwd)
      const { plan } = await undo(log, 'r1', 'asked')
      const after = snapshot(cwd)
      const planned = new Map(plan.entries.map((entry) => [entry.path.slice(cwd.length + 1), entry]))
      for (const path of new Set([...paths, ...now.keys(), ...after.keys()])) {
        if (path.endsWith('/')) continue
        if (!original.has(path)) expect(after.get(path), `${path} is none of the agent's`).toBe(now.get(path))
        else if (!byPerson.has(path)) expect(after.get(path), `${path} is the agent's alone`).toBe(original.get(path))
        else if (planned.get(path)?.verdict === 'refuse') expect(after.get(path), `${path} was refused`).toBe(now.get(path))
        // Nothing is put back unasked that a command may have had a part in.
        if (byCommand.has(path) && planned.has(path)) expect(planned.get(path)!.verdict).not.toBe('yes')
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  expect(tried).toBeGreaterThanOrEqual(RUNS)
}, 300_000)

test('what a check changed is asked like any other command, and is not somebody else\'s', async () => {
  const cwd = repo()
  const log = session(cwd)
  log.begin('r1')
  await log.tool('a.txt', 'agent\n')
  await log.end()
  log.records.pop()
  log.append({ type: 'spawn', run: 'r1', call: 'check-1', pid: 1 })
  write(cwd, 'a.txt', 'formatted\n')
  log.append({ type: 'check', run: 'r1', command: 'npm run format', exit: 0, attempt: 1 })
  log.append({ type: 'outcome', run: 'r1', status: 'verified', reason: '' })
  expect(verdicts(await planUndo(log.deps, log.records, log.before('r1'), never), cwd)).toEqual(['ask restore a.txt'])
})
