import { execFileSync, spawn as spawnChild } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn, type IPty } from '@lydell/node-pty'
import { afterAll, expect, test } from 'vitest'
import { startedOf } from '../../src/os/process-table.ts'
import { until } from './until.ts'

const folder = mkdtempSync(join(tmpdir(), 'tiller-terminal-'))
const program = new URL('../../fixtures/bin/start-commands.ts', import.meta.url).pathname
afterAll(() => { rmSync(folder, { recursive: true, force: true }) })

/** A program that starts commands as Tiller does, on a terminal of its own. */
function onTerminal(...commands: string[]): { terminal: IPty; screen: () => string } {
  const terminal = spawn(process.execPath, ['--no-warnings', program, ...commands], { cols: 120, rows: 30, cwd: folder, env: { ...process.env, EDITOR: 'vi', FOLDER: folder } })
  let screen = ''
  terminal.onData((data) => { screen += data })
  return { terminal, screen: () => screen }
}

test('a command of a program on a terminal cannot open the terminal, so keys stay where they belong', async () => {
  const { terminal, screen } = onTerminal('bash -c \'read -r -p "pw: " x </dev/tty; echo "got <$x>"\'; tty; echo ended # to its end')
  terminal.write('typed keys\r')
  await until(() => screen().includes('started'))
  expect(screen()).toMatch(/\/dev\/tty: No such device or address/)
  expect(screen()).toMatch(/got <>[\s\S]*not a tty[\s\S]*ended/)
  expect(screen()).not.toContain('pw: ')
  terminal.kill('SIGKILL')
})

test('signing and commit without a message fail at once on a terminal too, and no editor is left', async () => {
  execFileSync('git', ['init', '-q', folder])
  writeFileSync(join(folder, 'sign'), '#!/bin/sh\nprintf "PIN: " >/dev/tty || exit 2\nread -r pin </dev/tty\n', { mode: 0o755 })
  const git = 'git -c user.email=a@b -c user.name=a'
  const { terminal, screen } = onTerminal(`${git} commit --allow-empty; ${git} -c commit.gpgsign=true -c gpg.program=$FOLDER/sign commit --allow-empty -m x; echo ended # to its end`)
  await until(() => screen().includes('started'))
  expect(screen()).toMatch(/no editor can be opened here[\s\S]*gpg failed to sign[\s\S]*ended/)
  expect(screen()).not.toContain('PIN: ')
  terminal.kill('SIGKILL')
})

test('a terminal that goes away takes the commands along', async () => {
  const { terminal, screen } = onTerminal("trap '' HUP; echo $$ > $FOLDER/pid; yes > /dev/null")
  await until(() => screen().includes('started'))
  await until(() => { try { return readFileSync(join(folder, 'pid'), 'utf8').endsWith('\n') } catch { return false } })
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  expect(startedOf(pid)).toBeDefined()
  terminal.kill('SIGHUP')
  await until(() => startedOf(pid) === undefined, 'the end of the command')
})

const disk = join(folder, 'disk')
const canMount = ((): boolean => {
  try {
    mkdirSync(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' })
    execFileSync('umount', [disk])
    return true
  } catch {
    return false
  }
})()

test('without mkfifo and with nothing on the PATH commands run, end on time, and end with their parent', async () => {
  const parent = spawnChild(process.execPath, ['--no-warnings', program, '/bin/sleep 300 & echo out; echo err >&2 # to its end', 'echo $$ > $FOLDER/last; exec /bin/sleep 300'], { cwd: folder, env: { PATH: '/nonexistent', FOLDER: folder }, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  parent.stdout.on('data', (chunk: Buffer) => { said += chunk.toString() })
  await until(() => said.includes('started') && existsSync(join(folder, 'last')) && readFileSync(join(folder, 'last'), 'utf8').endsWith('\n'))
  expect(said).toMatch(/^(out\nerr|err\nout)\n/)
  const pid = Number(readFileSync(join(folder, 'last'), 'utf8'))
  expect(startedOf(pid)).toBeDefined()
  parent.kill('SIGKILL')
  await until(() => startedOf(pid) === undefined, 'the end of the command')
})

// Needs the right to mount: a container without it, and a normal user, cannot make a full disk.
test.skipIf(!canMount)('on a full disk commands still run and say what is full', async () => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk])
  try {
    execFileSync('sh', ['-c', 'head -c 2000000 /dev/zero > "$1/filler" 2>/dev/null || true', 'sh', disk])
    const run = (command: string): { status: string; text: string } => {
      const runner = new URL('../../fixtures/bin/run-shell-tool.ts', import.meta.url).pathname
      return JSON.parse(execFileSync(process.execPath, ['--no-warnings', runner, command, disk], { encoding: 'utf8', env: { ...process.env, TMPDIR: disk } })) as { status: string; text: string }
    }
    expect(run(`df -h ${disk}`)).toMatchObject({ status: 'ok', text: expect.stringMatching(/100% .*disk\n\n\[exit 0/) as string })
    expect(run('seq 1 100000').text).toMatch(/^1\n2\n[\s\S]*100000\n\n\[exit 0[\s\S]*no space left on the disk that holds .*disk\/outputs/)
  } finally {
    execFileSync('umount', ['-l', disk])
  }
})
