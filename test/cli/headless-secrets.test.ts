import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { TILLER } from '../support/tiller.ts'
import { calls, openWorld, say } from '../support/world.ts'

const SECRETS = { LOCAL_KEY: 'lk-0123456789abcdef-local', ANTHROPIC_API_KEY: 'sk-ant-0123456789abcdef', OPENAI_API_KEY: 'sk-0123456789abcdef-openai', GITHUB_TOKEN: 'ghp_0123456789abcdefghij' }
const [LITERAL, IN_HEADER] = ['literal-in-the-file-0123', 'header-in-the-file-0123']

/** Every file below, with its mode. */
function filesBelow(folder: string): { path: string; mode: number; folder: boolean }[] {
  return [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))].map((path) => {
    const { mode } = lstatSync(path)
    return { path, mode: mode & 0o777, folder: lstatSync(path).isDirectory() }
  })
}

it('keys reach neither the session, nor stderr, nor a command', async () => {
  const commands = ['env', 'node -p "JSON.stringify(process.env)"', 'tr "\\0" "\\n" < /proc/$PPID/environ', 'cat .env', 'cat ~/.config/tiller/agentrc']
  const world = await openWorld([calls(...commands.map((command): [string, unknown] => ['shell', { command }]), ['read', { path: '.env' }]), say('Nothing.'), { status: 401, json: { error: { message: `bad key ${SECRETS.LOCAL_KEY}` } } }], {
    files: { '.env': `ANTHROPIC_API_KEY=${SECRETS.ANTHROPIC_API_KEY}\n` },
  })
  const other = { type: 'openai-compatible', baseURL: 'http://127.0.0.1:9/v1', apiKey: LITERAL, headers: { 'x-auth': `Bearer ${IN_HEADER}` } }
  world.configure({ providers: { chat: { ...world.server.providers.chat, apiKey: undefined, apiKeyEnv: 'LOCAL_KEY' }, other } })
  const first = await world.run(['-p', '--mode', 'full', 'Show me your keys'], { env: SECRETS })
  expect(first.code).toBe(0)
  const second = await world.run(['-c', '--json', 'Again'], { env: SECRETS })
  expect(second.code).toBe(1)
  expect(world.server.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${SECRETS.LOCAL_KEY}`, `Bearer ${SECRETS.LOCAL_KEY}`, `Bearer ${SECRETS.LOCAL_KEY}`])
  const kept = filesBelow(join(world.repo, '.agent')).filter(({ folder }) => !folder).map(({ path }) => readFileSync(path, 'latin1')).join('\n')
  const sent = world.server.requests.map(({ raw }) => raw.toString('latin1')).join('\n')
  for (const secret of [...Object.values(SECRETS), LITERAL, IN_HEADER]) {
    for (const [where, text] of Object.entries({ kept, sent, stdout: first.stdout + second.stdout, stderr: first.stderr + second.stderr })) expect(text.includes(secret), `${secret} in ${where}`).toBe(false)
  }
  expect(world.of('result')[0]?.text).toContain('PATH=')
})

it('keys of known forms are in nothing that is kept or sent, wherever they came from, and neither in what is shown of it later', async () => {
  const [start, rest] = ['ghp_', 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1b2C']
  const token = `${start}${rest}`
  // The command itself does not hold it.
  const printed = `t=${start}; echo "$t"${rest}`
  const world = await openWorld([
    calls(['shell', { command: `${printed}; seq 20000; ${printed}; printf %s "$t"${rest}` }], ['read', { path: 'conf.js' }], ['edit', { path: 'conf.js', edits: [{ old: 'a = 1', new: 'a = 2' }] }]),
    calls(['shell', { command: `${printed}; sleep 300` }]), say('As before.'),
  ], { files: { 'AGENTS.md': `Deploy with ${token}.\n`, 'conf.js': `const a = 1\nconst token = "${token}"\n`, 'attached.txt': `${token}\n` } })
  const tiller = world.start(['--json', '--json-in', '--trust', '@attached.txt', 'Work'], { input: null })
  let asked = 0
  tiller.child.stdout?.on('data', () => {
    const open = tiller.events.filter((event) => event.type === 'ask')
    for (; asked < open.length; asked++) tiller.send({ type: 'decide', call: open[asked]?.call ?? '', verdict: 'allow' })
  })
  await tiller.until('output', ({ text, call }) => text.includes(rest) && call !== tiller.events.find((event) => event.type === 'spawn')?.call)
  tiller.kill('SIGKILL')
  await tiller.ended
  // But for what a file was and became: with it a change is undone to the letter.
  const kept = (): string => filesBelow(join(world.repo, '.agent')).filter(({ folder }) => !folder).map(({ path }) => readFileSync(path, 'latin1')).filter((text) => !text.startsWith('const a = ')).join('\n')
  expect(kept()).toMatch(/\[redacted:github-token\][^]*\n20000\n\[redacted:github-token\]\n/)
  expect((await world.run(['-c', '-p', '--trust', 'go on'])).code).toBe(0)
  expect(world.of('result').at(-1)?.text).toMatch(/output up to then:\n\[redacted:github-token\]/)
  const { id = '' } = world.of('session')[0] ?? {}
  const shown = await Promise.all([['sessions', 'show', id], ['trace', id], ['trace', id, '--html'], ...['markdown', 'html', 'jsonl'].map((format) => ['sessions', 'export', id, '--format', format])].map(async (args) => {
    const { code, stdout } = await world.run(args)
    expect([args, code]).toEqual([args, 0])
    return stdout
  }))
  for (const [where, text] of Object.entries({ kept: kept(), sent: world.server.requests.map(({ raw }) => raw.toString('latin1')).join('\n'), shown: shown.join('\n') })) expect(text.includes(token), where).toBe(false)
  expect(world.read('conf.js')).toBe(`const a = 2\nconst token = "${token}"\n`)
})

it('secrets files are not read unasked', async () => {
  const world = await openWorld([calls(['read', { path: '.env' }], ['grep', { pattern: 'TOP' }], ['shell', { command: 'cat .env' }]), say('No.')], { files: { '.env': 'A=TOPSECRET\n' } })
  expect((await world.run(['-p', 'Read'])).code).toBe(5)
  expect(JSON.stringify(world.records())).not.toContain('TOPSECRET')
})

it('folders are 0700 and files 0600 whatever the umask, and git does not see them', async () => {
  const world = await openWorld([calls(['shell', { command: 'seq 20000' }], ['write', { path: 'mine.txt', content: 'x\n' }], ['shell', { command: 'sleep 300 & echo left' }]), say('Done.')])
  const child = spawn('sh', ['-c', 'umask 0; exec "$@"', 'sh', process.execPath, TILLER, '-p', '--mode', 'full', 'Work'], { cwd: world.repo, env: world.env, stdio: 'ignore' })
  expect(await once(child, 'close')).toEqual([0, null])
  const files = filesBelow(join(world.repo, '.agent'))
  expect(files.length).toBeGreaterThan(4)
  expect(files.filter(({ mode, folder, path }) => mode !== (folder ? 0o700 : /\/objects\//.test(path) ? 0o400 : 0o600))).toEqual([])
  expect(world.git('status', '--porcelain')).toBe('?? mine.txt')
  expect(world.read('.agent/.gitignore')).toBe('*\n')
})

it('what a command writes to its environment, folder or terminal is not what the next one gets', async () => {
  const world = await openWorld([calls(['shell', { command: 'export LEAK=1; cd /; echo x > /dev/tty; true' }], ['shell', { command: 'pwd; echo "LEAK=$LEAK"; tty; git commit --amend' }]), say('Clean.')])
  expect((await world.run(['-p', '--mode', 'full', 'Go'])).code).toBe(0)
  const [first, second] = world.of('result')
  expect(first?.text).toMatch(/\/dev\/tty: No such device/)
  expect(second?.text).toMatch(new RegExp(`${world.repo}\\nLEAK=\\nnot a tty`))
})
