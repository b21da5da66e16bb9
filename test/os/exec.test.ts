import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { environment } from '../../src/os/environment.ts'
import { exec, textOf, type Ended, type ExecOptions } from '../../src/os/exec.ts'
import { endAll, livingCount } from '../../src/os/living.ts'
import { isAlive, startedOf } from '../../src/os/process-table.ts'
import { start } from '../../src/os/start.ts'
import { until } from './until.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tiller-exec-')))
let files = 0
const fresh = (): string => join(folder, `file-${++files}`)
afterEach(() => endAll(0))
afterAll(() => { rmSync(folder, { recursive: true, force: true }) })

type Options = Partial<Omit<ExecOptions, 'argv' | 'command'>>
const run = (command: string, options: Options = {}): Promise<Ended> => exec({ command, cwd: folder, combine: true, ...options })
const out = (ended: Ended): string => textOf(ended.stdout)
const runs = (pid: number): boolean => isAlive({ pid, started: startedOf(pid) ?? 'gone' })
const pidsIn = (text: string): number[] => text.split(/\s+/).filter(Boolean).map(Number)

// ---- the end of a command

test('a command ends with its exit code and what it wrote', async () => {
  const ended = await run('echo out; echo err >&2; exit 3')
  expect(ended).toMatchObject({ reason: 'exited', exit: 3, signal: null, alive: [], killed: [] })
  expect(out(ended)).toBe('out\nerr\n')
})

test('stdout and stderr are apart where they are not combined', async () => {
  const ended = await run('echo out; echo err >&2', { combine: false })
  expect([out(ended), textOf(ended.stderr)]).toEqual(['out\n', 'err\n'])
})

test('a signal that the command sends itself is named', async () => {
  expect(await run('kill -9 $$')).toMatchObject({ reason: 'exited', exit: null, signal: 'SIGKILL' })
})

test('a background child that holds stdout does not delay the end, and is named', async () => {
  // Until then it is a copy of the shell.
  const ended = await run('sleep 300 & until [ "$(ps -o comm= $!)" = sleep ]; do :; done; echo done')
  expect(out(ended)).toBe('done\n')
  expect(ended).toMatchObject({ reason: 'exited', exit: 0, alive: [{ command: 'sleep 300' }] })
  expect(ended.ms).toBeLessThan(10_000)
})

test('a background child that keeps printing has a working stdout and ends with everything', async () => {
  const file = fresh()
  const ended = await run(`(while :; do echo tick || exit; echo alive >> ${file}; sleep 0.1; done) & sleep 0.3; echo fg`)
  expect(out(ended)).toMatch(/^(tick\n)+fg\n/)
  expect(ended.alive.length).toBeGreaterThan(0)
  const before = statSync(file).size
  await until(() => statSync(file).size > before + 10, 'writing on after the call')
  await endAll(100)
  expect(ended.alive.map(({ pid }) => runs(pid))).not.toContain(true)
  expect(livingCount()).toBe(0)
})

test('a child that left session and group with closed streams is still named', async () => {
  const ended = await run('setsid sleep 301 >/dev/null 2>&1 & wait $!; setsid sleep 302 </dev/null >/dev/null 2>&1 & sleep 0.2', { timeoutMs: 500 })
  expect(ended.killed.map(({ command }) => command)).toContain('sleep 301')
  const left = await run('setsid sleep 303 </dev/null >/dev/null 2>&1 & sleep 0.3')
  expect(left.alive.map(({ command }) => command)).toEqual(['sleep 303'])
})

test('everything written before the end is there, also with somebody who never stops writing', async () => {
  const ended = await run('(sleep 1; exec yes) & head -c 60000 /dev/zero | tr "\\0" x', { window: { head: 100_000, tail: 0 } })
  expect(out(ended).match(/x/g)).toHaveLength(60_000)
})

// ---- timeout and abort

test('a timeout ends grandchildren too', async () => {
  const ended = await run("echo $$; bash -c 'sleep 301 & echo $!; sleep 302 & echo $!; wait' & wait", { timeoutMs: 800 })
  expect(ended).toMatchObject({ reason: 'timeout', exit: null, signal: 'SIGTERM', alive: [] })
  const pids = pidsIn(out(ended).replace(/[a-z]\S*/gi, ''))
  expect(pids).toHaveLength(3)
  expect(pids.map(runs)).toEqual([false, false, false])
  expect(ended.killed.map(({ command }) => command)).toEqual(expect.arrayContaining(['sleep 301', 'sleep 302']))
})

test('a timeout ends a child that left the group and holds the pipe', async () => {
  const ended = await run('setsid sleep 300 & sleep 60', { timeoutMs: 500 })
  expect(ended).toMatchObject({ reason: 'timeout', alive: [] })
  expect(ended.killed.map(({ command }) => command)).toContain('sleep 300')
})

test('a timeout ends a child that dropped its environment and its session', async () => {
  const file = fresh()
  const ended = await run(`env -i setsid sh -c 'echo $$ > ${file}; exec sleep 300' & sleep 60`, { timeoutMs: 800 })
  expect(ended).toMatchObject({ reason: 'timeout', alive: [] })
  expect(runs(Number(readFileSync(file, 'utf8')))).toBe(false)
})

test('who ignores TERM is killed after the grace', async () => {
  const ended = await run("trap '' TERM; (trap '' TERM; while :; do sleep 0.05; done) & echo $!; while :; do sleep 0.05; done", { timeoutMs: 500, graceMs: 300 })
  expect(ended).toMatchObject({ reason: 'timeout', exit: null, signal: 'SIGKILL', alive: [] })
  expect(runs(Number.parseInt(out(ended), 10))).toBe(false)
})

test('a clean exit after the TERM of a timeout stays a timeout, with what was written', async () => {
  const ended = await run("trap 'echo bye; exit 0' TERM; echo part; while :; do sleep 0.1; done", { timeoutMs: 500 })
  expect(ended).toMatchObject({ reason: 'timeout', exit: 0 })
  expect(out(ended)).toMatch(/^part\n[\s\S]*bye\n$/)
})

test('an abort ends the tree; a later timeout changes nothing', async () => {
  const controller = new AbortController()
  const running = await start({ command: 'sleep 301 & sleep 302', cwd: folder, signal: controller.signal, timeoutMs: 60_000 })
  controller.abort()
  expect(await running.ended).toMatchObject({ reason: 'aborted', alive: [], exit: null })
})

test('an aborted signal starts nothing', async () => {
  const file = fresh()
  expect(await run(`touch ${file}`, { signal: AbortSignal.abort() })).toMatchObject({ reason: 'aborted', exit: null, ms: expect.any(Number) as number })
  expect(existsSync(file)).toBe(false)
})

test('a stopped process is ended too', async () => {
  expect(await run('kill -STOP $$', { timeoutMs: 500, graceMs: 1_000 })).toMatchObject({ reason: 'timeout', alive: [] })
})

test('a fork bomb of modest size is ended', async () => {
  const ended = await run("trap '' TERM; grow() { for i in 1 2 3; do (trap '' TERM; sleep 30 & sleep 30 & wait; wait) & done; wait; }; grow & grow & grow & wait", { timeoutMs: 600, graceMs: 200 })
  expect(ended).toMatchObject({ reason: 'timeout', alive: [] })
})

test('a released command is ended by neither its timeout nor its signal', async () => {
  const controller = new AbortController()
  const running = await start({ command: 'sleep 0.6; echo finished', cwd: folder, signal: controller.signal, timeoutMs: 200 })
  running.release()
  controller.abort()
  const ended = await running.ended
  expect([ended.reason, out(ended)]).toEqual(['exited', 'finished\n'])
})

// ---- what a child is given

test('a child has no terminal and its stdin is at its end', async () => {
  const ended = await run('cat; : </dev/tty; echo $?; ps -o tty= -p $$ 2>/dev/null')
  expect(out(ended)).toMatch(/\/dev\/tty: No such device or address\n1\n\?/)
  expect(await run('read -r -p "pw: " x </dev/tty; echo got $x')).toMatchObject({ exit: 0, stdout: { bytes: expect.any(Number) as number } })
})

test('a child is the leader of its own session and group', async () => {
  const ended = await run('echo $$; cut -d" " -f5,6 /proc/self/stat')
  const [pid, ids] = out(ended).trim().split('\n')
  expect(ids).toBe(`${pid} ${pid}`)
})

test('stdout can be opened again by its name, and so can input', async () => {
  const ended = await run('cat /dev/stdin; echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr >/dev/null; cat', { input: 'given\n' })
  expect(out(ended)).toBe('given\na\nb\nc\n'.replace('c\n', 'c\ngiven\n'))
})

test('input of any size arrives, and a child that does not read it is no error', async () => {
  expect(out(await run('wc -c', { input: Buffer.alloc(3_000_000, 'x') })).trim()).toBe('3000000')
  expect(await run('exit 0', { input: Buffer.alloc(3_000_000, 'x') })).toMatchObject({ exit: 0 })
})

test('the text reaches the shell byte for byte', async () => {
  const text = "a\\\\b \\b hi! $x `y` \"q\" 'z'\n\\n \u00e9\u4f60 !! !$ \t end"
  expect(out(await run(`cat <<'EOF'\n${text}\nEOF\n`))).toBe(`${text}\n`)
  expect(out(await run(`printf %s '${text.replaceAll("'", String.raw`'\''`)}'`))).toBe(text)
})

test('a command of three megabytes runs, and the next one too', async () => {
  const ended = await run(`: '${'x'.repeat(3_000_000)}'\nfalse | true\necho ok`)
  expect([ended.exit, out(ended)]).toEqual([0, 'ok\n'])
  expect(out(await run('echo ok'))).toBe('ok\n')
})

test('an environment that is too long is a plain failure, and the next command runs', async () => {
  const env = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`BIG_${index}`, 'x'.repeat(99_000)]))
  const ended = await run('echo ok', { env: { ...environment(), ...env } })
  expect(ended).toMatchObject({ reason: 'spawn-failed', exit: null })
  expect(ended.error).toMatch(/too long/)
  expect(await exec({ argv: ['true'], cwd: folder })).toMatchObject({ exit: 0 })
})

test('a program, shell or folder that is not there is named, and nothing is thrown', async () => {
  expect(await exec({ argv: ['no-such-program-here'], cwd: folder })).toMatchObject({ reason: 'spawn-failed', error: expect.stringContaining('no-such-program-here') as string })
  expect(await run('echo x', { shell: '/nonexistent/bash' } as Options)).toMatchObject({ reason: 'spawn-failed', error: expect.stringContaining('/nonexistent/bash') as string })
  expect(await run('echo x', { cwd: join(folder, 'gone') })).toMatchObject({ reason: 'spawn-failed', error: expect.stringContaining('gone') as string })
  writeFileSync(join(folder, 'not-executable'), 'x', { mode: 0o600 })
  expect(await exec({ argv: [join(folder, 'not-executable')], cwd: folder })).toMatchObject({ reason: 'spawn-failed' })
})

test('a wrapper gets the arguments and can add to the environment', async () => {
  const ended = await run('echo $EXTRA-$OTHER', { wrap: (argv) => ({ argv: ['env', 'OTHER=o', ...argv], env: { EXTRA: 'e' } }) })
  expect(out(ended)).toBe('e-o\n')
})

// ---- the shell's report

test('the parts of the last pipe are told, without pipefail', async () => {
  expect(await run("sh -c 'echo FAIL; exit 3' 2>&1 | tail -1")).toMatchObject({ exit: 0, stages: [3, 0] })
  expect(await run('cd / && false | true | (exit 4)')).toMatchObject({ exit: 4, stages: [1, 0, 4], endedIn: '/' })
  expect(await run('yes | head -1')).toMatchObject({ exit: 0, stages: [141, 0] })
  expect((await run('false')).stages).toBeUndefined()
  expect(out(await run('false | true && echo yes'))).toBe('yes\n')
})

test('a trace, strict modes and a trap of the command see nothing of the report', async () => {
  expect(out(await run('set -eux; echo a'))).toBe('+ echo a\na\n')
  expect(out(await run("trap 'echo mine' EXIT; echo a"))).toBe('a\nmine\n')
  expect(await run('set -e; false; echo no')).toMatchObject({ exit: 1 })
  expect(out(await run('echo $# $0; ls /proc/self/fd | wc -l'))).toMatch(/^0 \S*bash\n/)
})

test('exported variables and the last folder are told where they are asked for, even after a failure', async () => {
  const ended = await run("export NEW='a\nb=c'; OWN=1; cd /usr && false", { exports: true })
  expect(ended).toMatchObject({ exit: 1, endedIn: '/usr', exports: { NEW: 'a\nb=c' } })
  expect(ended.exports).not.toHaveProperty('OWN')
})

test('other shells run without a report', async () => {
  const ended = await run('echo $0; false | true', { shell: '/bin/sh' } as Options)
  expect([out(ended), ended.exit, ended.stages]).toEqual(['/bin/sh\n', 0, undefined])
})

// ---- output

test('of much output the beginning and the end stay in memory, and the count is exact', async () => {
  const ended = await run('seq 1 200000', { window: { head: 1000, tail: 1000 } })
  expect(ended.stdout).toMatchObject({ bytes: 1_288_895, cut: 1_286_895 })
  expect(ended.stdout.head.toString().startsWith('1\n2\n3\n')).toBe(true)
  expect(ended.stdout.tail.toString().endsWith('199999\n200000\n')).toBe(true)
})

test('the file holds everything, or the beginning and the end', async () => {
  const [whole, short] = [fresh(), fresh()]
  const ended = await run('seq 1 20000', { outputFile: { path: whole } })
  expect(readFileSync(whole).equals(Buffer.concat([ended.stdout.head, ended.stdout.tail]))).toBe(true)
  expect(statSync(whole).mode & 0o777).toBe(0o600)
  await run('seq 1 200000', { outputFile: { path: short, limit: 5000 }, window: { head: 1000, tail: 1000 } })
  expect(readFileSync(short, 'utf8')).toMatch(/^1\n2\n[\s\S]*\n\[… \d+ bytes were not kept …\]\n[\s\S]*200000\n$/)
  expect(statSync(short).size).toBeLessThan(5100)
})

test('an output file that cannot be written stops nothing and is said', async () => {
  const existing = fresh()
  writeFileSync(existing, 'mine')
  for (const path of [join(folder, 'missing', 'file'), existing, '/dev/full']) {
    const ended = await run('echo fine', { outputFile: { path } })
    expect([ended.exit, out(ended)]).toEqual([0, 'fine\n'])
    expect(ended.file?.fault).toContain(path)
  }
  expect(readFileSync(existing, 'utf8')).toBe('mine')
})

test('output is seen as it comes', async () => {
  const seen: string[] = []
  const go = fresh()
  const running = await start({ command: `echo one; until [ -e ${go} ]; do sleep 0.02; done; echo two`, cwd: folder, combine: true, onOutput: (chunk) => seen.push(Buffer.from(chunk).toString()) })
  await until(() => seen.join('') === 'one\n')
  writeFileSync(go, '')
  await running.ended
  expect(seen.join('')).toBe('one\ntwo\n')
})

// ---- real tools that would ask

test('git asks for no user name, opens no editor and starts no pager', async () => {
  const server = createServer((_request, response) => { response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end() }).listen(0, '127.0.0.1')
  await until(() => server.listening)
  const ended = await run(`git ls-remote http://127.0.0.1:${(server.address() as AddressInfo).port}/x.git`, { timeoutMs: 20_000 })
  server.close()
  expect([ended.reason, ended.exit]).toEqual(['exited', 128])
  expect(out(ended)).toMatch(/could not read Username/)

  const repository = `cd "$(mktemp -d ${folder}/repo-XXXX)" && git init -q && git config user.email a@b && git config user.name a && git commit -q --allow-empty -m 1 && git commit -q --allow-empty -m 2 && `
  for (const command of ['git commit --allow-empty', 'git -c core.editor=vi commit --allow-empty', 'git -c sequence.editor=vi rebase -i HEAD~1', 'git commit --amend --allow-empty']) {
    const ended = await run(repository + command, { timeoutMs: 20_000 })
    expect([command, ended.reason, ended.exit === 0]).toEqual([command, 'exited', false])
    expect(out(ended)).toMatch(/no editor can be opened here/)
  }
  expect(out(await run(`${repository} git log --format=%s`))).toBe('2\n1\n')
  const branch = await run(`${repository} git checkout -q -b other && git commit -q --allow-empty -m 3 && git checkout -q - && git merge --no-ff other && git log -1 --format=%s`)
  expect(out(branch)).toMatch(/Merge branch 'other'\n$/)
})

test('signing by a program that wants the terminal fails and is not left out', async () => {
  const program = join(folder, 'sign')
  writeFileSync(program, '#!/bin/sh\nread -r pin < /dev/tty || exit 2\n', { mode: 0o755 })
  const ended = await run(`cd "$(mktemp -d ${folder}/repo-XXXX)" && git init -q && git config user.email a@b && git config user.name a && git -c commit.gpgsign=true -c gpg.program=${program} commit --allow-empty -m x`, { timeoutMs: 20_000 })
  expect(ended.reason).toBe('exited')
  expect(ended.exit).not.toBe(0)
  expect(out(ended)).toMatch(/failed to sign|gpg failed/)
})

test.runIf(process.platform === 'linux')('pipes serve one command after another: making new ones takes a process', async () => {
  const seen = new Set<string>()
  for (let time = 0; time < 40; time++) seen.add(out(await run('stat -Lc %i /proc/self/fd/1')))
  expect(seen.size).toBeLessThanOrEqual(16)
  // One that somebody still writes to is not given to the next.
  const left = await run('stat -Lc %i /proc/self/fd/1; (sleep 1; echo late) & sleep 0.1')
  const next = await Promise.all(Array.from({ length: 8 }, () => run('stat -Lc %i /proc/self/fd/1; sleep 1.2')))
  for (const each of next) expect(out(each)).toMatch(/^\d+\n$/)
  expect(next.map((each) => out(each))).not.toContain(out(left))
})
