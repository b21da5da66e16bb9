import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sha256 } from '../../src/os/files.ts'
import { batchReader } from '../../src/session/checkpoint-read.ts'
import { checkpoints, type CheckpointOptions, type Checkpoints } from '../../src/session/checkpoint.ts'
import { folder, raw, repo, write } from '../os/git-repos.ts'

const never = new AbortController().signal
const open = (root: string, options: Partial<CheckpointOptions> = {}): Checkpoints => checkpoints({ dir: join(root, '.agent', 'checkpoints'), root, ...options })

async function take(of: Checkpoints, extra: string[] = []): Promise<string> {
  const { tree, note } = await of.take('test', never, extra)
  if (tree === null) throw new Error(note)
  return tree
}

/** `path: before -> after`, with the first characters of the content. */
async function differences(of: Checkpoints, a: string, b: string, root: string): Promise<string[]> {
  const diff = await of.diff(a, b)
  const show = async (tree: string, path: string, state: unknown): Promise<string> => (state === null ? '-' : JSON.stringify((await of.file(tree, path))!.toString()))
  return Promise.all(diff!.changes.map(async ({ path, before, after }) => `${path.slice(root.length + 1)}: ${await show(a, path, before)} -> ${await show(b, path, after)}`))
}

test('changed, new, deleted, renamed, linked, executable and odd names are seen, each with its bytes', async () => {
  const cwd = repo()
  write(cwd, 'b.txt', 'b\n')
  write(cwd, 'gone.txt', 'g\n')
  write(cwd, 'run.sh', '#!/bin/sh\n')
  symlinkSync('a.txt', join(cwd, 'link'))
  const of = open(cwd)
  const a = await take(of)
  expect(await take(of)).toBe(a)
  write(cwd, 'b.txt', 'B\n')
  write(cwd, 'new/日本 n\nl', 'n\n')
  rmSync(join(cwd, 'gone.txt'))
  rmSync(join(cwd, 'link'))
  symlinkSync('b.txt', join(cwd, 'link'))
  chmodSync(join(cwd, 'run.sh'), 0o755)
  const b = await take(of)
  expect(await differences(of, a, b, cwd)).toEqual(['b.txt: "b\\n" -> "B\\n"', 'gone.txt: "g\\n" -> -', 'link: "a.txt" -> "b.txt"', 'new/日本 n\nl: - -> "n\\n"', 'run.sh: "#!/bin/sh\\n" -> "#!/bin/sh\\n"'])
  const change = (await of.diff(a, b))!.changes.find(({ path }) => path.endsWith('b.txt'))!
  expect(change).toMatchObject({ before: { sha256: sha256(Buffer.from('b\n')), bytes: 2, link: false, mode: lstatSync(join(cwd, 'b.txt')).mode & 0o777 }, certain: true })
})

test('the bytes are those on disk, whatever attributes, filters and line ending settings say', async () => {
  const cwd = repo()
  raw(cwd, 'config', 'core.autocrlf', 'true')
  raw(cwd, 'config', 'filter.up.clean', 'tr a-z A-Z')
  raw(cwd, 'config', 'filter.up.required', 'true')
  write(cwd, '.gitattributes', '*.crlf text eol=crlf\n*.up filter=up\n*.id ident\n*.u16 working-tree-encoding=UTF-16LE\n[attr]mine filter=up\n*.mine mine\n')
  const files = { 'x.crlf': 'a\r\nb\nc\r', 'x.up': 'lower\n', 'x.id': '$Id: not mine $\n', 'x.u16': 'plain\n', 'x.mine': 'lower\n', 'x.bin': '\0\xff\r\n' }
  for (const [name, content] of Object.entries(files)) write(cwd, name, Buffer.from(content, 'latin1'))
  const of = open(cwd)
  const tree = await take(of)
  for (const [name, content] of Object.entries(files)) expect((await of.file(tree, join(cwd, name)))!.toString('latin1'), name).toBe(content)
})

test("nothing in the person's repository is written, and its index is not even opened for writing", async () => {
  const cwd = repo()
  write(cwd, 'staged.txt', 's\n')
  raw(cwd, 'add', 'staged.txt')
  write(cwd, 'a.txt', 'changed\n')
  raw(cwd, 'stash', 'list')
  const listing = (): string => execFileSync('find', ['.git', '-type', 'f', '-printf', '%p %s %T@\n'], { cwd, encoding: 'utf8' }).split('\n').sort().join('\n')
  const before = listing()
  const of = open(cwd)
  await take(of)
  write(cwd, 'a.txt', 'again\n')
  await take(of)
  expect(listing()).toBe(before)
  expect(raw(cwd, 'status', '--porcelain')).toBe(' M a.txt\nA  staged.txt\n')
})

test('ignored files are left out, unless a tool wrote them or the repository tracks them', async () => {
  const cwd = repo()
  write(cwd, '.gitignore', '*.log\nbuild/\n')
  write(cwd, 'x.log', '1\n')
  write(cwd, 'tracked.log', '1\n')
  write(cwd, 'build/out', '1\n')
  raw(cwd, 'add', '-f', 'tracked.log')
  write(cwd, '.git/info/exclude', 'private.txt\n')
  write(cwd, 'private.txt', '1\n')
  const of = open(cwd)
  const a = await take(of, [join(cwd, 'written.log')])
  for (const name of ['x.log', 'tracked.log', 'build/out', 'private.txt', 'written.log']) write(cwd, name, '2\n')
  const b = await take(of)
  expect(await differences(of, a, b, cwd)).toEqual(['tracked.log: "1\\n" -> "2\\n"', 'written.log: - -> "2\\n"'])
  // What was not covered is not said to have been made when it comes into view.
  write(cwd, 'late.log', 'was there\n')
  const c = await take(of)
  const d = await take(of, [join(cwd, 'late.log')])
  expect(await differences(of, c, d, cwd)).toEqual([])
  raw(cwd, 'add', '-f', 'x.log')
  const e = await take(of)
  expect((await of.states(e, [join(cwd, 'x.log')])).get(join(cwd, 'x.log'))).toMatchObject({ sha256: sha256(Buffer.from('2\n')) })
})

test('a file that comes into view because the rules changed is not certainly new', async () => {
  const cwd = repo()
  write(cwd, '.gitignore', '*.dat\n')
  write(cwd, 'old.dat', 'old\n')
  const of = open(cwd)
  const a = await take(of)
  write(cwd, '.gitignore', '\n')
  const b = await take(of)
  expect((await of.diff(a, b))!.changes.map(({ path, certain }) => [path.slice(cwd.length + 1), certain])).toEqual([['.gitignore', true], ['old.dat', false]])
})

test('a large file is named and not copied, and so is a folder with too many new files', async () => {
  const cwd = repo()
  writeFileSync(join(cwd, 'huge.bin'), '')
  truncateSync(join(cwd, 'huge.bin'), 3 * 1024 ** 3)
  for (let index = 0; index < 120; index++) write(cwd, `data/raw/${index}`, 'x')
  write(cwd, 'small/x', 'x')
  const of = open(cwd, { limits: { folderFiles: 100 } })
  const { tree, note } = await of.take('test', never)
  expect(note).toBe('not taken because of their size: huge.bin; not looked into, too many files: data/')
  const a = tree!
  truncateSync(join(cwd, 'huge.bin'), 4 * 1024 ** 3)
  write(cwd, 'data/raw/0', 'changed')
  write(cwd, 'small/x', 'y')
  const b = await take(of)
  expect(await differences(of, a, b, cwd)).toEqual(['small/x: "x" -> "y"'])
  expect((await of.diff(a, b))!.uncovered).toEqual([join(cwd, 'huge.bin')])
  expect([...(await of.states(a, [join(cwd, 'huge.bin'), join(cwd, 'data/raw/5'), join(cwd, 'not/there')])).entries()]).toEqual([[join(cwd, 'not/there'), null]])
  expect(Number(execFileSync('du', ['-sk', join(cwd, '.agent')], { encoding: 'utf8' }).split('\t')[0])).toBeLessThan(2_000)
})

test('thousands of new files beside tracked ones are passed over, and what was there is still covered', async () => {
  const cwd = repo()
  for (let index = 0; index < 60; index++) write(cwd, `crowd${index}`, 'x')
  const of = open(cwd, { limits: { folderFiles: 50 } })
  const a = await take(of)
  write(cwd, 'a.txt', 'changed\n')
  write(cwd, 'crowd1', 'changed')
  const b = await take(of)
  expect(await differences(of, a, b, cwd)).toEqual(['a.txt: "a\\n" -> "changed\\n"'])
})

test('repositories in the repository are named, and nothing of them is said to be new', async () => {
  const cwd = repo()
  const other = repo()
  raw(cwd, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'sub')
  mkdirSync(join(cwd, 'nested'))
  raw(join(cwd, 'nested'), 'init', '-q')
  write(cwd, 'nested/x', 'x')
  write(cwd, 'deep/in/x', 'x')
  raw(join(cwd, 'deep/in'), 'init', '-q')
  const of = open(cwd)
  const { tree, note } = await of.take('test', never)
  expect(note).toContain('repositories of their own, not covered: ')
  for (const name of ['sub/', 'nested/', 'deep/in/']) expect(note).toContain(name)
  rmSync(join(cwd, 'nested/.git'), { recursive: true })
  write(cwd, 'sub/a.txt', 'changed\n')
  const b = await take(of)
  expect(await differences(of, tree!, b, cwd)).toEqual([])
})

test('a change to as many bytes, in the same second and in the same file, is seen whenever it is looked for', async () => {
  const cwd = repo()
  const of = open(cwd)
  await take(of)
  const second = (): number => Math.floor(lstatSync(join(cwd, 'a.txt')).ctimeMs / 1_000)
  // A busy machine may need some tries to get it all into one second.
  for (let tries = 0; tries < 10; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 1_010 - (Date.now() % 1_000)))
    write(cwd, 'a.txt', `one ${tries}\n`)
    const begun = second()
    const a = await take(of)
    write(cwd, 'a.txt', `two ${tries}\n`)
    if (second() !== begun) continue
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    expect(await differences(of, a, await take(of), cwd)).toEqual([`a.txt: "one ${tries}\\n" -> "two ${tries}\\n"`])
    return
  }
}, 60_000)

test('it works without a repository, and a second session goes on with what the first kept', async () => {
  const cwd = folder()
  write(cwd, 'x.txt', 'x\n')
  write(cwd, 'dir/y.txt', 'y\n')
  const a = await take(open(cwd))
  write(cwd, 'dir/y.txt', 'Y\n')
  const of = open(cwd)
  const b = await take(of)
  expect(await differences(of, a, b, cwd)).toEqual(['dir/y.txt: "y\\n" -> "Y\\n"'])
  expect(readdirSync(join(cwd, '.agent/checkpoints')).length).toBe(1)
  expect(readFileSync(join(cwd, '.agent/.gitignore'), 'utf8')).toBe('*\n')
  expect(lstatSync(join(cwd, '.agent/checkpoints')).mode & 0o777).toBe(0o700)
})

test('full modes are kept, and a file that becomes a folder, or a folder a file, is one change of each', async () => {
  const cwd = repo()
  write(cwd, 'secret', 's\n', 0o600)
  write(cwd, 'file', 'f\n')
  write(cwd, 'dir/x', 'x\n')
  const of = open(cwd)
  const a = await take(of)
  chmodSync(join(cwd, 'a.txt'), 0o640)
  rmSync(join(cwd, 'file'))
  write(cwd, 'file/in', 'in\n')
  rmSync(join(cwd, 'dir'), { recursive: true })
  write(cwd, 'dir', 'now a file\n')
  const b = await take(of)
  expect(await differences(of, a, b, cwd)).toEqual(['a.txt: "a\\n" -> "a\\n"', 'dir: - -> "now a file\\n"', 'dir/x: "x\\n" -> -', 'file: "f\\n" -> -', 'file/in: - -> "in\\n"'])
  const states = await of.states(b, [join(cwd, 'secret'), join(cwd, 'a.txt')])
  expect(states.get(join(cwd, 'secret'))).toMatchObject({ mode: 0o600 })
  expect(states.get(join(cwd, 'a.txt'))).toMatchObject({ mode: 0o640 })
})

test('empty folders are known, so that one that was there is not taken away', async () => {
  const cwd = repo()
  mkdirSync(join(cwd, 'empty/deep'), { recursive: true })
  const of = open(cwd)
  const a = await take(of)
  expect(await of.holds(a, join(cwd, 'empty/deep'))).toBe(true)
  expect(await of.holds(a, join(cwd, 'other'))).toBe(false)
  rmSync(join(cwd, 'empty'), { recursive: true })
  expect((await of.diff(a, await take(of)))!.emptied).toEqual([join(cwd, 'empty/')])
})

test('the time limit gives what was taken by then, and the next checkpoint goes on', async () => {
  const cwd = folder()
  for (let index = 0; index < 2_100; index++) write(cwd, `d${index % 20}/${index}`, `${index}`)
  const first = await open(cwd, { limits: { ms: 1 } }).take('test', never)
  expect(first.note).toMatch(/not all files could be taken yet|cannot be looked through within 0.001 s/)
  const all = open(cwd, { limits: { ms: 60_000 } })
  const a = await take(all)
  write(cwd, 'd1/1', 'changed')
  expect(await differences(all, a, await take(all), cwd)).toEqual(['d1/1: "1" -> "changed"'])
  if (first.tree !== null) expect((await all.diff(first.tree, a))!.changes).toEqual([])
})

test('a folder that was too large to look through once is not looked through around every command', async () => {
  const [cwd, programs] = [folder(), folder()]
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  write(programs, 'git', `#!/bin/sh\ncase "$*" in *ls-files*) exec sleep 60 ;; esac\nexec ${git} "$@"\n`, 0o755)
  const of = open(cwd, { limits: { ms: 500 }, environment: { base: { ...process.env, PATH: `${programs}:${process.env['PATH']}` } } })
  const first = await of.take('test', never)
  expect(first).toMatchObject({ tree: null, note: expect.stringContaining('so commands cannot be undone') })
  expect(await of.take('test', never)).toBe(first)
})

test.skipIf(process.getuid?.() === 0)('a file that cannot be read costs the others nothing (root can read all)', async () => {
  const cwd = repo()
  for (let index = 0; index < 10; index++) write(cwd, `f${index}`, 'x')
  chmodSync(join(cwd, 'f3'), 0)
  const of = open(cwd)
  const { tree, note } = await of.take('test', never)
  expect(note).toBe('not readable: f3')
  expect((await of.states(tree!, [join(cwd, 'f3'), join(cwd, 'f4')])).size).toBe(1)
})

test('a cancel ends it at once, leaves nothing behind, and the next one works', async () => {
  const cwd = repo()
  const of = open(cwd)
  const stopped = new AbortController()
  stopped.abort()
  expect(await of.take('test', stopped.signal)).toEqual({ tree: null, note: 'cancelled' })
  await take(of)
  const [store] = readdirSync(join(cwd, '.agent/checkpoints'))
  expect(readdirSync(join(cwd, '.agent/checkpoints', store!)).sort()).toEqual(['git', 'index', 'kept.json'])
})

test('what a killed process left of one is taken away, what a live one works on is not', async () => {
  const cwd = repo()
  await take(open(cwd))
  const store = join(cwd, '.agent/checkpoints', readdirSync(join(cwd, '.agent/checkpoints'))[0]!)
  const { pid } = spawnSync('true')
  for (const name of [`index.${pid}.3`, `index.${pid}.3.lock`, `index.${process.ppid}.1`]) writeFileSync(join(store, name), 'x')
  await take(open(cwd))
  expect(readdirSync(store).sort()).toEqual(['git', 'index', `index.${process.ppid}.1`, 'kept.json'])
})

test('a damaged or lost index costs time only', async () => {
  const cwd = repo()
  const of = open(cwd)
  const a = await take(of)
  const store = join(cwd, '.agent/checkpoints', readdirSync(join(cwd, '.agent/checkpoints'))[0]!)
  for (const spoil of [() => writeFileSync(join(store, 'index'), 'garbage'), () => rmSync(join(store, 'index')), () => writeFileSync(join(store, 'kept.json'), '{'), () => renameSync(join(store, 'kept.json'), join(store, 'x'))]) {
    spoil()
    expect(await take(of)).toBe(a)
  }
})

test('a store that a repository ships runs nothing and leads nowhere', async () => {
  const cwd = repo()
  const mark = join(folder(), 'ran')
  const outside = folder()
  await take(open(cwd))
  const store = join(cwd, '.agent/checkpoints', readdirSync(join(cwd, '.agent/checkpoints'))[0]!)
  writeFileSync(join(store, 'git/config'), `[core]\n\tfsmonitor = touch ${mark}\n\tworktree = /etc\n[filter "x"]\n\tclean = touch ${mark}\n\trequired = true\n`)
  writeFileSync(join(store, 'git/info/attributes'), '* filter=x\n')
  write(cwd, 'a.txt', 'changed\n')
  await take(open(cwd))
  expect(existsSync(mark)).toBe(false)
  rmSync(join(store, 'git/objects'), { recursive: true })
  symlinkSync(outside, join(store, 'git/objects'))
  expect(await open(cwd).take('test', never)).toMatchObject({ tree: null })
  expect(readdirSync(outside)).toEqual([])
})

test('of the home folder and of the whole system none is taken, and without git it says so', async () => {
  expect(await checkpoints({ dir: folder(), root: '/' }).take('test', never)).toEqual({ tree: null, note: 'no checkpoint is taken of /' })
  const cwd = folder()
  expect(await open(cwd, { environment: { base: { PATH: '/nowhere', HOME: cwd } } }).take('test', never)).toMatchObject({ tree: null, note: expect.stringContaining('git') })
})

test('sessions that lie in the folder itself are none of its changes', async () => {
  const cwd = repo()
  write(cwd, 'my [odd] place/s1.jsonl', 'one\n')
  const of = checkpoints({ dir: join(cwd, 'my [odd] place', 'checkpoints'), root: cwd })
  const a = await take(of)
  write(cwd, 'my [odd] place/s1.jsonl', 'one\ntwo\n')
  expect(await take(of)).toBe(a)
})

test('two checkpoints at once do not harm each other', async () => {
  const cwd = repo()
  const [one, two] = [open(cwd), open(cwd)]
  const trees = await Promise.all([take(one), take(two), take(one)])
  expect(new Set(trees).size).toBe(1)
})

test('blobs are read whole wherever the output of git is cut into chunks', () => {
  const blobs = ['', 'x', '\n', 'a\nb\n', 'f'.repeat(300)]
  const stream = Buffer.from(blobs.map((blob, index) => `${String(index).repeat(40)} blob ${blob.length}\n${blob}\n`).join(''))
  for (const size of [1, 2, 3, 7, 64, 1_000]) {
    const found: string[] = []
    const read = batchReader((_, { sha256: hash }) => void found.push(hash))
    for (let at = 0; at < stream.length; at += size) read(stream.subarray(at, at + size))
    expect(found).toEqual(blobs.map((blob) => sha256(Buffer.from(blob))))
  }
})

test('what was looked at while nobody waited is not looked at again, and who comes in the middle goes on from there', async () => {
  const [cwd, programs] = [folder(), folder()]
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  // The second piece of the work waits until it may go on.
  write(programs, 'git', `#!/bin/sh\ncase "$*" in *update-index*) echo x >> ${programs}/updates; while [ -e ${programs}/hold ] && [ "$(wc -l < ${programs}/updates)" -ge 2 ]; do sleep 0.05; done ;; esac\nexec ${git} "$@"\n`, 0o755)
  for (let index = 0; index < 6_100; index++) write(cwd, `d${index % 50}/${index}`, index % 100 === 0 ? '' : `${index}`)
  const updates = (): number => (existsSync(join(programs, 'updates')) ? readFileSync(join(programs, 'updates'), 'utf8').length / 2 : 0)
  const environment = { base: { ...process.env, PATH: `${programs}:${process.env['PATH']}` } }
  const of = open(cwd, { environment, limits: { ms: 60_000 } })
  write(programs, 'hold', '')
  of.warm()
  while (updates() < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  const taking = of.take('test', never)
  rmSync(join(programs, 'hold'))
  const { tree, note } = await taking
  expect(note).toBeUndefined()
  // Two pieces of four were done by then, and none of them twice.
  expect(updates()).toBe(4)
  of.warm()
  expect(await take(of)).toBe(tree)
  expect(updates()).toBe(4)
})
