import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gitPrograms, safeGitEnvironment } from '../../src/os/git-programs.ts'
import { git, place, verdict, verdicts, type Place } from './shell-lines.ts'

let at: Place
beforeEach(() => {
  at = place()
})
afterEach(() => at.remove())

const READING = ['git status', 'git diff', 'git log -p', 'git show HEAD', 'git blame f']
const mark = (): string => join(at.outside, 'P')
const set = (key: string, value: string): void => git(at.root, 'config', key, value)

/** What a repository can name, and a command that would run it (null: it needs more than these to be run). */
const PROGRAMS: [what: string, put: () => void, runs: string | null][] = [
  ['core.fsmonitor', () => set('core.fsmonitor', `touch '${mark()}'; false`), 'git status'],
  ['diff.external', () => {
    set('diff.external', `touch '${mark()}'; :`)
    appendFileSync(join(at.root, 'f'), 'more\n')
  }, 'git diff'],
  ['a diff driver', () => {
    set('diff.evil.command', `touch '${mark()}'; :`)
    writeFileSync(join(at.root, '.gitattributes'), 'f diff=evil\n')
    appendFileSync(join(at.root, 'f'), 'more\n')
  }, 'git diff'],
  ['textconv', () => {
    set('diff.evil.textconv', `touch '${mark()}'; cat`)
    writeFileSync(join(at.root, '.gitattributes'), 'f diff=evil\n')
  }, 'git show HEAD'],
  ['a clean filter', () => {
    set('filter.evil.clean', `touch '${mark()}'; cat`)
    writeFileSync(join(at.root, '.gitattributes'), 'f filter=evil\n')
    appendFileSync(join(at.root, 'f'), 'more\n')
  }, 'git diff'],
  ['a post-index-change hook', () => {
    writeFileSync(join(at.root, '.git/hooks/post-index-change'), `#!/bin/sh\ntouch '${mark()}'\n`, { mode: 0o755 })
    chmodSync(join(at.root, '.git/hooks/post-index-change'), 0o755)
    spawnSync('touch', ['-d', '2001-01-01', join(at.root, 'f')])
  }, 'git status'],
  ['a hook folder', () => {
    mkdirSync(join(at.root, 'hooks'))
    writeFileSync(join(at.root, 'hooks/post-index-change'), `#!/bin/sh\ntouch '${mark()}'\n`, { mode: 0o755 })
    set('core.hooksPath', 'hooks')
    spawnSync('touch', ['-d', '2001-01-01', join(at.root, 'f')])
  }, 'git status'],
  ['gpg.program', () => set('gpg.program', mark()), null],
  ['a partial clone', () => set('remote.origin.promisor', 'true'), null],
  ['an included file', () => {
    writeFileSync(join(at.root, 'more.conf'), `[core]\n\tfsmonitor = touch '${mark()}'; false\n`)
    set('include.path', '../more.conf')
  }, 'git status'],
  ['settings of this work tree', () => {
    set('extensions.worktreeConfig', 'true')
    git(at.root, 'config', '--worktree', 'core.fsmonitor', `touch '${mark()}'; false`)
  }, 'git status'],
  ['submodules', () => mkdirSync(join(at.root, '.git/modules/x'), { recursive: true }), null],
  ['a work tree elsewhere', () => set('core.worktree', at.outside), null],
]

describe('K4: where the repository names programs, reading git commands ask', () => {
  test.each(PROGRAMS)('%s', async (_what, put, runs) => {
    expect(await verdict('git status', at)).toBe('allow')
    put()
    if (runs) {
      // The danger is real: left alone, git runs it.
      spawnSync('bash', ['-c', runs], { cwd: at.root })
      expect(existsSync(mark())).toBe(true)
    }
    for (const command of READING) expect([command, ...(await verdicts(command, at, [], 'ask', 'plan'))]).toEqual([command, 'ask', 'deny'])
  })
})

test('looking at the configuration runs nothing of it', async () => {
  for (const [, put] of PROGRAMS.slice(0, 9)) put()
  expect(await gitPrograms(at.root, at.root)).not.toBe(null)
  expect(existsSync(mark())).toBe(false)
})

test('harmless settings stay free', async () => {
  for (const [key, value] of [['core.fsmonitor', 'false'], ['core.autocrlf', 'input'], ['core.pager', 'touch P'], ['alias.status', '!touch P'], ['alias.x', '!touch P'], ['user.name', 'x'], ['core.hooksPath', '.husky/_'], ['diff.algorithm', 'histogram'], ['color.ui', 'always']] as const) set(key, value)
  for (const command of READING) {
    expect(await verdict(command, at)).toBe('allow')
    spawnSync('bash', ['-c', command], { cwd: at.root })
  }
  expect(existsSync(join(at.root, 'P'))).toBe(false)
})

test('another repository inside is judged by its own settings, by cd and by -C', async () => {
  const inner = join(at.root, 'vendor')
  mkdirSync(inner)
  git(inner, 'init', '-q')
  git(inner, 'config', 'core.fsmonitor', 'touch P')
  expect(await verdict('git status', at)).toBe('allow')
  for (const command of ['git -C vendor status', 'cd vendor && git status', '(cd vendor; git log)']) expect(await verdict(command, at)).toBe('ask')
})

test('where there is no repository, or git refuses it, nothing can be run', async () => {
  expect(await gitPrograms(at.outside, at.outside)).toBe(null)
  expect(await verdict('git status', { ...at, root: at.outside })).toBe('allow')
})

test('the environment for shells that only read keeps the programs of hooks and the file watcher out', () => {
  for (const [what, put] of PROGRAMS.slice(0, 1).concat(PROGRAMS.slice(5, 7))) {
    put()
    spawnSync('bash', ['-c', 'git status'], { cwd: at.root, env: { ...process.env, ...safeGitEnvironment } })
    expect([what, existsSync(mark())]).toEqual([what, false])
  }
})

test('what git would show of secrets that a command does not name is asked for, and only that', async () => {
  const free = ['git diff', 'git diff HEAD', 'git show', 'git show HEAD', 'git log -p', 'git log --oneline', 'git grep KEY', 'git diff --stat']
  for (const command of free) expect([command, await verdict(command, at)]).toEqual([command, 'allow'])
  git(at.root, 'add', '-f', '.env')
  git(at.root, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-q', '-m', 'a secret')
  for (const command of ['git show', 'git show -p --stat', 'git log -p', 'git log -p -1', 'git log -U3', 'git grep KEY', 'git -C src grep KEY :/', 'cd src && git show', 'git diff HEAD~1', 'git log -S KEY -p', 'git show "$(echo HEAD)"']) expect([command, await verdict(command, at)]).toEqual([command, 'ask'])
  for (const command of ['git diff', 'git show HEAD~1', 'git show --stat', 'git log', 'git log -p -- f', 'git grep nothing', 'git grep -l KEY', 'git diff HEAD~1 -- f', 'git show --name-only']) expect([command, await verdict(command, at)]).toEqual([command, 'allow'])
  writeFileSync(join(at.root, '.env'), 'KEY=2\n')
  for (const command of ['git diff', 'git diff -U0', 'git diff --word-diff']) expect([command, await verdict(command, at)]).toEqual([command, 'ask'])
  expect(await verdict('git diff --stat', at)).toBe('allow')
})
