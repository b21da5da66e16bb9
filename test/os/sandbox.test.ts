import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exec, textOf, type ExecOptions } from '../../src/os/exec.ts'
import { bubblewrap } from '../../src/os/sandbox-bubblewrap.ts'
import { seatbelt } from '../../src/os/sandbox-seatbelt.ts'
import { sandbox, type Held } from '../../src/os/sandbox.ts'
import { git } from './shell-lines.ts'

const here = await sandbox()
const skip = here.works ? false : `left out, no sandbox here: ${here.why}`
if (skip) console.log(skip)

// Not in /tmp, which is another one in the sandbox.
const base = realpathSync(existsSync('/var/tmp') ? '/var/tmp' : tmpdir())
let folder = ''
let root = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(base, 'tiller-sandbox-test-')))
  root = join(folder, 'root')
  mkdirSync(root)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

// A test worker is ended without its `exit` handlers.
afterAll(() => {
  const argv = here.works && here.kind === 'bubblewrap' ? here.wrap([], { cwd: '/', root: '/', write: [], network: false }).argv : []
  const temporary = argv[argv.indexOf('/tmp') - 1]
  if (temporary?.includes('tiller-sandbox-')) rmSync(temporary, { recursive: true, force: true })
})

async function held(command: string, how: Partial<Held> = {}, options: Partial<ExecOptions> = {}) {
  if (!here.works) throw new Error('no sandbox')
  const { wrap } = here
  const end = await exec({ command, cwd: root, combine: true, wrap: (argv) => wrap(argv, { cwd: root, root, write: ['.'], network: false, ...how }), ...options })
  return { ...end, text: textOf(end.stdout).trim() }
}

describe.skipIf(skip !== false)('a command in the sandbox', () => {
  test('writes in the root and in its own /tmp, and nowhere else', async () => {
    expect((await held('echo a > in && cat in && echo b > /tmp/x && cat "$TMPDIR/x"')).text).toBe('a\nb')
    expect((await held('cat /tmp/x')).text).toBe('b')
    expect(existsSync('/tmp/x')).toBe(false)
    expect(readFileSync(join(root, 'in'), 'utf8')).toBe('a\n')
    for (const place of ['/etc/tiller-x', `${folder}/x`, '~/tiller-x', '/var/tmp/tiller-x', '/usr/tiller-x']) {
      const end = await held(`echo x > ${place}`)
      // A home folder in /tmp is not there at all.
      expect([place, end.exit, end.text]).toEqual([place, 1, expect.stringMatching(/Read-only file system|No such file/) as string])
    }
  })
  test('writes through no link out of the root', async () => {
    symlinkSync(folder, join(root, 'out'))
    expect((await held('echo x > out/y')).exit).toBe(1)
    expect(existsSync(join(folder, 'y'))).toBe(false)
  })
  test('writes where the configuration allows it, and not in the root where it does not', async () => {
    mkdirSync(join(folder, 'more'))
    expect((await held('echo x > ../more/y; echo x > z', { write: ['../more'] })).exit).toBe(1)
    expect([existsSync(join(folder, 'more/y')), existsSync(join(root, 'z'))]).toEqual([true, false])
    expect((await held('echo x > /etc/tiller-x', { write: ['/'] })).exit).toBe(1)
  })
  test('reaches no network, not even a server of this machine, unless that is allowed', async () => {
    const server = createServer((_request, response) => response.end('hello'))
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    const line = `exec 3<>/dev/tcp/127.0.0.1/${(server.address() as AddressInfo).port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && tail -1 <&3`
    try {
      expect((await held(line)).exit).not.toBe(0)
      expect((await held(line, { network: true })).text).toBe('hello')
    } finally {
      server.close()
    }
  })
  test('sees no keys', async () => {
    const home = join(folder, 'home')
    for (const name of ['.ssh/id_rsa', '.aws/credentials', '.config/gh/hosts.yml']) {
      mkdirSync(join(home, name, '..'), { recursive: true })
      writeFileSync(join(home, name), 'KEY')
    }
    for (const name of ['.netrc', '.npmrc', '.bashrc']) writeFileSync(join(home, name), name === '.bashrc' ? 'plain' : 'KEY')
    // Also where the home folder is writable.
    for (const writable of [[root], [root, home]]) {
      const { argv } = bubblewrap(['sh', '-c', `cat ${home}/.ssh/id_rsa ${home}/.aws/credentials ${home}/.config/gh/hosts.yml ${home}/.netrc ${home}/.npmrc ${home}/.bashrc`], { cwd: root, root, home, writable, temporary: folder, network: false })
      expect(spawnSync(argv[0]!, argv.slice(1), { encoding: 'utf8' }).stdout).toBe('plain')
    }
  })
  test('commits, and changes nothing that makes git or Tiller run something later', async () => {
    git(root, 'init', '-q')
    rmSync(join(root, '.git/hooks'), { recursive: true, force: true })
    mkdirSync(join(root, '.agent'))
    for (const name of ['.agentrc', '.envrc']) writeFileSync(join(root, name), 'mine')
    expect((await held('echo a > f && git add f && git -c user.name=t -c user.email=t@t commit -q -m one && git log --format=%s')).text).toBe('one')
    for (const line of ['echo x > .git/hooks/post-commit', 'echo x >> .git/config', 'git config core.fsmonitor "touch P"', 'mv .git .gone', 'rm -rf .git/hooks && mkdir .git/hooks', 'mv .git/hooks .git/h', 'echo x > .agentrc', 'rm .agentrc', 'mv .agentrc x', 'echo x > .agent/x', 'echo x > .envrc']) {
      expect([line, (await held(line)).exit]).not.toEqual([line, 0])
    }
    expect([readFileSync(join(root, '.agentrc'), 'utf8'), readFileSync(join(root, '.git/config'), 'utf8').includes('fsmonitor')]).toEqual(['mine', false])
  })
  test('cannot see, signal or trace what is outside', async () => {
    expect((await held(`kill -0 ${process.pid}`)).exit).not.toBe(0)
    expect(Number((await held('ls -d /proc/[0-9]* | wc -l')).text)).toBeLessThan(10)
    expect((await held('mount -o remount,rw / || mount -t tmpfs none /etc')).exit).not.toBe(0)
  })
  test('keeps its exit code, its report and its folder', async () => {
    expect(await held('false | exit 3')).toMatchObject({ reason: 'exited', exit: 3, stages: [1, 3], endedIn: root })
    mkdirSync(join(root, 'sub'))
    expect((await held('pwd', { cwd: join(root, 'sub') }, { cwd: join(root, 'sub') })).text).toBe(join(root, 'sub'))
    expect((await held(`echo ${'x'.repeat(150_000)} | wc -c`)).text).toBe('150001')
  })
  test('what it left running is named and goes on', async () => {
    const end = await held('(sleep 0.3; echo late > late; sleep 300) & echo $!')
    expect(end).toMatchObject({ reason: 'exited', exit: 0 })
    expect(end.alive.some(({ command }) => command.includes('sleep'))).toBe(true)
    await expect.poll(() => existsSync(join(root, 'late')), { timeout: 20_000 }).toBe(true)
    spawnSync('kill', ['-9', ...end.alive.map(({ pid }) => String(pid))])
    await expect.poll(() => end.alive.filter(({ pid }) => spawnSync('kill', ['-0', String(pid)]).status === 0), { timeout: 20_000 }).toEqual([])
  })
  test('a cancel ends all of it, after what it does on TERM', async () => {
    const stop = new AbortController()
    const running = held("trap 'sleep 0.2; echo cleaned > cleaned; exit' TERM; (trap '' TERM; sleep 300) & setsid sleep 301 & echo ready > ready; wait", {}, { signal: stop.signal, graceMs: 3_000 })
    await expect.poll(() => existsSync(join(root, 'ready')), { timeout: 20_000 }).toBe(true)
    stop.abort()
    expect(await running).toMatchObject({ reason: 'aborted', alive: [] })
    expect(existsSync(join(root, 'cleaned'))).toBe(true)
    expect(spawnSync('pgrep', ['-f', 'sleep 30[01]$']).stdout.toString()).toBe('')
  })
})

test('a machine without a working sandbox says why', () => {
  expect(here.works || here.why.length > 10).toBe(true)
})

test('the profile for macOS denies writing but in the named folders, and holds no unquoted path (not tried on a Mac)', () => {
  const { argv } = seatbelt(['ls'], { cwd: '/w', root: '/w', home: '/Users/u', writable: ['/w/a"b'], temporary: '/private/tmp/t', network: false })
  expect(argv.slice(0, 2)).toEqual(['/usr/bin/sandbox-exec', '-p'])
  expect(argv.at(-1)).toBe('ls')
  const profile = argv[2]!
  expect(profile.indexOf('(deny file-write*)')).toBeLessThan(profile.indexOf('(allow file-write* (subpath "/w/a\\"b")'))
  expect(profile.indexOf('(allow file-write*')).toBeLessThan(profile.indexOf('(deny file-write* (subpath "/w/a\\"b/.agent")'))
  expect(profile).toContain('(deny network*)')
  expect(profile.split('(').length).toBe(profile.split(')').length)
})
