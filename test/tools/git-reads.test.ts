import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { emptyRepo, fails, folder, hook, raw, repo, top, write } from '../os/git-repos.ts'
import { call, prepare } from './git-calls.ts'

afterEach(() => {
  for (const name of ['GIT_DIR', 'GIT_INDEX_FILE', 'GIT_WORK_TREE']) delete process.env[name]
})

const ODD = ['日本 語.txt', 'a"b.txt', 't\tb', 'n\nl', ' lead', 'trail ', '-rf', '--output=x', '*', 'ü.md']

test('a repository without commits: status, diff and log say how things are, and the first commit works', async () => {
  const cwd = emptyRepo()
  write(cwd, 'a.txt', 'a\n')
  raw(cwd, 'add', 'a.txt')
  write(cwd, 'b.txt', 'b\n')
  expect((await call(cwd, { op: 'status' })).text).toBe('On branch main, no commits yet.\nStaged (1):\n  new  a.txt\nUntracked (1):\n  b.txt')
  expect((await call(cwd, { op: 'diff' })).text).toContain('+a')
  expect((await call(cwd, { op: 'diff', staged: true })).text).toContain('+a')
  expect(await call(cwd, { op: 'log' })).toMatchObject({ status: 'failed', text: 'This repository has no commits yet.' })
  expect((await call(cwd, { op: 'show' })).text).toContain('no commits yet')
  expect((await call(cwd, { op: 'branch' })).status).toBe('ok')
  expect(await call(cwd, { op: 'commit', message: 'first' })).toMatchObject({ status: 'ok' })
  expect((await call(cwd, { op: 'log' })).text).toMatch(/^[0-9a-f]{10} {2}\S+ \S+ {2}Ada {2}first {2}\(HEAD -> main\)$/)
})

test('special names go through status, add, diff, commit, log, blame and show as they are', async () => {
  const cwd = repo()
  for (const name of ODD) write(cwd, name, `in ${name}\n`)
  const status = await call(cwd, { op: 'status' })
  for (const name of ['日本 語.txt', 'a"b.txt', '"t\\tb"', '"n\\nl"', '" lead"', '"trail "', '-rf', '--output=x', '*', 'ü.md']) expect(status.text.split('\n')).toContain(`  ${name}`)
  expect(await call(cwd, { op: 'add', paths: ODD.slice(0, 5) })).toMatchObject({ status: 'ok' })
  const diff = await call(cwd, { op: 'diff', paths: ODD })
  expect(diff.text).toMatch(/^5 files changed/)
  for (const name of ['日本 語.txt', 'a"b.txt', 't\tb', ' lead']) expect(diff.text).toContain(`+in ${name}`)
  expect(await call(cwd, { op: 'commit', message: 'odd names', paths: ODD })).toMatchObject({ status: 'ok' })
  expect(raw(cwd, 'show', '--name-only', '-z', '--format=', 'HEAD').split('\0').filter(Boolean).sort()).toEqual([...ODD].sort())
  for (const name of ['n\nl', '-rf', '*']) {
    expect((await call(cwd, { op: 'log', path: name })).text).toMatch(/^\S+ {2}.* {2}Ada {2}odd names/)
    expect((await call(cwd, { op: 'blame', path: name })).text).toMatch(/^1 {2}[0-9a-f]{10} \S+ Ada {2}in /)
    expect((await call(cwd, { op: 'show', rev: `HEAD:${name}` })).text).toContain('in ')
  }
  expect((await call(cwd, { op: 'status' })).text).toContain('Nothing changed')
})

test('what looks like an option is a path or is refused, and nothing is written', async () => {
  const cwd = repo()
  const mark = join(folder(), 'P')
  await call(cwd, { op: 'diff', path: `--output=${mark}` })
  await call(cwd, { op: 'log', path: `--output=${mark}` })
  for (const op of ['diff', 'log', 'show'] as const) {
    for (const rev of [`--output=${mark}`, `--exec=touch ${mark}`, '-O/etc/passwd', `HEAD..--output=${mark}`]) expect(await call(cwd, { op, rev })).toMatchObject({ status: 'failed' })
  }
  expect(await call(cwd, { op: 'blame', path: 'a.txt', rev: `--contents=${mark}` })).toMatchObject({ status: 'failed' })
  expect((await call(cwd, { op: 'branch', name: '-D', from: 'HEAD' })).text).toContain('cannot be the name of a branch')
  expect((await call(cwd, { op: 'branch', name: 'x', from: '--force' })).text).toContain('no revision')
  expect(existsSync(mark)).toBe(false)
})

test('paths outside the repository are refused', async () => {
  const cwd = repo()
  for (const path of ['../x', '/etc/passwd', '..']) expect((await call(cwd, { op: 'diff', path })).text).toContain('outside the repository')
})

test('nothing that the repository configures is run by any reading operation', async () => {
  const cwd = repo()
  const marks = folder()
  write(cwd, '.gitattributes', '*.txt diff=evil filter=evil\n')
  raw(cwd, 'add', '.')
  raw(cwd, 'commit', '-qm', 'attributes')
  for (const [key, mark] of [['core.fsmonitor', 'Q'], ['diff.external', 'P'], ['diff.evil.textconv', 'T'], ['diff.evil.command', 'C'], ['filter.evil.clean', 'F'], ['filter.evil.smudge', 'S'], ['core.pager', 'G']] as const) {
    raw(cwd, 'config', key, `touch ${marks}/${mark}; cat`)
  }
  raw(cwd, 'config', 'filter.evil.required', 'true')
  write(cwd, 'a.txt', 'changed\n')
  for (const input of [
    { op: 'status' }, { op: 'diff' }, { op: 'diff', staged: false }, { op: 'diff', rev: 'HEAD~1..HEAD' }, { op: 'log' }, { op: 'show' }, { op: 'show', rev: 'HEAD:a.txt' }, { op: 'blame', path: 'a.txt' }, { op: 'branch' },
  ] as const) expect(await call(cwd, input)).toMatchObject({ status: 'ok' })
  for (const input of [{ op: 'commit', message: 'x', path: 'a.txt' }, { op: 'add', path: 'a.txt' }, { op: 'branch', name: 'new' }] as const) await prepare(cwd, input)
  expect(readdirSync(marks)).toEqual([])
  expect((await call(cwd, { op: 'status' })).text).toContain("The repository's own filter programs (evil) were not run")
})

test('reading leaves the index alone', async () => {
  const cwd = repo()
  write(cwd, 'a.txt', 'a\n')
  const before = readFileSync(join(cwd, '.git/index'))
  for (const op of ['status', 'diff', 'log', 'branch'] as const) await call(cwd, { op })
  expect(readFileSync(join(cwd, '.git/index')).equals(before)).toBe(true)
})

test('every file whose content is shown is named as a read; only the command itself where none is', async () => {
  const cwd = repo()
  write(cwd, '.env', 'KEY=1\n')
  raw(cwd, 'add', '.')
  raw(cwd, 'commit', '-qm', 'secret')
  write(cwd, '.env', 'KEY=2\n')
  const reads = async (input: Parameters<typeof prepare>[1]): Promise<unknown> => {
    const prepared = await prepare(cwd, input)
    return prepared.accesses
  }
  const env = { kind: 'read', path: join(cwd, '.env') }
  expect(await reads({ op: 'status' })).toEqual([{ kind: 'exec', argv: ['git', 'status'], reads: true }])
  expect(await reads({ op: 'log' })).toEqual([{ kind: 'exec', argv: ['git', 'log'], reads: true }])
  for (const input of [{ op: 'diff' }, { op: 'show' }, { op: 'show', rev: 'HEAD:.env' }, { op: 'show', rev: 'HEAD:./.env' }, { op: 'blame', path: '.env' }] as const) expect(await reads(input)).toContainEqual(env)
  expect(await reads({ op: 'commit', message: 'm', paths: ['.env'] })).toEqual([{ kind: 'exec', argv: ['git', 'commit', '-m', 'm', '--', '.env'] }])
})

test('a repository outside the root is named as such, for reading and for changing', async () => {
  const [cwd, other] = [repo(), repo()]
  write(other, 'a.txt', 'x\n')
  const path = join(other, 'a.txt')
  expect((await prepare(cwd, { op: 'status', path })).accesses).toContainEqual({ kind: 'read', path: other })
  expect((await prepare(cwd, { op: 'commit', message: 'm', path })).accesses).toContainEqual({ kind: 'write', path: other, command: true })
})

test('detached, in a merge with conflicts and in a rebase: each is named, with the conflicts', async () => {
  const cwd = repo()
  raw(cwd, 'switch', '-qc', 'side')
  write(cwd, 'a.txt', 'side\n')
  raw(cwd, 'commit', '-qam', 'side')
  raw(cwd, 'switch', '-q', 'main')
  write(cwd, 'a.txt', 'main\n')
  raw(cwd, 'commit', '-qam', 'main')
  fails(cwd, 'merge', 'side')
  const merging = await call(cwd, { op: 'status' })
  expect(merging.text).toContain('On branch main, in the middle of a merge.')
  expect(merging.text).toContain('Conflicts (1):\n  both modified  a.txt')
  expect((await call(cwd, { op: 'diff' })).text).toContain('<<<<<<<')
  expect((await call(cwd, { op: 'commit', message: 'm' })).text).toMatch(/Conflicts must be solved first .*merge.*a\.txt \(both modified\)/)
  raw(cwd, 'merge', '--abort')
  fails(cwd, 'rebase', 'side')
  expect((await call(cwd, { op: 'status' })).text).toMatch(/^Detached at [0-9a-f]{10}, in the middle of a rebase of main\./)
  raw(cwd, 'rebase', '--abort')
  raw(cwd, 'checkout', '-q', '--detach')
  expect((await call(cwd, { op: 'status' })).text).toMatch(/^Detached at [0-9a-f]{10}\.\nNothing changed/)
})

test('a linked work tree, a submodule and a folder in it are each their own repository', async () => {
  const main = repo()
  const other = repo()
  write(other, 'dir/x.txt', 'x\n')
  raw(other, 'add', '.')
  raw(other, 'commit', '-qm', 'dir')
  raw(main, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'sub')
  raw(main, 'commit', '-qm', 'sub')
  const linked = join(top, 'linked-tool')
  raw(main, 'worktree', 'add', '-q', '-b', 'side', linked)
  expect((await call(linked, { op: 'status' })).text).toContain('On branch side.\nA linked work tree of ')
  write(main, 'sub/dir/x.txt', 'changed\n')
  expect((await call(join(main, 'sub/dir'), { op: 'status' })).text).toContain('modified  x.txt')
  const above = await call(main, { op: 'status' })
  expect(above.text).toContain('Changes inside submodules are not listed here')
  expect((await call(main, { op: 'diff', path: 'sub/dir/x.txt' })).text).toContain('+changed')
})

test('variables from a hook that started Tiller do not lead to another repository', async () => {
  const cwd = repo()
  const other = repo()
  Object.assign(process.env, { GIT_DIR: join(other, '.git'), GIT_WORK_TREE: other, GIT_INDEX_FILE: join(top, 'x') })
  write(cwd, 'mine.txt', 'x\n')
  expect((await call(cwd, { op: 'status' })).text).toContain('mine.txt')
  expect(await call(cwd, { op: 'commit', message: 'mine', paths: ['mine.txt'] })).toMatchObject({ status: 'ok' })
  expect(existsSync(join(top, 'x'))).toBe(false)
  expect(raw(cwd, 'log', '--format=%s').split('\n')[0]).toBe('mine')
})

test.skipIf(process.getuid?.() !== 0)('a repository that somebody else owns: the remedy is said and nothing global is changed (needs root to give a folder away)', async () => {
  const cwd = repo()
  const config = readFileSync(process.env['GIT_CONFIG_GLOBAL']!, 'utf8')
  raw(cwd, 'config', 'user.name', 'x')
  for (const path of [cwd, join(cwd, '.git')]) chownSync(path, 1234, 1234)
  for (const op of ['status', 'diff', 'log'] as const) {
    const output = await call(cwd, { op })
    expect(output.status).toBe('failed')
    expect(output.text).toContain(`git config --global --add safe.directory '${cwd}'`)
  }
  expect(readFileSync(process.env['GIT_CONFIG_GLOBAL']!, 'utf8')).toBe(config)
})

test('a huge diff is cut with a way on, a binary one is named, and a path of many files shows their names', async () => {
  const cwd = repo()
  write(cwd, 'a.txt', Array.from({ length: 30_000 }, (_, line) => `line ${line}`).join('\n'))
  write(cwd, 'b.bin', Buffer.from([0, 1, 2, 3]))
  raw(cwd, 'add', '.')
  const first = await call(cwd, { op: 'diff' })
  expect(Buffer.byteLength(first.text)).toBeLessThan(51 * 1024)
  expect(first.text).toContain('b.bin  binary')
  const offset = Number(/offset (\d+) goes on/.exec(first.text)![1])
  const second = await call(cwd, { op: 'diff', offset })
  const last = first.text.split('\n').filter((line) => line.startsWith('+line')).at(-1)!
  expect(second.text.split('\n')[0]).toBe(`+line ${Number(last.slice(6)) + 1}`)
  for (let index = 0; index < 400; index++) write(cwd, `many/${index}.txt`, 'x\n')
  raw(cwd, 'add', '.')
  const many = await call(cwd, { op: 'diff', path: 'many' })
  expect(many.text).toContain('400 files changed')
  expect(many.text).toContain('Too many files')
})

test('a folder with very many untracked files is one line, and looking can be cancelled', async () => {
  const cwd = repo()
  mkdirSync(join(cwd, 'data'))
  for (let index = 0; index < 20_000; index++) symlinkSync('x', join(cwd, 'data', `${index}`))
  const status = await call(cwd, { op: 'status' })
  expect(status.text).toContain('Untracked (1):\n  data/')
  const cancelled = new AbortController()
  const prepared = await prepare(cwd, { op: 'status' })
  cancelled.abort()
  if (!('run' in prepared)) throw new Error('refused')
  expect(await prepared.run(cancelled.signal, { output: () => {}, spawned: () => {} }, { sandbox: false })).toMatchObject({ status: 'interrupted' })
})

test('log pages, follows a range and a path, and a commit shows what it changed', async () => {
  const cwd = repo()
  for (const name of ['two', 'three', 'four']) {
    write(cwd, `${name}.txt`, `${name}\n`)
    raw(cwd, 'add', '.')
    raw(cwd, 'commit', '-qm', `${name}\n\nThe body of ${name}.`)
  }
  const subjects = async (input: Parameters<typeof prepare>[1]): Promise<string[]> => (await call(cwd, input)).text.split('\n').map((line) => line.split('  ')[3] ?? line)
  expect(await subjects({ op: 'log', limit: 2 })).toEqual(['four', 'three', 'There are more: offset 2 goes on.'])
  expect(await subjects({ op: 'log', limit: 2, offset: 2 })).toEqual(['two', 'first'])
  expect(await subjects({ op: 'log', rev: 'HEAD~2..HEAD' })).toEqual(['four', 'three'])
  expect(await subjects({ op: 'log', path: 'two.txt' })).toEqual(['two'])
  const show = await call(cwd, { op: 'show', rev: 'HEAD~1' })
  expect(show.text).toMatch(/^commit [0-9a-f]{40}\nAuthor: Ada <ada@example.org>\nDate: .*\n\nthree\n\nThe body of three\.\n\n1 file changed/)
  expect(show.text).toContain('+three')
  expect((await call(cwd, { op: 'show', rev: 'HEAD~3' })).text).toContain('+a')
  expect((await call(cwd, { op: 'show', rev: 'nothing' })).text).toContain('There is no commit "nothing"')
  expect((await call(cwd, { op: 'blame', path: 'two.txt', offset: 1, limit: 1 })).text).toMatch(/Ada {2}two/)
})

test('a branch is made and gone to only when asked, and names that clash are said', async () => {
  const cwd = repo()
  expect(await call(cwd, { op: 'branch', name: 'new' })).toMatchObject({ status: 'ok' })
  expect(raw(cwd, 'branch', '--show-current').trim()).toBe('main')
  expect((await call(cwd, { op: 'branch', name: 'new' })).text).toContain('There is a branch new already')
  write(cwd, 'a.txt', 'not lost\n')
  expect(await call(cwd, { op: 'branch', name: 'other', switch: true })).toMatchObject({ status: 'ok' })
  expect(raw(cwd, 'branch', '--show-current').trim()).toBe('other')
  raw(cwd, 'commit', '-qam', 'other')
  write(cwd, 'a.txt', 'mine\n')
  const refused = await call(cwd, { op: 'branch', name: 'main', switch: true })
  expect(refused.status).toBe('failed')
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('mine\n')
  raw(cwd, 'checkout', '-q', '--', 'a.txt')
  const went = await call(cwd, { op: 'branch', name: 'main', switch: true })
  expect(went.changes?.map(({ path }) => path)).toEqual([join(cwd, 'a.txt')])
  const list = await call(cwd, { op: 'branch' })
  expect(list.text).toMatch(/^You are on branch main\.\n\* main {2}/)
})

test('text from a repository holds no control sequences', async () => {
  const cwd = repo()
  write(cwd, 'x\x1b]0;evil\x07y', 'a\x1b[31mred\n')
  raw(cwd, 'add', '.')
  raw(cwd, 'commit', '-qm', 'sub\x1b]52;c;x\x07ject')
  for (const input of [{ op: 'log' }, { op: 'show' }, { op: 'branch' }] as const) expect((await call(cwd, input)).text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
})

test('a hook that waits does not keep reading from working', async () => {
  const cwd = repo()
  hook(cwd, 'post-index-change', 'sleep 60')
  write(cwd, 'a.txt', 'a\n')
  expect(await call(cwd, { op: 'status' })).toMatchObject({ status: 'ok' })
})

test('an empty answer about a path that is not there says so', async () => {
  const cwd = repo()
  expect((await call(cwd, { op: 'diff', path: 'b.txt' })).text).toMatch(/^Nothing changed .* There is no b\.txt in the work tree\.$/)
  expect((await call(cwd, { op: 'log', path: 'b.txt' })).text).toBe('No commits there. There is no b.txt in the work tree.')
  expect((await call(cwd, { op: 'diff', path: 'a.txt' })).text).not.toContain('There is no')
})

test('a repository that is broken is not told as one without commits', async () => {
  const cwd = repo()
  write(cwd, '.git/config', '[bad')
  expect((await call(cwd, { op: 'log' })).text).toContain('bad config line')
  const empty = emptyRepo()
  write(empty, 'a.txt', 'a')
  expect((await call(empty, { op: 'blame', path: 'a.txt' })).text).toBe('This repository has no commits yet.')
})
