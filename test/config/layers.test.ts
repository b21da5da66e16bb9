import { chmodSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig, type Loaded, type Options, type Surroundings } from '../../src/config/layers.ts'
import { temporary } from './temporary.ts'

interface Given { user?: string; project?: string; env?: Record<string, string>; options?: Options; trusted?: boolean }

async function load({ user, project, env = {}, options = {}, trusted = true }: Given): Promise<Loaded & { base: string }> {
  const base = temporary({ ...(user === undefined ? {} : { 'home/.config/tiller/agentrc': user }), ...(project === undefined ? {} : { 'root/.agentrc': project }), 'root/x': '', 'home/x': '' })
  const surroundings: Surroundings = { cwd: join(base, 'root'), root: join(base, 'root'), home: join(base, 'home'), env, options, trusted }
  return { ...(await loadConfig(surroundings)), base }
}

async function config(given: Given) {
  const loaded = await load(given)
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'))
  return loaded
}

async function errors(given: Given): Promise<string[]> {
  const loaded = await load(given)
  return loaded.ok ? [] : loaded.errors.map((error) => error.replace(`${loaded.base}/`, ''))
}

test('without any file the defaults hold', async () => {
  const { config: defaults, sources, warnings } = await config({})
  expect(defaults).toMatchObject({ model: null, mode: 'ask', effort: 'medium', rules: [], checkAttempts: 3, sessionDir: '.agent/sessions' })
  expect(defaults.limits).toMatchObject({ steps: 200, minutes: 60, cost: null, session: {} })
  expect(sources).toEqual({})
  expect(warnings).toEqual([])
})

test('later layers win, key by key, and each key says where it comes from', async () => {
  const { config: merged, sources, base } = await config({
    user: '{\n  "model": "a/user",\n  "effort": "low",\n  "limits": { "steps": 10, "calls": 5 }\n}',
    project: '// the project\n{ "model": "a/project", "limits": { "steps": 20, }, }',
    env: { TILLER_MODEL: 'a/environment', TILLER_MODE: 'edit' },
    options: { mode: 'plan', limits: { minutes: 5 } },
  })
  expect(merged).toMatchObject({ model: 'a/environment', effort: 'low', mode: 'plan' })
  expect(merged.limits).toMatchObject({ steps: 20, calls: 5, minutes: 5 })
  expect(sources).toEqual({
    model: 'TILLER_MODEL', mode: '--mode', effort: join(base, 'home/.config/tiller/agentrc:3'), 'limits.calls': join(base, 'home/.config/tiller/agentrc:4'),
    'limits.steps': join(base, 'root/.agentrc:2'), 'limits.minutes': '--max-minutes',
  })
})

test('rules and hooks of all layers add up, checks are replaced', async () => {
  const { config: merged, base } = await config({
    user: '{ "rules": [{ "deny": "exec", "match": "git push *" }], "checks": ["a"], "hooks": { "before-call": [{ "command": "one" }] } }',
    project: '{ "rules": [{ "allow": "exec", "match": "npm test" }], "checks": ["b"], "hooks": { "before-call": [{ "command": "two" }] } }',
    options: { allow: ['read:docs/**', 'read:~/notes/**'], deny: ['net:*'] },
  })
  expect(merged.rules).toEqual([
    { verdict: 'deny', kind: 'exec', match: 'git push *' }, { verdict: 'allow', kind: 'exec', match: 'npm test' },
    { verdict: 'allow', kind: 'read', match: 'docs/**' }, { verdict: 'allow', kind: 'read', match: `${base}/home/notes/**` }, { verdict: 'deny', kind: 'net', match: '*' },
  ])
  expect(merged.checks).toEqual(['b'])
  expect(merged.hooks['before-call']?.map((hook) => hook.command)).toEqual(['one', 'two'])
})

test('a provider may be completed by a later layer; an MCP server is one or the other', async () => {
  const { config: merged } = await config({
    user: '{ "providers": { "local": { "type": "openai-compatible", "baseURL": "http://127.0.0.1:1/v1" } }, "mcp": { "s": { "command": "a" } } }',
    project: '{ "providers": { "local": { "models": { "m": { "contextWindow": 8192 } } } }, "mcp": { "s": { "url": "http://127.0.0.1:2" } } }',
  })
  expect(merged.providers['local']).toEqual({ type: 'openai-compatible', baseURL: 'http://127.0.0.1:1/v1', models: { m: { contextWindow: 8192 } } })
  expect(merged.mcp['s']).toEqual({ url: 'http://127.0.0.1:2' })
})

test('--config stands for all files and the environment, options still win', async () => {
  const base = temporary({ 'home/.config/tiller/agentrc': '{ "mode": "full" }', 'root/.agentrc': '{ "mode": "edit", "checks": ["x"] }', 'other.json': '{ "effort": "high" }' })
  const loaded = await loadConfig({ cwd: base, root: join(base, 'root'), home: join(base, 'home'), env: { TILLER_MODEL: 'a/b' }, options: { config: 'other.json', mode: 'plan' }, trusted: true })
  expect(loaded).toMatchObject({ ok: true, config: { mode: 'plan', effort: 'high', checks: [], model: null } })
  const missing = await loadConfig({ cwd: base, root: base, home: base, env: {}, options: { config: 'none' }, trusted: true })
  expect(missing).toEqual({ ok: false, errors: [`--config: ${join(base, 'none')} does not exist, expected a configuration file`] })
})

test('the person\'s file is the first of three places', async () => {
  const base = temporary({ 'xdg/tiller/agentrc': '{ "theme": "xdg" }', 'home/.config/tiller/agentrc': '{ "theme": "config" }', 'home/.agentrc': '{ "theme": "home" }', 'bare/.agentrc': '{ "theme": "home" }', 'root/x': '' })
  const theme = async (home: string, env: Record<string, string>) => {
    const loaded = await loadConfig({ cwd: join(base, 'root'), root: join(base, 'root'), home: join(base, home), env, options: {}, trusted: true })
    return loaded.ok && loaded.config.theme
  }
  expect(await theme('home', { XDG_CONFIG_HOME: join(base, 'xdg') })).toBe('xdg')
  expect(await theme('home', { XDG_CONFIG_HOME: join(base, 'nowhere') })).toBe('config')
  expect(await theme('home', { XDG_CONFIG_HOME: 'relative' })).toBe('config')
  expect(await theme('bare', {})).toBe('home')
})

test('started in the home folder, ~/.agentrc is read once, as the person\'s', async () => {
  const home = temporary({ '.agentrc': '{ "rules": [{ "allow": "exec", "match": "ls" }] }' })
  const loaded = await loadConfig({ cwd: home, root: home, home, env: {}, options: {}, trusted: false })
  expect(loaded).toMatchObject({ ok: true, config: { rules: [{ verdict: 'allow' }] }, project: null, warnings: [] })
})

const wrong: [what: string, project: string, error: string][] = [
  ['a misspelt key', '{\n  "limts": {}\n}', 'root/.agentrc:2: limts: unknown key "limts", did you mean "limits"?'],
  ['a misspelt key inside', '{ "limits": {\n "stepps": 3 } }', 'root/.agentrc:2: limits.stepps: unknown key "stepps", did you mean "steps"?'],
  ['a key of nowhere', '{ "shell": { "qqqqq": 3 } }', 'root/.agentrc:1: shell.qqqqq: unknown key "qqqqq"; known here: path, timeoutSeconds, env'],
  ['a wrong type', '{\n\n "limits": { "steps": "many" } }', 'root/.agentrc:3: limits.steps: expected a whole number above 0, or null, found "many"'],
  ['a wrong number', '{ "checkAttempts": -1 }', 'root/.agentrc:1: checkAttempts: expected a whole number above 0, found -1'],
  ['a wrong word', '{ "mode": "yolo" }', 'root/.agentrc:1: mode: expected one of plan, ask, edit, auto, full, found "yolo"'],
  ['an unknown rule kind', '{ "rules": [\n{ "allow": "exec", "match": "ls" },\n{ "allow": "run", "match": "ls" }] }', 'root/.agentrc:3: rules[1].allow: expected one of exec, read, write, net, tool, found "run"'],
  ['a rule with two verdicts', '{ "rules": [{ "allow": "exec", "deny": "exec", "match": "ls" }] }', 'root/.agentrc:1: rules[0]: expected exactly one of allow, ask, deny, found an object'],
  ['a rule without match', '{ "rules": [{ "allow": "exec" }] }', 'root/.agentrc:1: rules[0].match: expected a string in quotes, found nothing'],
  ['an unknown verdict', '{ "rules": [{ "permit": "exec", "match": "ls" }] }', 'root/.agentrc:1: rules[0].permit: unknown key "permit"; known here: allow, ask, deny, match'],
  ['a bad URL', '{ "providers": { "x": { "baseURL": "localhost:80" } } }', 'root/.agentrc:1: providers.x.baseURL: expected a URL that begins with http:// or https://, found "localhost:80"'],
  ['a bad provider type', '{ "providers": { "x": { "type": "gpt" } } }', 'root/.agentrc:1: providers.x.type: expected one of anthropic, openai, openai-compatible, google, found "gpt"'],
  ['a server that is two things', '{ "mcp": { "s": { "command": "a", "url": "b" } } }', 'root/.agentrc:1: mcp.s: expected either a command (a program on this machine) or a url (a server), found an object'],
  ['an unknown hook', '{ "hooks": { "onFire": [] } }', 'root/.agentrc:1: hooks.onFire: unknown key "onFire"; known here: session-start, input, before-call, after-call, before-stop, outcome'],
  ['a list at the top', '[]', 'root/.agentrc:1: expected an object in { }, found a list'],
  ['a null at the top', 'null', 'root/.agentrc:1: expected an object in { }, found null'],
  ['not JSON', '{\n "mode": ask\n}', 'root/.agentrc:2: not JSON (comments and trailing commas are fine): invalid symbol'],
  ['an end too early', '{ "mode": "ask"', 'root/.agentrc:1: not JSON (comments and trailing commas are fine): close brace expected'],
  ['a key twice', '{ "rules": [],\n "mode": "ask",\n "rules": [] }', 'root/.agentrc:3: "rules" stands twice in one object, expected once'],
  ['a sandbox that is neither', '{ "sandbox": { "enabled": "yes" } }', 'root/.agentrc:1: sandbox.enabled: expected "auto", true or false, found "yes"'],
]
test.each(wrong)('%s is an error with file, line, key and what was expected', async (_what, project, error) => {
  expect(await errors({ project })).toEqual([error])
})

test('a key in an error is not repeated', async () => {
  const said = await errors({ user: '{ "providers": { "x": { "apiKey": 12345678 } } }' })
  expect(said).toEqual(['home/.config/tiller/agentrc:1: providers.x.apiKey: expected a string in quotes'])
})

test('all that is wrong is said at once, options and environment included', async () => {
  expect(await errors({
    project: '{ "mode": "x", "zzzzzz": 1 }', env: { TILLER_EFFORT: 'huge' },
    options: { mode: 'y', allow: ['npm test', 'exec:'], deny: ['run:x'], limits: { steps: 0, cost: -1 } },
  })).toEqual([
    'root/.agentrc:1: mode: expected one of plan, ask, edit, auto, full, found "x"',
    expect.stringMatching(/^root\/.agentrc:1: zzzzzz: unknown key "zzzzzz"; known here: model, /) as string,
    'TILLER_EFFORT: expected one of none, low, medium, high, max, found "huge"',
    '--mode: expected one of plan, ask, edit, auto, full, found "y"',
    '--max-steps: expected a whole number above 0, found 0',
    '--max-cost: expected a number above 0, found -1',
    "--allow 'npm test': expected kind:match with a kind of exec, read, write, net, tool, such as 'exec:npm test'",
    "--allow 'exec:': expected kind:match with a kind of exec, read, write, net, tool, such as 'exec:npm test'",
    "--deny 'run:x': expected one of exec, read, write, net, tool",
  ])
})

test('a folder, a pipe or an empty file in the place of .agentrc does not stop or stall the start', async () => {
  const base = temporary({ 'root/.agentrc/x': '', 'empty/.agentrc': ' \n', 'bom/.agentrc': '\uFEFF{ "mode": "edit" }' })
  const at = async (root: string) => await loadConfig({ cwd: base, root: join(base, root), home: base, env: {}, options: {}, trusted: true })
  expect(await at('root')).toMatchObject({ ok: false, errors: [`${join(base, 'root/.agentrc')}: is not a regular file, expected JSON with comments`] })
  expect(await at('empty')).toMatchObject({ ok: true, warnings: [] })
  expect(await at('bom')).toMatchObject({ ok: true, config: { mode: 'edit' } })
})

test('a dangling link is no file', async () => {
  const base = temporary({ 'root/x': '' })
  symlinkSync(join(base, 'nowhere'), join(base, 'root/.agentrc'))
  expect(await loadConfig({ cwd: base, root: join(base, 'root'), home: base, env: {}, options: {}, trusted: true })).toMatchObject({ ok: true, warnings: [] })
})

test('a file with a key that others can read is named', async () => {
  const base = temporary({ '.config/tiller/agentrc': '{ "providers": { "x": { "apiKey": "sk-1" } } }', 'root/.agentrc': '{ "providers": { "y": { "apiKey": "$NAME" } } }' })
  const file = join(base, '.config/tiller/agentrc')
  const warnings = async () => {
    const loaded = await loadConfig({ cwd: base, root: join(base, 'root'), home: base, env: {}, options: {}, trusted: true })
    return loaded.ok && loaded.warnings
  }
  chmodSync(file, 0o644)
  expect(await warnings()).toEqual([`${file} holds a key and can be read by other users (mode 644): chmod 600 ${file}`])
  chmodSync(file, 0o600)
  expect(await warnings()).toEqual([])
})
