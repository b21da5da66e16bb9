import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { calls, openWorld, say, type World } from '../support/world.ts'

const idOf = (file: string): string => basename(file, '.jsonl').replace(/^[^_]*_/, '')
const lastMessages = (world: World): string => JSON.stringify(world.server.requests.at(-1)?.body['messages'])

/** A small file system of its own; null where that is not allowed. */
function mountTmpfs(folder: string, options: string): (() => void) | null {
  try {
    mkdirSync(folder, { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' })
    return () => execFileSync('umount', ['-l', folder])
  } catch {
    return null
  }
}

describe('going on', () => {
  it('-c takes the newest session of this root and folder that has an input', async () => {
    const world = await openWorld([say('One.'), say('Two.'), say('Three.'), say('Four.')], { files: { 'sub/a.txt': 'a' } })
    await world.run(['-p', 'about pears'])
    await world.run(['-p', 'about plums'])
    await world.run(['-p', 'about figs'], { cwd: join(world.repo, 'sub') })
    writeFileSync(join(world.repo, '.agent', 'sessions', '20991231T000000Z_zzzz.jsonl'), '')
    expect((await world.run(['-c', '-p', 'third'])).code).toBe(0)
    rmSync(join(world.repo, '.agent', 'sessions', '20991231T000000Z_zzzz.jsonl'))
    expect(lastMessages(world)).toMatch(/plums.*Two\..*third/)
    expect(lastMessages(world)).not.toMatch(/pears|figs/)
  })

  it('-r takes the beginning of an id; one that fits two or none is exit 2 and names what there is', async () => {
    const world = await openWorld([say('One.'), say('Two.'), say('Three.')])
    await world.run(['-p', 'about apples'])
    const [file] = world.sessions() as [string]
    const other = file.replace(/.$/, '').replace(/\.json$/, 'x.jsonl')
    expect((await world.run(['-r', idOf(file).slice(0, 6), '-p', 'more'])).code).toBe(0)
    expect(lastMessages(world)).toMatch(/apples.*One\..*more/)
    copyFileSync(file, other)
    const ambiguous = await world.run(['-r', idOf(file).slice(0, 6), '-p', 'more'])
    expect([ambiguous.code, ambiguous.stderr]).toEqual([2, expect.stringMatching(new RegExp(`^tiller: 2 sessions begin with "${idOf(file).slice(0, 6)}".*Give more of the id\\.\\n$`))])
    rmSync(other)
    const missing = await world.run(['-r', 'zz', '-p', 'more'])
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringMatching(new RegExp(`^tiller: No session has the id "zz"\\. .*${idOf(file)}.*apples`))])
    expect(world.sessions()).toHaveLength(1)
  })

  it('an exact id wins over a longer one, and a path is taken as well', async () => {
    const world = await openWorld([say('One.'), say('Two.')])
    await world.run(['-p', 'hello'])
    const [file] = world.sessions() as [string]
    expect((await world.run(['-r', file, '-p', 'more'])).code).toBe(0)
    expect(world.of('outcome')).toHaveLength(2)
  })

  it('a session of another folder is not gone on with here', async () => {
    const world = await openWorld([say('One.')])
    const other = await openWorld()
    await world.run(['-p', 'hello'])
    cpSync(join(world.repo, '.agent'), join(other.repo, '.agent'), { recursive: true })
    const { code, stderr } = await other.run(['-r', idOf(world.sessions()[0] ?? ''), '-p', 'more'])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`belongs to ${world.repo}, not to ${other.repo}`)])
    expect((await other.run(['-c', '-p', 'more'])).code).toBe(2)
  })

  it('--session is this very file, made at the first input, and gone on with after that', async () => {
    const world = await openWorld([say('One.'), say('Two.')])
    const file = join(world.folder, 'elsewhere', 'mine.jsonl')
    expect((await world.run(['-p', '--session', file])).code).toBe(2)
    expect(existsSync(file)).toBe(false)
    expect((await world.run(['-p', '--session', file, 'hello'])).code).toBe(0)
    expect((await world.run(['-p', '--session', file, 'again'])).code).toBe(0)
    expect(world.of('input', file).map(({ text }) => text)).toEqual(['hello', 'again'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(world.sessions()).toEqual([])
  })

  it('--session-dir keeps them there', async () => {
    const world = await openWorld([say('One.'), say('Two.')])
    const folder = join(world.folder, 'kept')
    expect((await world.run(['-p', '--session-dir', folder, 'hello'])).code).toBe(0)
    expect((await world.run(['-c', '-p', '--session-dir', folder, 'again'])).code).toBe(0)
    expect(lastMessages(world)).toMatch(/hello.*One\..*again/)
    expect(world.exists('.agent')).toBe(false)
  })

  it('--fork copies the live path up to a record, and leaves the original as it is', async () => {
    const world = await openWorld([say('Red.'), say('Blue.'), say('Green.'), say('Grey.')])
    await world.run(['-p', 'a colour'])
    await world.run(['-c', '-p', 'another'])
    const [file] = world.sessions() as [string]
    const before = readFileSync(file)
    const firstOutcome = world.of('outcome')[0]?.seq ?? 0
    expect((await world.run(['--fork', `${idOf(file).slice(0, 8)}:${firstOutcome}`, '-p', 'a third'])).code).toBe(0)
    expect(lastMessages(world)).toMatch(/a colour.*Red\..*a third/)
    expect(lastMessages(world)).not.toContain('Blue')
    expect(readFileSync(file).equals(before)).toBe(true)
    const fork = world.sessions().find((each) => each !== file) ?? ''
    expect(world.of('session', fork)[0]?.fork).toEqual({ id: idOf(file), seq: firstOutcome })
    expect((await world.run(['--fork', idOf(file), '-p', 'and now'])).code).toBe(0)
    expect(lastMessages(world)).toMatch(/Red\..*Blue\..*and now/)
  })
})

it('a git worktree and a folder below have their own: the root is the top of the work tree', async () => {
  const world = await openWorld([say('One.'), say('Two.')], { files: { 'sub/a.txt': 'a' } })
  const tree = join(world.folder, 'tree')
  world.git('worktree', 'add', '-q', tree)
  expect((await world.run(['-p', 'hello'], { cwd: join(tree, 'sub') })).code).toBe(0)
  expect(existsSync(join(tree, '.agent', 'sessions'))).toBe(true)
  expect(world.exists('.agent')).toBe(false)
  expect(execFileSync('git', ['-C', tree, 'status', '--porcelain'], { env: world.env, encoding: 'utf8' })).toBe('')
  expect((await world.run(['-c', '-p', 'again'], { cwd: tree })).code).toBe(2)
  expect((await world.run(['-c', '-p', 'again'], { cwd: join(tree, 'sub') })).code).toBe(0)
})

describe('where sessions cannot be kept', () => {
  it('a file in the way is exit 2 and names --session-dir', async () => {
    const world = await openWorld([say('Here.')], { files: { '.agent': 'a file\n' } })
    const { code, stdout, stderr } = await world.run(['-p', 'hello'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^tiller: Sessions cannot be kept in .*--session-dir <dir>\.\n$/)
    expect(world.server.requests).toHaveLength(0)
    expect((await world.run(['-p', '--session-dir', join(world.folder, 'kept'), 'hello'])).code).toBe(0)
  })

  it('so is a file system that is read-only', async ({ skip }) => {
    const world = await openWorld()
    const unmount = mountTmpfs(join(world.repo, '.agent'), 'ro')
    if (!unmount) return skip('mounting needs root')
    try {
      for (const args of [['-p', 'hello'], ['--json', 'hello']]) {
        const { code, stderr } = await world.run(args)
        expect([code, stderr]).toEqual([2, expect.stringMatching(/read-only.*--session-dir/)])
      }
    } finally {
      unmount()
    }
    expect(world.server.requests).toHaveLength(0)
  })

  it('and a link that leads out of the repository', async () => {
    const world = await openWorld()
    execFileSync('ln', ['-s', world.folder, join(world.repo, '.agent')])
    const { code, stderr } = await world.run(['-p', 'hello'])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/leads out of.*--session-dir/)])
  })

  it('a disk that fills up ends the run with 1 and says so; what was shown is kept, and it goes on when there is room', async ({ skip }) => {
    const world = await openWorld((_, index) => calls(['shell', { command: `echo ${index}; seq 300` }]), { unchecked: true })
    const folder = join(world.folder, 'small')
    const unmount = mountTmpfs(folder, 'size=128k')
    if (!unmount) return skip('mounting needs root')
    try {
      const { code, events, stderr } = await world.run(['--json', '--mode', 'full', '--session-dir', folder, 'fill'])
      expect(code).toBe(1)
      expect(stderr + JSON.stringify(events.filter((event) => event.type === 'error'))).toMatch(/no space is left/)
      const file = join(folder, execFileSync('sh', ['-c', 'ls *.jsonl'], { cwd: folder, encoding: 'utf8' }).trim())
      const kept = world.records(file)
      expect(events.filter((event) => 'seq' in event)).toEqual(kept.slice(0, events.filter((event) => 'seq' in event).length))
      execFileSync('mount', ['-o', 'remount,size=8m', folder])
      const again = await world.run(['-c', '--json', '--mode', 'full', '--max-steps', '1', '--session-dir', folder, 'go on'])
      expect(again.code).toBe(3)
      expect(world.of('input', file).map(({ text }) => text)).toEqual(['fill', 'go on'])
    } finally {
      unmount()
    }
  })
})
