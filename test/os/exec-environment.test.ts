import { expect, test } from 'vitest'
import { environment } from '../../src/os/environment.ts'

const base = {
  PATH: '/bin', HOME: '/home/a', LANG: 'C.UTF-8', https_proxy: 'http://p', GIT_DIR: '/x/.git', GIT_INDEX_FILE: '/x/index', GIT_WORK_TREE: '/x', GIT_CONFIG_PARAMETERS: "'a'='b'", GIT_EDITOR: 'vi', EDITOR: 'vi', PAGER: 'less',
  GIT_AUTHOR_NAME: 'me', GIT_ASKPASS: '/usr/bin/ask', FORCE_COLOR: '1', GPG_TTY: '/dev/pts/1', OPENAI_API_KEY: 'k', github_token: 't', MY_KEY: 'k', HUGE: 'x'.repeat(200_000), EMPTY: '', GONE: undefined,
}

test('no editor, pager, prompt or colour is left on, whatever it was', () => {
  const env = environment({ base })
  expect(env).toMatchObject({ PAGER: 'cat', GIT_PAGER: 'cat', EDITOR: 'false', GIT_TERMINAL_PROMPT: '0', GIT_ASKPASS: '', SSH_ASKPASS_REQUIRE: 'never', TERM: 'dumb', NO_COLOR: '1', CI: 'true' })
  expect(env['GIT_EDITOR']).toMatch(/false$/)
  expect(env).not.toHaveProperty('FORCE_COLOR')
  expect(env).not.toHaveProperty('GPG_TTY')
  expect(environment({ base: { CI: 'false' } })['CI']).toBe('false')
})

test('a repository that somebody else is at work on does not become the child\'s', () => {
  expect(Object.keys(environment({ base })).filter((name) => /^GIT_(DIR|INDEX_FILE|WORK_TREE|CONFIG_PARAMETERS)$/.test(name))).toEqual([])
  expect(environment({ base })).toMatchObject({ GIT_AUTHOR_NAME: 'me' })
})

test('secrets are dropped by glob, in any case, and by name', () => {
  const env = environment({ base, drop: ['*_API_KEY', '*_TOKEN', 'MY_KEY'] })
  expect(Object.keys(env).filter((name) => ['OPENAI_API_KEY', 'github_token', 'MY_KEY'].includes(name))).toEqual([])
  expect(environment({ base, drop: ['H.ME', '[A-Z]*'] })).toHaveProperty('HOME')
})

test('a variable that no program could be given is left out, an empty one is not', () => {
  expect(environment({ base })).not.toHaveProperty('HUGE')
  expect(environment({ base })).toMatchObject({ EMPTY: '' })
  expect(environment({ base })).not.toHaveProperty('GONE')
})

test('however much there is, a program can be given it', async () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`BIG_${index}`, 'x'.repeat(9_000)]))
  const { exec } = await import('../../src/os/exec.ts')
  expect(await exec({ argv: ['true'], cwd: '/', env: environment({ base: { PATH: process.env['PATH'], ...many } }) })).toMatchObject({ exit: 0 })
})

test('without inheriting, only what programs need comes through', () => {
  const env = environment({ base, inherit: false })
  expect(env).toMatchObject({ PATH: '/bin', HOME: '/home/a', LANG: 'C.UTF-8', https_proxy: 'http://p', PAGER: 'cat' })
  expect(Object.keys(env)).not.toEqual(expect.arrayContaining(['GIT_AUTHOR_NAME']))
})

test('started by npm, a nested npm is not told that it works for Tiller', () => {
  const npm = { ...base, npm_lifecycle_event: 'start', npm_package_name: 'tiller-agent', npm_config_local_prefix: '/work', INIT_CWD: '/work', npm_config_registry: 'http://r' }
  expect(Object.keys(environment({ base: npm })).filter((name) => /^npm_(lifecycle|package)|local_prefix|INIT_CWD/.test(name))).toEqual([])
  expect(environment({ base: npm })).toMatchObject({ npm_config_registry: 'http://r' })
})

test('what the caller adds has the last word', () => {
  expect(environment({ base, extra: { PAGER: 'mine' } })['PAGER']).toBe('mine')
})
