import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { calls, openWorld, say } from '../support/world.ts'


describe('a configuration with a fault is exit 2, with file, line, key and what was expected', () => {
  it.each<[string, string, RegExp]>([
    ['a wrong value', '{\n  // a comment\n  "limits": { "steps": "many" },\n}', /\.agentrc:3: limits\.steps: expected a whole number above 0, or null, found "many"/],
    ['a key nobody knows', '{\n\n\n"modle": "x/y"\n}', /\.agentrc:4: modle: unknown key.*did you mean/],
    ['broken JSON', '{\n "mode": "ask"\n "effort": "low"\n}', /\.agentrc:3: not JSON/],
    ['a key twice', '{ "mode": "ask",\n "mode": "full" }', /\.agentrc:2: "mode" stands twice/],
    ['not even an object', '[]', /\.agentrc:1: expected an object/],
    ['bytes that are no text', '\u0000\u0001{', /\.agentrc:1: not JSON/],
  ])('%s', async (_, text, line) => {
    const world = await openWorld([], { files: { '.agentrc': text } })
    const { code, stdout, stderr } = await world.run(['-p', 'Hello'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(line)
    expect(stderr).toMatch(/^tiller: [^\n]+\n$/)
    expect(world.exists('.agent')).toBe(false)
  })

  it('in the own file as well; and all faults are named at once', async () => {
    const world = await openWorld()
    writeFileSync(join(world.home, '.config', 'tiller', 'agentrc'), '{\n  "effort": "big",\n  "checks": "npm test"\n}\n')
    const { code, stderr } = await world.run(['-p', 'Hello'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/agentrc:2: effort: .*\n.*agentrc:3: checks: /)
  })

  it('a folder or a dangling link under its name does not stop the start with a riddle', async () => {
    const world = await openWorld([say('Hello.')])
    mkdirSync(join(world.repo, '.agentrc'))
    expect(await world.run(['-p', 'Hello'])).toMatchObject({ code: 2, stderr: expect.stringMatching(/\.agentrc.*is not a regular file/) as string })
    const other = await openWorld([say('Hello.')])
    symlinkSync('nowhere', join(other.repo, '.agentrc'))
    expect((await other.run(['-p', 'Hello'])).code).toBe(0)
  })

  it('from the environment it is named by its variable', async () => {
    const world = await openWorld()
    const { code, stderr } = await world.run(['-p', 'Hello'], { env: { TILLER_MODE: 'yolo' } })
    expect(code).toBe(2)
    expect(stderr).toMatch(/TILLER_MODE: expected .*plan.*found "yolo"/)
  })
})

it('later layers win: own file, project, environment, options', async () => {
  const world = await openWorld([say('1'), say('2'), say('3')], { files: { '.agentrc': '{ "effort": "low" }' }, config: { effort: 'high' } })
  const effort = async (args: string[], env: Record<string, string> = {}) => {
    expect((await world.run(['-p', ...args, 'Hello'], { env })).code).toBe(0)
    return world.of('step').at(-1)?.effort
  }
  expect(await effort([])).toBe('high') // the folder is not trusted
  expect(await effort(['--trust'])).toBe('low')
  expect(await effort(['--trust', '--effort', 'none'], { TILLER_EFFORT: 'max' })).toBe('none')
})

it('--config stands in place of all files and the environment', async () => {
  const world = await openWorld([say('Hello.')], { files: { '.agentrc': 'not even JSON' } })
  world.write('only.rc', JSON.stringify({ model: 'chat/test-model', effort: 'low', providers: { chat: world.server.providers.chat } }))
  expect((await world.run(['-p', '--config', 'only.rc', 'Hello'], { env: { TILLER_EFFORT: 'max' } })).code).toBe(0)
  expect(world.of('step')[0]?.effort).toBe('low')
})

it('with no model anywhere it is exit 2 and says how to set one', async () => {
  const world = await openWorld()
  writeFileSync(join(world.home, '.config', 'tiller', 'agentrc'), '{}')
  const { code, stderr } = await world.run(['-p', '--offline', 'Hello'])
  expect(code).toBe(2)
  expect(stderr).toMatch(/^tiller: no model is set.*--model provider\/model.*ANTHROPIC_API_KEY.*tiller demo\n$/)
})

it('with a model whose key is missing it is exit 2 and says which variable', async () => {
  const world = await openWorld()
  const { code, stderr } = await world.run(['-p', '-m', 'anthropic/claude-sonnet-4-5', 'Hello'])
  expect([code, stderr]).toEqual([2, 'tiller: There is no key for anthropic (api.anthropic.com). Set ANTHROPIC_API_KEY.\n'])
})

describe('a folder that nobody has trusted', () => {
  const loose = JSON.stringify({ mode: 'full', model: 'evil/model', providers: { evil: { type: 'openai-compatible', baseURL: 'http://127.0.0.1:9/v1' } }, rules: [{ allow: 'exec', match: 'touch *' }], checks: ['touch CHECKED'], shell: { env: { drop: [] } } })

  it('cannot loosen anything; its checks are not run, and stderr says so', async () => {
    const world = await openWorld([calls(['shell', { command: 'touch PWNED' }]), say('Denied.')], { files: { '.agentrc': loose } })
    const { code, stderr } = await world.run(['-p', 'Hello'])
    expect(code).toBe(5)
    expect(world.exists('PWNED')).toBe(false)
    expect(stderr).toMatch(/^tiller: \S*\/\.agentrc can only tighten until this folder is trusted \(--trust, \/trust\); ignored: [^\n]*checks[^\n]*\n/)
    for (const name of ['mode', 'model', 'providers', 'rules that allow', 'checks']) expect(stderr).toContain(name)
    expect(world.server.requests).toHaveLength(2)
    // Even where something was changed.
    world.server.push(calls(['write', { path: 'a.txt', content: 'x' }]), say('Done.'))
    expect((await world.run(['-p', '--mode', 'full', 'Write'])).code).toBe(0)
    expect(world.exists('CHECKED')).toBe(false)
    expect(world.of('check')).toEqual([])
  })

  it('can tighten: deny rules, mode and limits hold', async () => {
    const world = await openWorld([calls(['shell', { command: 'git log' }], ['write', { path: 'a', content: 'a' }]), say('No.')], {
      files: { '.agentrc': JSON.stringify({ mode: 'plan', rules: [{ deny: 'exec', match: 'git log *' }], limits: { steps: 2 } }) },
    })
    const { code, stderr } = await world.run(['-p', 'Hello'])
    expect([code, stderr]).toEqual([0, ''])
    expect(world.statuses()).toEqual(['denied', 'denied'])
  })

  it('with --trust brings its rules and checks', async () => {
    const trusted = JSON.stringify({ rules: [{ allow: 'exec', match: 'touch *' }], checks: ['touch CHECKED'] })
    const world = await openWorld([calls(['shell', { command: 'touch a.txt' }]), say('Touched.')], { files: { '.agentrc': trusted } })
    const { code, stderr } = await world.run(['-p', '--trust', 'Hello'])
    expect([code, stderr]).toEqual([0, ''])
    expect(existsSync(join(world.repo, 'CHECKED'))).toBe(true)
    expect(world.of('outcome').map(({ status }) => status)).toEqual(['verified'])
  })

  it('is not trusted for the next start because of --trust', async () => {
    const world = await openWorld([say('Yes.'), calls(['shell', { command: 'touch PWNED' }]), say('No.')], { files: { '.agentrc': loose.replace('"model":"evil/model",', '') } })
    expect((await world.run(['-p', '--trust', 'Hello'])).code).toBe(0)
    expect((await world.run(['-c', '-p', 'Hello'])).code).toBe(5)
    expect(world.exists('PWNED')).toBe(false)
  })
})

describe('instructions', () => {
  it('of the project are sent and recorded; what cannot be read is no reason to stop', async () => {
    const world = await openWorld([say('One.'), say('Two.')], { files: { 'docs/rules.md': 'Always whistle.\n' } })
    symlinkSync('docs/rules.md', join(world.repo, 'AGENTS.md'))
    mkdirSync(join(world.repo, 'CLAUDE.md'))
    const { code, stderr } = await world.run(['-p', 'Hello'])
    expect([code, stderr]).toEqual([0, ''])
    const [system] = world.of('system')
    expect(system?.text.match(/Always whistle/g)).toHaveLength(1)
    expect(system?.instructions).toHaveLength(1)
  })

  it('of any size do not fill the window', async () => {
    const world = await openWorld([say('One.')], { files: { 'AGENTS.md': 'Be brief. '.repeat(2_000_000) } })
    expect((await world.run(['-p', 'Hello'])).code).toBe(0)
    expect(world.server.requests[0]?.raw.length).toBeLessThan(200_000)
    expect(world.of('system')[0]?.text).toMatch(/AGENTS\.md.*(cut|left out|shortened)/is)
  })
})

describe('outside a git repository', () => {
  it('everything works, and it is said once', async () => {
    const world = await openWorld([calls(['write', { path: 'a.txt', content: 'a\n' }], ['shell', { command: 'cat a.txt' }], ['git', { op: 'status' }]), say('Done.')], { git: false })
    const { code, stderr } = await world.run(['-p', '--mode', 'full', 'Write'])
    expect([code, world.read('a.txt')]).toEqual([0, 'a\n'])
    expect(stderr).toMatch(/^tiller: this is not a git repository[^\n]*\n$/)
    expect(world.statuses()).toEqual(['ok', 'ok', 'failed'])
    expect(world.of('session')[0]).toMatchObject({ cwd: world.repo, root: world.repo })
    world.server.push(say('Again.'))
    expect(await world.run(['-c', '-p', 'again'])).toMatchObject({ code: 0, stderr: '' })
  })

  it('in the home folder edits ask, whatever the mode', async () => {
    const world = await openWorld([calls(['write', { path: 'a.txt', content: 'a' }]), say('No.')])
    const { code } = await world.run(['-p', '--mode', 'edit', 'Write'], { env: { HOME: world.repo, XDG_CONFIG_HOME: join(world.home, '.config') } })
    expect(code).toBe(5)
    expect(world.exists('a.txt')).toBe(false)
  })
})
