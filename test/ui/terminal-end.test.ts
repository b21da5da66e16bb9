import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Pty } from '../support/pty.ts'
import { fixtureTerminals } from './fixture-terminals.ts'

const fixture = fixtureTerminals()

/** A shell that stays when the program has ended, and says how the terminal is. */
async function inShell(env: Record<string, string> = {}): Promise<{ terminal: Pty; pid: () => number }> {
  const terminal = fixture.open('/bin/sh', ['-c', `stty -a > ${fixture.folder}/before; "${process.execPath}" "${fixture.program}"; echo "ended $?"; stty -a > ${fixture.folder}/after; echo measured; sleep 60`], { env })
  await terminal.waitFor(() => terminal.bytes().includes('\x1b[?u'))
  return { terminal, pid: () => Number(/"ready":(\d+)/.exec(readFileSync(join(fixture.folder, 'commands.jsonl'), 'utf8'))?.[1]) }
}

async function expectClean(terminal: Pty, code: number): Promise<void> {
  await terminal.waitFor(new RegExp(`ended ${code}[^]*measured`))
  expect(readFileSync(join(fixture.folder, 'after'), 'utf8')).toBe(readFileSync(join(fixture.folder, 'before'), 'utf8'))
  const bytes = terminal.bytes()
  const last = (on: string, off: string): boolean => bytes.lastIndexOf(off) > bytes.lastIndexOf(on)
  expect(last('\x1b[?2004h', '\x1b[?2004l')).toBe(true)
  expect(last('\x1b[?25l', '\x1b[?25h')).toBe(true)
  expect(last('\x1b[?2026h', '\x1b[?2026l')).toBe(true)
  if (bytes.includes('\x1b[?1049h')) expect(last('\x1b[?1049h', '\x1b[?1049l')).toBe(true)
  // The shell's line begins a line of its own, below what was printed.
  expect(terminal.screen()).toMatch(new RegExp(`^ended ${code}$`, 'm'))
}

test('the terminal is as the shell had it after leaving, and nothing of the live part is left (T6)', async () => {
  const { terminal } = await inShell()
  terminal.write('hello\r')
  await terminal.waitFor(/done: answered/)
  await terminal.type('x', 'ctrl+c', 'ctrl+c', 'ctrl+c')
  await expectClean(terminal, 0)
  expect(terminal.screen()).not.toMatch(/^>$|for keys/m)
  expect(terminal.screen()).toMatch(/echo: hello/)
})

test('also after SIGTERM and SIGHUP, in the middle of a run', async () => {
  for (const [signal, code] of [['SIGTERM', 143], ['SIGHUP', 129]] as const) {
    const { terminal, pid } = await inShell()
    terminal.write('sleep\r')
    await terminal.waitFor(/Esc interrupts/)
    process.kill(pid(), signal)
    await expectClean(terminal, code)
    terminal.close()
    rmSync(join(fixture.folder, 'commands.jsonl'))
  }
})

test('also after an exception, whose message can be read', async () => {
  const { terminal } = await inShell({ FIXTURE_THROW: '300' })
  await expectClean(terminal, 1)
  expect(terminal.screen()).toMatch(/thrown by the fixture/)
})

test('also when it ends while the pager is open', async () => {
  const { terminal, pid } = await inShell()
  terminal.write('sleep\r')
  await terminal.waitFor(/second line/)
  await terminal.type('ctrl+o')
  await terminal.waitFor(/q closes/)
  process.kill(pid(), 'SIGTERM')
  await expectClean(terminal, 143)
})

test('a terminal that is gone ends the program quietly, its unsent text saved (T7)', async () => {
  const terminal = fixture.open(process.execPath, [fixture.program], {})
  await terminal.waitFor(() => terminal.bytes().includes('\x1b[?u'))
  await terminal.type('t', 'e', 'x', 't')
  await terminal.waitFor(/^> text$/m)
  terminal.hangUp()
  await terminal.exit()
  expect(readFileSync(join(fixture.folder, 'draft'), 'utf8')).toBe('text')
})

test('a terminal with the kitty protocol is asked for it, its keys are understood, and it is switched off again', async () => {
  const { terminal } = await inShell()
  terminal.write('\x1b[?0u')
  await terminal.waitFor(() => terminal.bytes().includes('\x1b[>1u'))
  await terminal.type('a', '\x1b[13;2u', 'b', '\x1b[98;3u', 'X')
  await terminal.waitFor(/^> a\n {2}Xb$/m)
  await terminal.type('\x1b[99;5u', '\x1b[99;5u', '\x1b[99;5u')
  await expectClean(terminal, 0)
  expect(terminal.bytes().lastIndexOf('\x1b[<u')).toBeGreaterThan(terminal.bytes().lastIndexOf('\x1b[>1u'))
})

test('stopped and let go on from outside, with the terminal changed in between, it works on', async () => {
  const { terminal, pid } = await inShell()
  const tty = readlinkSync(`/proc/${pid()}/fd/0`)
  process.kill(pid(), 'SIGSTOP')
  execFileSync('stty', ['-F', tty, 'sane'])
  const before = terminal.bytes().length
  process.kill(pid(), 'SIGCONT')
  await terminal.waitFor(() => terminal.bytes().slice(before).includes('\x1b[?2004h'))
  await terminal.type('x')
  await terminal.waitFor(/^> x$/m)
  await terminal.type('ctrl+c', 'ctrl+c', 'ctrl+c')
  await expectClean(terminal, 0)
})

/** Job control needs a shell with a terminal of its own; tmux is the terminal people use for it. */
const hasTmux = ((): boolean => {
  try {
    execFileSync('tmux', ['-V'])
    return true
  } catch {
    return false
  }
})()

test.skipIf(!hasTmux)('ctrl+z gives the shell a usable terminal, and fg draws the screen again (needs tmux)', async () => {
  const socket = join(fixture.folder, 'tmux')
  const tmux = (...args: string[]): string => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' })
  const shown = (): string => tmux('capture-pane', '-p', '-t', 'job')
  const wait = async (what: RegExp): Promise<string> => {
    for (let left = 400; left > 0; left--) {
      if (what.test(shown())) return shown()
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    throw new Error(`waited for ${what}\n${shown()}`)
  }
  const { CI: _ci, ...env } = process.env
  execFileSync('tmux', ['-S', socket, '-f', '/dev/null', 'new-session', '-d', '-s', 'job', '-x', '80', '-y', '24', 'bash --norc --noprofile'], { env: { ...env, FIXTURE_DIR: fixture.folder } })
  try {
    await wait(/[$#]/)
    tmux('send-keys', '-t', 'job', `'${process.execPath}' '${fixture.program}'`, 'Enter')
    for (let left = 400; left > 0 && !existsSync(join(fixture.folder, 'commands.jsonl')); left--) await new Promise((resolve) => setTimeout(resolve, 25))
    tmux('send-keys', '-t', 'job', 'before 日本')
    await wait(/^> before 日本/m)
    tmux('send-keys', '-t', 'job', 'C-z')
    await wait(/Stopped/)
    tmux('send-keys', '-t', 'job', 'echo usable', 'Enter')
    await wait(/^usable$/m)
    tmux('send-keys', '-t', 'job', 'fg', 'Enter')
    await wait(/^> before 日本[^]*for keys/m)
    tmux('send-keys', '-t', 'job', ' after')
    await wait(/^> before 日本 after/m)
    expect(shown().match(/for keys/g)).toHaveLength(1)
  } finally {
    tmux('kill-server')
  }
})
