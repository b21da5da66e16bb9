import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { sha256 } from '../../src/os/files.ts'
import { emptyRepo, folder, hook, raw, repo, write } from '../os/git-repos.ts'
import { call, prepare } from './git-calls.ts'

const committed = (cwd: string): string[] => raw(cwd, 'show', '--name-only', '--format=', 'HEAD').trim().split('\n')
const message = (cwd: string): string => raw(cwd, 'log', '-1', '--format=%B')
const staged = (cwd: string): string => raw(cwd, 'diff', '--cached', '--name-only').trim()

test('a commit holds exactly the paths that are named, new ones too, and what else is staged stays staged', async () => {
  const cwd = repo()
  write(cwd, 'staged.txt', 's\n')
  raw(cwd, 'add', 'staged.txt')
  write(cwd, 'a.txt', 'changed\n')
  write(cwd, 'new/one.txt', '1\n')
  write(cwd, 'new/two.txt', '2\n')
  write(cwd, 'other.txt', 'o\n')
  const output = await call(cwd, { op: 'commit', message: 'only these', paths: ['a.txt', 'new'] })
  expect(output).toMatchObject({ status: 'ok', exit: 0 })
  expect(output.text).toMatch(/^Committed [0-9a-f]+ only these \(3 files\)\.\n {2}M {2}a\.txt\n {2}A {2}new\/one\.txt\n {2}A {2}new\/two\.txt/)
  expect(committed(cwd)).toEqual(['a.txt', 'new/one.txt', 'new/two.txt'])
  expect(staged(cwd)).toBe('staged.txt')
  expect(raw(cwd, 'status', '--porcelain')).toBe('A  staged.txt\n?? other.txt\n')
})

test('without paths the index is committed as it is staged, and the message is kept to the letter', async () => {
  const cwd = repo()
  write(cwd, 'a.txt', 'staged\n')
  raw(cwd, 'add', 'a.txt')
  write(cwd, 'a.txt', 'later\n')
  const text = '-n subject "quoted" ünï\n\n# not a comment\n- list\n\nTrailer: x'
  expect(await call(cwd, { op: 'commit', message: text })).toMatchObject({ status: 'ok' })
  expect(raw(cwd, 'show', 'HEAD:a.txt')).toBe('staged\n')
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('later\n')
  expect(message(cwd)).toBe(`${text}\n\n`)
})

test('a message whose line breaks are written out is not taken; a \\n that is meant is', async () => {
  const cwd = repo()
  write(cwd, 'a.txt', 'x\n')
  expect((await call(cwd, { op: 'commit', message: 'Fix it\\n\\nBecause', paths: ['a.txt'] })).text).toContain('escaped once')
  expect(await call(cwd, { op: 'commit', message: 'Split at \\n, not at \\r\\n', paths: ['a.txt'] })).toMatchObject({ status: 'ok' })
})

test('a deletion is committed by its path, and the first commit of a repository with paths works', async () => {
  const cwd = emptyRepo()
  write(cwd, 'x.txt', 'x\n')
  write(cwd, 'y.txt', 'y\n')
  expect(await call(cwd, { op: 'commit', message: 'first', paths: ['x.txt', 'y.txt'] })).toMatchObject({ status: 'ok' })
  unlinkSync(join(cwd, 'x.txt'))
  expect((await call(cwd, { op: 'commit', message: 'gone', paths: ['x.txt'] })).text).toContain('D  x.txt')
})

test('with nothing to commit it says what could be, and for an ignored or missing path why not', async () => {
  const cwd = repo()
  expect((await call(cwd, { op: 'commit', message: 'm' })).text).toBe('There is nothing to commit.')
  write(cwd, 'new.txt', 'n\n')
  write(cwd, '.gitignore', 'ignored.txt\n')
  write(cwd, 'ignored.txt', 'i\n')
  expect((await call(cwd, { op: 'commit', message: 'm' })).text).toBe('Nothing is staged. Name the paths to commit; changed are: .gitignore, new.txt.')
  expect((await call(cwd, { op: 'commit', message: 'm', paths: ['new.txt', 'ignored.txt', 'missing.txt'] })).text).toBe(
    'ignored.txt: ignored by .gitignore, so it is not committed.\nmissing.txt: there is no such file, nor was there one.',
  )
  expect((await call(cwd, { op: 'commit', message: ' ' })).text).toBe('commit needs a message.')
  expect(raw(cwd, 'status', '--porcelain')).toBe('?? .gitignore\n?? new.txt\n')
})

test('a hook that says no: no commit, its output is in the result, and new files are as untracked as before', async () => {
  const cwd = repo()
  hook(cwd, 'pre-commit', 'echo "NO, because of rule 7" >&2; exit 1')
  write(cwd, 'new.txt', 'n\n')
  const output = await call(cwd, { op: 'commit', message: 'm', paths: ['new.txt'] })
  expect(output).toMatchObject({ status: 'failed', exit: 1 })
  expect(output.text).toContain('NO, because of rule 7')
  expect(output.text).toContain('No commit was made.')
  expect(raw(cwd, 'status', '--porcelain')).toBe('?? new.txt\n')
  expect(raw(cwd, 'log', '--format=%s').trim()).toBe('first')
})

test('a hook that rewrites a file makes it stale for whoever read it, whether the commit is made or not', async () => {
  const cwd = repo()
  write(cwd, 'b.txt', 'bbb\n')
  write(cwd, 'c.txt', 'ccc\n')
  raw(cwd, 'add', '.')
  raw(cwd, 'commit', '-qm', 'more')
  hook(cwd, 'pre-commit', 'sed -i s/a/A/ a.txt; git add a.txt; sed -i s/b/B/ b.txt')
  write(cwd, 'a.txt', 'aaa\n')
  raw(cwd, 'add', 'a.txt')
  const output = await call(cwd, { op: 'commit', message: 'm' })
  expect(output.status).toBe('ok')
  expect(output.changes).toEqual([
    { path: join(cwd, 'a.txt'), before: sha256(Buffer.from('aaa\n')), after: sha256(Buffer.from('Aaa\n')) },
    { path: join(cwd, 'b.txt'), before: sha256(Buffer.from('bbb\n')), after: sha256(Buffer.from('Bbb\n')) },
  ])
  expect(output.text).toContain('Changed on disk meanwhile, so read them again before you edit them: a.txt, b.txt.')
  hook(cwd, 'pre-commit', 'sed -i s/c/C/ c.txt; exit 1')
  write(cwd, 'a.txt', 'again\n')
  const refused = await call(cwd, { op: 'commit', message: 'm', paths: ['a.txt'] })
  expect(refused).toMatchObject({ status: 'failed', changes: [{ path: join(cwd, 'c.txt') }] })
})

test('what a hook makes of the paths of a commit is in the index too: the next commit does not take it back', async () => {
  const cwd = repo()
  write(cwd, 'gone.txt', 'g\n')
  raw(cwd, 'add', '.')
  raw(cwd, 'commit', '-qm', 'more')
  write(cwd, 'staged.txt', 's\n')
  raw(cwd, 'add', 'staged.txt')
  hook(cwd, 'pre-commit', 'sed -i s/a/A/ a.txt "n \u00fc.txt"; echo made > made.txt; git add a.txt "n \u00fc.txt" made.txt; git rm -qf gone.txt')
  write(cwd, 'a.txt', 'aaa\n')
  write(cwd, 'n \u00fc.txt', 'aaa\n')
  expect((await call(cwd, { op: 'commit', message: 'm', paths: ['a.txt', 'n \u00fc.txt'] })).text).toMatch(/^Committed \w+ m \(4 files\)/)
  expect(raw(cwd, 'show', 'HEAD:a.txt')).toBe('Aaa\n')
  expect(raw(cwd, 'status', '--porcelain')).toBe('A  staged.txt\n')
})

test('new files that nobody wrote meanwhile are not told as changed', async () => {
  const cwd = repo()
  write(cwd, 'new.txt', 'n\n')
  utimesSync(join(cwd, 'new.txt'), new Date(), new Date(Date.now() - 1_000))
  expect(await call(cwd, { op: 'add', paths: ['.'] })).toEqual({ status: 'ok', text: 'Staged (1):\n  new  new.txt', exit: 0 })
  hook(cwd, 'pre-commit', 'echo made > made.txt; git add made.txt')
  const output = await call(cwd, { op: 'commit', message: 'm', paths: ['new.txt'] })
  expect(output.changes).toEqual([{ path: join(cwd, 'made.txt'), before: null, after: sha256(Buffer.from('made\n')) }])
})

test('a commit that another git made in the meantime is never told as ours', async () => {
  const cwd = repo()
  // As soon as our commit has begun, another one moves the branch.
  hook(cwd, 'pre-commit', 'git update-ref HEAD "$(git commit-tree -p HEAD -m other "HEAD^{tree}")"')
  write(cwd, 'a.txt', 'x\n')
  const output = await call(cwd, { op: 'commit', message: 'ours', paths: ['a.txt'] })
  expect(output).toMatchObject({ status: 'failed', text: expect.stringMatching(/Another git was quicker[\s\S]*No commit was made\.$/) })
  expect(raw(cwd, 'log', '--format=%s').trim()).toBe('other\nfirst')
})

test('a commit that is cancelled when it has been made, in its last hook, is told as made', async () => {
  const cwd = repo()
  hook(cwd, 'post-commit', 'echo waiting; sleep 60')
  write(cwd, 'a.txt', 'x\n')
  const stop = new AbortController()
  const output = await call(cwd, { op: 'commit', message: 'made', paths: ['a.txt'] }, { signal: stop.signal, onOutput: (text) => { if (text.includes('waiting')) stop.abort() } })
  expect(output).toMatchObject({ status: 'interrupted', text: expect.stringMatching(/^Committed \w+ made/) })
  expect(raw(cwd, 'status', '--porcelain')).toBe('')
})

test('secrets that git does not know are not swept in with their folder, but come in where they are named', async () => {
  const cwd = repo()
  for (const path of ['.env', 'conf/server.key', 'conf/.env.example', 'b.txt']) write(cwd, path, 'x\n')
  expect((await call(cwd, { op: 'add', paths: ['.'] })).text).toMatch(/^Nothing was staged: \.env, conf\/server\.key may hold secrets/)
  expect((await call(cwd, { op: 'commit', message: 'm', paths: ['conf', 'b.txt'] })).text).toMatch(/^Nothing was committed: conf\/server\.key may hold secrets/)
  expect(raw(cwd, 'status', '--porcelain')).toBe('?? .env\n?? b.txt\n?? conf/\n')
  expect(await call(cwd, { op: 'add', paths: ['conf', 'conf/server.key'] })).toMatchObject({ status: 'ok' })
  write(cwd, '.gitignore', '.env\n')
  expect(await call(cwd, { op: 'add', paths: ['.'] })).toMatchObject({ status: 'ok' })
  write(cwd, 'conf/server.key', 'y\n')
  expect(await call(cwd, { op: 'add', paths: ['.'] })).toMatchObject({ status: 'ok' })
})

test('a repository inside is named as one, and what is said of a path is the path', async () => {
  const cwd = repo()
  write(cwd, 'inner/x.txt', 'x\n')
  raw(join(cwd, 'inner'), 'init', '-q')
  expect((await call(cwd, { op: 'commit', message: 'm', paths: ['inner'] })).text).toBe('inner: a repository of its own; name paths in it to commit there.')
  expect((await call(cwd, { op: 'add', paths: ['nope.txt'] })).text).toBe("fatal: pathspec 'nope.txt' did not match any files")
})

test('a conflict that is added with its markers is not told as solved', async () => {
  const cwd = repo()
  raw(cwd, 'checkout', '-qb', 'x')
  write(cwd, 'a.txt', 'x\n')
  raw(cwd, 'commit', '-qam', 'x')
  raw(cwd, 'checkout', '-q', 'main')
  write(cwd, 'a.txt', 'm\n')
  raw(cwd, 'commit', '-qam', 'm')
  try { raw(cwd, 'merge', '-q', 'x') } catch { /* conflicts */ }
  expect((await call(cwd, { op: 'add', paths: ['a.txt'] })).text).toContain('NOT solved: a.txt still has conflict markers')
  write(cwd, 'a.txt', 'both\n')
  expect((await call(cwd, { op: 'add', paths: ['a.txt'] })).text).toBe('Staged (1):\n  modified  a.txt')
})

test('cancelled in a hook that waits: git takes its lock away, says where it was, and the next commit works', async () => {
  const cwd = repo()
  hook(cwd, 'pre-commit', 'echo waiting; sleep 60')
  write(cwd, 'a.txt', 'x\n')
  const stop = new AbortController()
  const output = await call(cwd, { op: 'commit', message: 'm', paths: ['a.txt'] }, { signal: stop.signal, onOutput: (text) => { if (text.includes('waiting')) stop.abort() } })
  expect(output.status).toBe('interrupted')
  expect(output.text).toContain('Cancelled while the pre-commit hook ran.')
  expect(output.text).toContain('No commit was made.')
  expect(existsSync(join(cwd, '.git/index.lock'))).toBe(false)
  hook(cwd, 'pre-commit', 'exit 0')
  expect(await call(cwd, { op: 'commit', message: 'm', paths: ['a.txt'] })).toMatchObject({ status: 'ok' })
})

test('a hook that leaves a process behind does not keep the commit from ending, and the process is named', async () => {
  const cwd = repo()
  hook(cwd, 'post-commit', 'sleep 50 & echo started')
  write(cwd, 'a.txt', 'x\n')
  const output = await call(cwd, { op: 'commit', message: 'm', paths: ['a.txt'] })
  expect(output).toMatchObject({ status: 'ok' })
  expect(output.alive?.length).toBe(1)
  for (const pid of output.alive ?? []) process.kill(pid)
})

test('an editor, a terminal and a pager are never opened by a hook, and it has no standing input to wait for', async () => {
  const cwd = repo()
  hook(cwd, 'pre-commit', '(: </dev/tty) 2>/dev/null && echo TTY; cat; git log -1 --format=in-hook; git -c core.editor=vi commit --no-verify --allow-empty 2>&1 || echo refused')
  write(cwd, 'a.txt', 'x\n')
  const output = await call(cwd, { op: 'commit', message: 'm', paths: ['a.txt'] })
  expect(output.text).not.toContain('TTY')
  expect(output.text).toContain('in-hook')
  expect(output.text).toContain('refused')
})

test('signing that would ask fails fast with the reason, and is not switched off', async () => {
  const cwd = repo()
  const program = join(folder(), 'ask-gpg')
  writeFileSync(program, '#!/bin/sh\nread answer </dev/tty || exit 2\n', { mode: 0o755 })
  raw(cwd, 'config', 'commit.gpgsign', 'true')
  raw(cwd, 'config', 'gpg.program', program)
  write(cwd, 'a.txt', 'x\n')
  const output = await call(cwd, { op: 'commit', message: 'm', paths: ['a.txt'] })
  expect(output.status).toBe('failed')
  expect(output.text).toContain('commits are signed in this repository (commit.gpgsign), and the signing program failed')
  expect(output.text).toContain('unlock the key in another terminal')
  expect(raw(cwd, 'log', '--format=%s').trim()).toBe('first')
})

test('signing that waits is ended soon, while a hook may take its time', async () => {
  const cwd = repo()
  const program = join(folder(), 'slow-gpg')
  writeFileSync(program, '#!/bin/sh\nsleep 600\n', { mode: 0o755 })
  hook(cwd, 'pre-commit', 'sleep 2; echo took-its-time')
  raw(cwd, 'config', 'commit.gpgsign', 'true')
  raw(cwd, 'config', 'gpg.program', program)
  write(cwd, 'a.txt', 'x\n')
  const output = await call(cwd, { op: 'commit', message: 'm', paths: ['a.txt'] }, { options: { signingMs: 1_000 } })
  expect(output.status).toBe('failed')
  expect(output.text).toContain(`the signing program (${program}) waited for an answer`)
  expect(output.text).toContain('took-its-time')
  expect(existsSync(join(cwd, '.git/index.lock'))).toBe(false)
})

test('a lock that is let go is waited for; a stale one is described by its age; a live one by its owner, and neither is removed', async () => {
  const cwd = repo()
  const lock = join(cwd, '.git/index.lock')
  write(cwd, 'a.txt', 'x\n')
  writeFileSync(lock, '')
  const freed = call(cwd, { op: 'add', path: 'a.txt' })
  setTimeout(() => rmSync(lock), 1_000)
  expect(await freed).toMatchObject({ status: 'ok' })

  writeFileSync(lock, '')
  const old = Date.now() / 1_000 - 3 * 3_600
  utimesSync(lock, old, old)
  const stale = await call(cwd, { op: 'commit', message: 'm' })
  expect(stale.status).toBe('failed')
  expect(stale.text).toContain(`${lock} is 3 h old, and no git process that works here was found`)
  expect(existsSync(lock)).toBe(true)
  rmSync(lock)

  hook(cwd, 'pre-commit', 'sleep 30')
  const holder = spawn('git', ['commit', '-qam', 'held'], { cwd, stdio: 'ignore', detached: true, env: process.env })
  await vi.waitFor(() => expect(existsSync(lock)).toBe(true), { timeout: 10_000 })
  try {
    const held = await call(cwd, { op: 'add', path: 'a.txt' })
    expect(held.status).toBe('failed')
    expect(held.text).toContain(`process ${holder.pid} (git commit -qam held)`)
    expect(existsSync(lock)).toBe(true)
  } finally {
    process.kill(-holder.pid!, 'SIGTERM')
  }
})

test('on a detached head it warns that no branch holds the commit', async () => {
  const cwd = repo()
  raw(cwd, 'checkout', '-q', '--detach')
  write(cwd, 'a.txt', 'x\n')
  expect((await call(cwd, { op: 'commit', message: 'm', paths: ['a.txt'] })).text).toContain('HEAD is detached: no branch holds this commit.')
})

test('without a name and address git says what to set', async () => {
  const cwd = repo()
  const config = process.env['GIT_CONFIG_GLOBAL']!
  const none = join(folder(), 'none')
  writeFileSync(none, '[user]\n\tuseConfigOnly = true\n')
  process.env['GIT_CONFIG_GLOBAL'] = none
  try {
    write(cwd, 'a.txt', 'x\n')
    const output = await call(cwd, { op: 'commit', message: 'm', paths: ['a.txt'] })
    expect(output.status).toBe('failed')
    expect(output.text).toContain('user.email')
  } finally {
    process.env['GIT_CONFIG_GLOBAL'] = config
  }
})

test('whoever is asked sees files, hooks and signing, and is asked again when the content differs', async () => {
  const cwd = repo()
  hook(cwd, 'pre-commit', 'exit 0')
  raw(cwd, 'config', 'commit.gpgsign', 'true')
  write(cwd, 'a.txt', 'one\n')
  const input = { op: 'commit' as const, message: "it's", paths: ['a.txt'] }
  const first = await prepare(cwd, input)
  if (!('run' in first)) throw new Error('refused')
  expect(first.preview).toMatchObject({ kind: 'command', command: "git commit -m 'it'\\''s' -- a.txt", cwd })
  expect(JSON.stringify(first.preview)).toMatch(/on branch main; 1 file, content [0-9a-f]{8}:.*modified {2}a\.txt.*Runs the hooks pre-commit\..*Signed/)
  expect(await prepare(cwd, input)).toMatchObject({ preview: first.preview })
  write(cwd, 'a.txt', 'two\n')
  expect(await prepare(cwd, input)).not.toMatchObject({ preview: first.preview })
})

test('a call that must run in the sandbox fails where there is none', async () => {
  const cwd = repo()
  write(cwd, 'a.txt', 'one\n')
  const prepared = await prepare(cwd, { op: 'commit', message: 'm', paths: ['a.txt'] })
  if (!('run' in prepared)) throw new Error('refused')
  expect(await prepared.run(new AbortController().signal, { output: () => {}, spawned: () => {} }, { sandbox: true })).toMatchObject({ status: 'failed' })
  expect(raw(cwd, 'log', '--format=%s').trim()).toBe('first')
})
