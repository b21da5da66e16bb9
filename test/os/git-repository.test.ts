import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from '../../src/os/git-repository.ts'
import { emptyRepo, fails, folder, raw, repo, top, write } from './git-repos.ts'

/** What git itself says. */
const said = (cwd: string, ...args: string[]): string => raw(cwd, 'rev-parse', ...args).trim()

function agrees(cwd: string): void {
  const found = repository(cwd)
  expect(found).not.toBeNull()
  expect(found!.root).toBe(said(cwd, '--show-toplevel'))
  expect(found!.gitDir).toBe(said(cwd, '--absolute-git-dir'))
  expect(found!.commonDir).toBe(said(cwd, '--path-format=absolute', '--git-common-dir'))
  expect(found!.head).toBe(said(cwd, 'HEAD'))
  const branch = raw(cwd, 'branch', '--show-current').trim()
  expect(found!.branch).toBe(branch === '' ? null : branch)
}

test('it agrees with git in a folder below the top, a linked work tree, a submodule and a folder in it', () => {
  const main = repo()
  write(main, 'deep/er/b.txt', 'b\n')
  agrees(main)
  agrees(join(main, 'deep/er'))

  const linked = join(top, 'linked')
  raw(main, 'worktree', 'add', '-q', '-b', 'side', linked)
  agrees(linked)
  expect(repository(linked)).toMatchObject({ branch: 'side', linked: true, commonDir: join(main, '.git') })

  const other = repo()
  write(other, 'dir/x.txt', 'x')
  raw(other, 'add', '.')
  raw(other, 'commit', '-qm', 'dir')
  raw(main, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'sub')
  agrees(join(main, 'sub'))
  agrees(join(main, 'sub/dir'))
  expect(repository(join(main, 'sub/dir'))!.root).toBe(join(main, 'sub'))
})

test('packed refs, a detached head and a branch with slashes are read', () => {
  const cwd = repo()
  raw(cwd, 'switch', '-qc', 'feature/some/thing')
  raw(cwd, 'pack-refs', '--all')
  agrees(cwd)
  raw(cwd, 'checkout', '-q', '--detach')
  agrees(cwd)
  expect(repository(cwd)).toMatchObject({ branch: null, detached: true })
})

test('a repository without commits has a branch and no head', () => {
  expect(repository(emptyRepo())).toMatchObject({ branch: 'main', head: null, detached: false, under: null })
})

test('a rebase, a merge, a cherry-pick and a bisect under way are named', () => {
  const cwd = repo()
  raw(cwd, 'switch', '-qc', 'side')
  write(cwd, 'a.txt', 'side\n')
  raw(cwd, 'commit', '-qam', 'side')
  raw(cwd, 'switch', '-q', 'main')
  write(cwd, 'a.txt', 'main\n')
  raw(cwd, 'commit', '-qam', 'main')
  fails(cwd, 'merge', 'side')
  expect(repository(cwd)).toMatchObject({ branch: 'main', under: 'merge' })
  raw(cwd, 'merge', '--abort')
  fails(cwd, 'cherry-pick', 'side')
  expect(repository(cwd)).toMatchObject({ under: 'cherry-pick' })
  raw(cwd, 'cherry-pick', '--abort')
  fails(cwd, 'rebase', 'side')
  expect(repository(cwd)).toMatchObject({ under: 'rebase', branch: 'main', detached: true })
  raw(cwd, 'rebase', '--abort')
  raw(cwd, 'bisect', 'start')
  expect(repository(cwd)).toMatchObject({ under: 'bisect' })
})

test('outside a repository, in a bare one, and beside a .git that is none, there is nothing', () => {
  const cwd = folder()
  expect(repository(cwd)).toBeNull()
  mkdirSync(join(cwd, '.git'))
  expect(repository(cwd)).toBeNull()
  write(cwd, 'x/.git', 'gitdir: /nowhere')
  expect(repository(join(cwd, 'x'))).toBeNull()
  raw(cwd, 'init', '-q', '--bare', 'bare.git')
  expect(repository(join(cwd, 'bare.git'))).toBeNull()
})

test('a pipe named .git is not waited for', () => {
  const cwd = folder()
  execFileSync('mkfifo', [join(cwd, '.git')])
  expect(repository(cwd)).toBeNull()
  rmSync(join(cwd, '.git'))
})

test('the folder of a session may be gone', () => {
  const cwd = repo()
  mkdirSync(join(cwd, 'gone'))
  rmSync(join(cwd, 'gone'), { recursive: true })
  expect(repository(join(cwd, 'gone'))!.root).toBe(cwd)
})
