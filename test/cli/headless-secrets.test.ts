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
