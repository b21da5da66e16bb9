import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { git, PLAIN_DIFF } from '../../src/os/git.ts'
import { gitEnvironment } from '../../src/os/git-environment.ts'
import { repository } from '../../src/os/git-repository.ts'
import { gitSettings, withoutFilters } from '../../src/os/git-settings.ts'
import { parseStatus } from '../../src/os/git-status.ts'
import { phaseOf } from '../../src/os/git-phase.ts'
import { folder, raw, repo, top, tryRaw, write } from './git-repos.ts'

const before = { ...process.env }
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
})

test('variables that lead git elsewhere are not passed on, and those of the person are', () => {
  Object.assign(process.env, { GIT_DIR: '/x', GIT_INDEX_FILE: '/y', GIT_WORK_TREE: '/z', GIT_EXTERNAL_DIFF: 'touch P', GIT_CONFIG_COUNT: '1', GIT_TRACE: '1', GIT_AUTHOR_NAME: 'Bo', GPG_TTY: '/dev/pts/1' })
  const env = gitEnvironment('read')
  for (const name of ['GIT_DIR', 'GIT_INDEX_FILE', 'GIT_WORK_TREE', 'GIT_EXTERNAL_DIFF', 'GIT_CONFIG_COUNT', 'GIT_TRACE', 'GPG_TTY']) expect(env).not.toHaveProperty(name)
  expect(env).toMatchObject({ GIT_AUTHOR_NAME: 'Bo', GIT_CONFIG_GLOBAL: join(top, 'gitconfig'), GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' })
  expect(gitEnvironment('write')).not.toHaveProperty('GIT_OPTIONAL_LOCKS')
})

const TRAPS = {
  'core.fsmonitor': 'fsmonitor', 'diff.external': 'external', 'diff.evil.command': 'driver', 'diff.evil.textconv': 'textconv', 'filter.evil.clean': 'clean', 'filter.evil.smudge': 'smudge',
  'filter.evil.process': 'process', 'core.pager': 'pager', 'pager.log': 'pager-log', 'gpg.program': 'gpg', 'filter.lfs.clean': 'lfs',
}

/** A repository in which every program that reading could start leaves a mark. */
function trapped(): { cwd: string; marks: () => string[] } {
  const cwd = repo()
  const marks = folder()
  write(cwd, '.gitattributes', '*.txt diff=evil filter=evil\n*.dat filter=lfs\n')
  write(cwd, 'b.dat', 'b\n')
  raw(cwd, 'add', '.')
  raw(cwd, 'commit', '-qm', 'traps')
  for (const [key, mark] of Object.entries(TRAPS)) raw(cwd, 'config', key, `sh -c 'touch ${marks}/${mark}; cat'`)
  for (const [key, value] of [['filter.evil.required', 'true'], ['log.showSignature', 'true'], ['core.hooksPath', marks], ['status.submoduleSummary', 'true'], ['diff.submodule', 'log']] as const) raw(cwd, 'config', key, value)
  write(marks, 'post-index-change', `#!/bin/sh\ntouch ${marks}/hook\n`, 0o755)
  write(cwd, 'a.txt', 'changed\n')
  write(cwd, 'b.dat', 'b\n')
  return { cwd, marks: () => readdirSync(marks).filter((name) => name !== 'post-index-change') }
}

test('reading starts no program that the repository names', async () => {
  const { cwd, marks } = trapped()
  const settings = await gitSettings(repository(cwd)!)
  expect(settings.ownFilters.sort()).toEqual(['evil', 'lfs'])
  const place = { cwd, config: withoutFilters(settings), purpose: 'read' as const }
  for (const args of [
    ['status', '--porcelain=v2', '-z'], ['diff', ...PLAIN_DIFF, 'HEAD', '--'], ['log', '-p', ...PLAIN_DIFF], ['show', ...PLAIN_DIFF, 'HEAD'], ['blame', '--no-textconv', '--', 'a.txt'], ['branch', '-v'],
    ['rev-parse', 'HEAD'], ['ls-files', '-z', '-m'],
  ]) expect(await git({ ...place, args })).toMatchObject({ exit: 0 })
  expect(marks()).toEqual([])
  for (const args of [['status'], ['diff'], ['log', '-p', '--ext-diff']]) tryRaw(cwd, ...args)
  expect(marks(), 'the traps work when git is called without care').toEqual(expect.arrayContaining(['fsmonitor', 'external', 'process']))
})

test('a partial clone is not completed by a program that its configuration names', async () => {
  const origin = repo()
  raw(origin, 'config', 'uploadpack.allowFilter', 'true')
  const clone = join(folder(), 'clone')
  raw(top, 'clone', '-q', '--filter=blob:none', '--no-checkout', `file://${origin}`, clone)
  const mark = join(folder(), 'ran')
  raw(clone, 'config', 'remote.origin.uploadpack', `touch ${mark}; git-upload-pack`)
  const end = await git({ cwd: clone, purpose: 'read', args: ['show', ...PLAIN_DIFF, 'HEAD'] })
  expect(end.exit).not.toBe(0)
  expect(existsSync(mark)).toBe(false)
})

test('filters of the person are kept, and a name that cannot be switched off is said', async () => {
  const cwd = repo()
  const config = process.env['GIT_CONFIG_GLOBAL']!
  const own = join(folder(), 'config')
  writeFileSync(own, '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n')
  process.env['GIT_CONFIG_GLOBAL'] = own
  try {
    expect(await gitSettings(repository(cwd)!)).toMatchObject({ ownFilters: [], unsafeFilter: false })
    raw(cwd, 'config', 'lfs.extension.x.clean', 'touch P')
    expect(await gitSettings(repository(cwd)!)).toMatchObject({ ownFilters: ['lfs'] })
    raw(cwd, 'config', 'filter.a=b.clean', 'touch P')
    expect(await gitSettings(repository(cwd)!)).toMatchObject({ unsafeFilter: true })
  } finally {
    process.env['GIT_CONFIG_GLOBAL'] = config
  }
})

test('more output than asked for ends git, and what was read is kept', async () => {
  const cwd = repo()
  write(cwd, 'a.txt', 'x'.repeat(3_000_000))
  const end = await git({ cwd, purpose: 'read', args: ['diff', ...PLAIN_DIFF], maxBytes: 10_000 })
  expect(end).toMatchObject({ cut: true, reason: 'exited' })
  expect(end.stdout.length).toBe(10_000)
})

test('status is parsed with every kind of entry, and names with spaces and newlines stay whole', () => {
  const hash = 'a'.repeat(40)
  const text = [
    `# branch.oid ${hash}`, '# branch.head main', '# branch.upstream origin/main', '# branch.ab +2 -3',
    `1 M. N... 100644 100644 100644 ${hash} ${hash} two  spaces .txt`, `1 .D N... 100644 100644 000000 ${hash} ${hash} n\nl`,
    `2 R. N... 100644 100644 100644 ${hash} ${hash} R100 new name`, 'old name', `u UU N... 100644 100644 100644 100644 ${hash} ${hash} ${hash} con flict`, '? un tracked/', '',
  ].join('\0')
  expect(parseStatus(text)).toEqual({
    head: hash, branch: 'main', upstream: { name: 'origin/main', ahead: 2, behind: 3 },
    staged: [{ path: 'two  spaces .txt', how: 'modified' }, { path: 'new name', how: 'renamed', from: 'old name' }],
    unstaged: [{ path: 'n\nl', how: 'deleted' }], conflicts: [{ path: 'con flict', how: 'both modified' }], untracked: ['un tracked/'],
  })
})

test('a trace tells the hook that runs from git commands inside it, and from signing', () => {
  const start = (id: number, rest: object, sid = 'A'): string => JSON.stringify({ event: 'child_start', sid, child_id: id, ...rest })
  const exit = (id: number, sid = 'A'): string => JSON.stringify({ event: 'child_exit', sid, child_id: id })
  const hookStart = start(0, { child_class: 'hook', hook_name: 'pre-commit', argv: ['x'] })
  expect(phaseOf(hookStart)).toEqual({ kind: 'hook', name: 'pre-commit' })
  expect(phaseOf([hookStart, start(0, { child_class: '?', argv: ['y'] }, 'A/B'), exit(0, 'A/B')].join('\n'))).toEqual({ kind: 'hook', name: 'pre-commit' })
  expect(phaseOf([hookStart, exit(0)].join('\n'))).toBeNull()
  expect(phaseOf(start(1, { child_class: '?', argv: ['/bin/gpg2', '--status-fd=2', '-bsau', 'Ada'] }))).toEqual({ kind: 'signing', program: '/bin/gpg2' })
})
