import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MAX_BYTES, MAX_LINES } from '../../src/core/cap.ts'
import { environment } from '../../src/os/environment.ts'
import { startedOf } from '../../src/os/process-table.ts'
import { until } from '../os/until.ts'
import { shellSession, type ShellSession } from './shell-session.ts'

let session: ShellSession
beforeEach(() => {
  session = shellSession()
  mkdirSync(session.root)
})
afterEach(() => session.close())

const runs = (pid: number): boolean => startedOf(pid) !== undefined
const END = /\n\n\[exit 0, \d+\.\d s\]$/

// ---- how it ended

test('a result is the output and how it ended', async () => {
  const output = await session.run('echo out; echo err >&2')
  expect(output).toMatchObject({ status: 'ok', exit: 0 })
  expect(output.text).toMatch(/^out\nerr\n\n\[exit 0, \d+\.\d s\]$/)
  expect(output.output).toBeUndefined()
  expect(readdirSync(session.outputs)).toEqual([])
  expect((await session.run('true')).text).toMatch(/^\(no output\)\n\n\[exit 0/)
})

test('a failure has its exit code, a signal its name', async () => {
  expect(await session.run('exit 3')).toMatchObject({ status: 'failed', exit: 3, text: expect.stringContaining('[exit 3, ') as string })
  expect(await session.run('kill -SEGV $$')).toMatchObject({ status: 'failed', exit: null, text: expect.stringContaining('ended by SIGSEGV') as string })
})

test('a pipe whose first part failed is no pass, and the parts are told', async () => {
  expect(await session.run("sh -c 'echo FAIL; exit 3' 2>&1 | tail -1")).toMatchObject({ status: 'failed', exit: 3, text: expect.stringMatching(/^FAIL\n\n\[exit 3, .* the parts of the pipe ended with 3, 0\]$/) as string })
  expect(await session.run('yes | head -1')).toMatchObject({ status: 'ok', exit: 0, text: expect.stringContaining('141 (its reader had enough), 0') as string })
  expect(await session.run('true | false')).toMatchObject({ status: 'failed', exit: 1 })
})

test('a pipe before the end that hid a failure is named, whatever was printed after it', async () => {
  for (const command of ["sh -c 'echo FAIL; exit 3' 2>&1 | tail -1; echo \"exit: $?\"", "sh -c 'exit 3' | tail -5 && echo PASS", "(cd /; sh -c 'exit 3' | tee /dev/null; echo done)", "sh -c 'exit 3' | cat; true | cat"]) {
    const { text, status } = await session.run(command)
    expect([command, status]).toEqual([command, 'ok'])
    expect(text).toMatch(/\[NOTE: in a pipe before the end a part failed \(exits 3, 0\); \$\?, && and \|\| saw only its last part\]/)
  }
  for (const command of ['yes | head -1; echo ok', 'true | cat; echo ok', 'echo "a|b"; echo c', 'false || true | cat; echo ok']) expect((await session.run(command)).text).not.toContain('NOTE')
})

test('looking at pipes changes nothing that a command sees', async () => {
  const lines = ['mkdir -p _d && cd $_ && pwd | wc -l; cd ..', 'false | cat; echo "$? ${PIPESTATUS[*]}"', 'echo one | cat; echo two; echo "[$_]"', 'set -eu; false | cat; echo "$?"', 'IFS=,; false | cat; echo "$?"', 'set -x; false | cat; echo x', 'f() { false | cat; }; f; echo "$?"', 'for i in 1 2; do false | cat; done; echo "$?"', 'exec 98>&-; false | cat; echo x', "trap 'echo mine' ERR; false | cat; false; echo x", 'export | grep -c tiller; echo z', 'if then | x; y']
  for (const line of lines) {
    const { text } = await session.run(line)
    const plain = spawnSync('bash', ['-c', line], { cwd: session.root, env: environment(), encoding: 'utf8' })
    expect(text.replace(/\n\n\[exit[\s\S]*$/, '').replaceAll('/usr/bin/bash: ', 'bash: ').split('\n').toSorted(), line).toEqual(`${plain.stdout}${plain.stderr}`.trimEnd().split('\n').toSorted())
  }
})

test('a background child does not hold the result up, and is named with where it writes', async () => {
  const output = await session.run('sleep 300 & echo done')
  expect(output).toMatchObject({ status: 'ok', exit: 0 })
  expect(output.alive).toHaveLength(1)
  expect(output.text).toMatch(/^done\n\n\[exit 0, .*\]\n\[still running: \d+ sleep 300; .*outputs\/c1\.txt.*\]$/s)
})

test('what goes on after the call writes on to the named file', async () => {
  const output = await session.run('(while :; do echo tick; sleep 0.05; done) & echo begun')
  const file = join(session.outputs, 'c1.txt')
  expect(output.text).toContain(file)
  const before = statSync(file).size
  await until(() => statSync(file).size > before)
})

test('a timeout says so, keeps what was written, and what was ended', async () => {
  const output = await session.run({ command: "trap 'echo bye; exit 0' TERM; echo part; sleep 300 & while :; do sleep 0.1; done", timeout: 0.5 })
  expect(output).toMatchObject({ status: 'failed', exit: null })
  expect(output.text).toMatch(/^part\n[\s\S]*bye\n[\s\S]*\[timed out after 0\.5 s and was ended, with all it had started: .*\d+ sleep 300/)
})

test('an interrupt is told as such and leaves nothing', async () => {
  const controller = new AbortController()
  const running = session.run('echo begun; bash -c "sleep 301 & sleep 302"', { signal: controller.signal })
  await until(() => session.live.join('').includes('begun'))
  controller.abort()
  const output = await running
  expect(output).toMatchObject({ status: 'interrupted', exit: null })
  expect(output.text).toMatch(/^begun\n\n\[interrupted after .* and ended, with all it had started: .*sleep 301/)
  expect(runs(session.spawned[0]?.pid ?? 0)).toBe(false)
})

test('a call that was interrupted before it began starts nothing', async () => {
  const output = await session.run('touch made', { signal: AbortSignal.abort() })
  expect(output.status).toBe('interrupted')
  expect(existsSync(join(session.root, 'made'))).toBe(false)
})

test('a shell that is not there is a failure that names it, and a bad command too', async () => {
  const broken = shellSession({ path: '/nonexistent/bash' })
  mkdirSync(broken.root)
  expect(await broken.run('echo hi')).toMatchObject({ status: 'failed', text: expect.stringContaining('/nonexistent/bash') as string })
  await broken.close()
  expect(await session.run('echo a\0b')).toMatchObject({ status: 'failed', text: expect.stringContaining('NUL') as string })
  expect((await session.run('echo a )')).text).toMatch(/syntax error near unexpected token `\)'\n.*line 1: `echo a \)'\n/)
})

test('a folder that cannot be entered and a folder that is a file are said', async () => {
  writeFileSync(join(session.root, 'file'), '')
  expect(await session.run({ command: 'pwd', cwd: 'file' })).toMatchObject({ status: 'failed', text: expect.stringContaining('file is not a folder') as string })
  expect(await session.run({ command: 'pwd', cwd: 'missing' })).toMatchObject({ status: 'failed', text: expect.stringContaining('missing is not a folder') as string })
})

// ---- output

test('a long output shows its beginning and its end, and where all of it is', async () => {
  const output = await session.run('seq 1 100000')
  expect(output.text).toMatch(/^1\n2\n3\n/)
  expect(output.text).toContain('99999\n100000\n')
  expect(Buffer.byteLength(output.text)).toBeLessThanOrEqual(MAX_BYTES)
  expect(output.text.split('\n').length).toBeLessThanOrEqual(MAX_LINES)
  const file = join(session.outputs, 'c1.txt')
  expect(output.text).toContain(`all 588895 bytes of the output are in ${file}`)
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(100_001)
  expect(session.blobs.get(output.output?.sha256 ?? '')?.length).toBe(588_895)
})

test('where blobs can be read as files, the output lies there only', async () => {
  const other = shellSession({ blobPath: ({ sha256 }) => `/blobs/${sha256}` })
  mkdirSync(other.root)
  const output = await other.run('seq 1 100000')
  expect(output.text).toContain(`/blobs/${output.output?.sha256}`)
  expect(readdirSync(other.outputs)).toEqual([])
  await other.close()
})

test('progress is reduced to its last state', async () => {
  const output = await session.run("for i in $(seq 5000); do printf '\\rprogress %d%%' $((i/50)); done; echo; echo done")
  expect(output.text).toMatch(/^progress 100%\ndone\n\n\[exit 0/)
  expect(output.text.length).toBeLessThan(200)
  expect((await session.run("printf '|\\b/\\b-\\b'; echo ready")).text).toMatch(/^ready\n/)
})

test('progress of several lines is reduced to its last state, too', async () => {
  const { text } = await session.run("printf 'begin\\n\\n\\n'; for i in $(seq 300); do printf '\\033[2A\\033[Klayer1 %d\\n\\033[2K\\rlayer2 %d\\n' $i $i; done; echo done")
  expect(text).toMatch(/^begin\nlayer1 300\nlayer2 300\ndone\n/)
  const erased = await session.run("printf 'working\\n\\033[1A\\033[2Kdone\\n'; printf 'a\\nb\\nc\\n\\033[3A\\033[J'; printf 'left\\033[5Cright\\n'")
  expect(erased.text).toMatch(/^done\nleftright\n/)
})

test('control sequences are removed, and an unended one swallows nothing', async () => {
  expect((await session.run("printf '\\033[31mred\\033[0m \\033]0;title\\007x \\033]8;;http://a\\033\\\\link\\033]8;;\\033\\\\\\n'")).text).toMatch(/^red x link\n/)
  expect((await session.run("printf '\\033]0;never ended\\nimportant\\n\\033Pq never\\nmore\\n'")).text).toMatch(/^0;never ended\nimportant\nq never\nmore\n/)
})

test('text in UTF-8 comes through whole, however it is cut into pieces', async () => {
  const output = await session.run(`node -e "process.stdout.write('\\u4f60'.repeat(50000))"`)
  expect(output.text).not.toContain('\uFFFD')
  const bytes = session.blobs.get(output.output?.sha256 ?? '')
  expect(bytes?.toString()).toBe('\u4f60'.repeat(50_000))
  const slow = await session.run("for i in 1 2 3; do printf '\\344\\275'; sleep 0.15; printf '\\240'; done; echo")
  expect(slow.text).toMatch(/^\u4f60\u4f60\u4f60\n/)
  expect(session.live.join('')).not.toContain('\uFFFD')
})

test('bytes that are no UTF-8 are written out and counted, binary output is described', async () => {
  expect((await session.run("printf 'caf\\351 \\0 \\355\\240\\200\\n'")).text).toMatch(/^caf\\xe9 \\x00 \\xed\\xa0\\x80\n\n\[exit 0, .*\]\n\[5 bytes are not UTF-8 text/)
  const output = await session.run("head -c 100000 /dev/urandom; printf '\\0\\0\\033c\\n'")
  expect(output.text).toMatch(/\[binary output, 100005 bytes; the first 1000 are shown/)
  expect(output.text).toMatch(/^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$/)
  expect(Buffer.byteLength(output.text)).toBeLessThan(6_000)
})

test('an output that cannot be stored stops nothing, and is said where it matters', async () => {
  const other = shellSession({ outputDir: '/dev/null/outputs', blobs: { put: () => { throw new Error('full') } } })
  mkdirSync(other.root)
  expect((await other.run('echo fine')).text).toMatch(/^fine\n\n\[exit 0, [^\n]*\]$/)
  expect((await other.run('seq 1 100000')).text).toContain('the rest of the 588895 bytes is lost: /dev/null/outputs/c2.txt cannot be written (ENOTDIR)')
  await other.close()
})

test('live output comes in whole lines, cleaned', async () => {
  await session.run("printf '\\033[1mone\\033[0m\\ntw'; sleep 0.3; echo o; for i in 1 2 3; do printf '\\r%d' $i; sleep 0.02; done; echo")
  const shown = session.live.join('')
  expect(shown).toContain('one\n')
  expect(shown).toMatch(/3\n$/)
  expect(shown).not.toContain('\x1b')
})

test('the process is told before it ends, with its start and its file', async () => {
  await session.run('echo $$; sleep 0.1')
  expect(session.spawned).toEqual([{ pid: expect.any(Number) as number, started: expect.stringMatching(/^\d+$/) as string, output: join(session.outputs, 'c1.txt') }])
})

// ---- folder and variables

test('cd lasts for one command, also after a failure, and the result says so', async () => {
  mkdirSync(join(session.root, 'sub'))
  expect((await session.run('cd sub && false')).text).toContain('cd to sub lasted for this command only')
  expect((await session.run('pwd')).text.split('\n')[0]).toBe(session.root)
})

test('the folder is told where it is not the root', async () => {
  mkdirSync(join(session.root, 'sub'))
  const output = await session.run({ command: 'pwd', cwd: 'sub' })
  expect(output.text).toMatch(/sub\n\n\[exit 0, .*\]\n\[it ran in sub\]$/)
  expect((await session.run('pwd')).text).toMatch(END)
})

test('keep keeps folder and exported variables, whether the command failed or not', async () => {
  mkdirSync(join(session.root, 'sub'))
  const kept = await session.run({ command: "cd sub; export NAME='a b\nc' CI=; unset PAGER; OWN=1; false", keep: true })
  expect(kept).toMatchObject({ status: 'failed', exit: 1, text: expect.stringContaining('later commands run in sub') as string })
  expect((await session.run('pwd; echo "$NAME|${CI-unset}|${PAGER-unset}|${OWN-unset}"')).text).toMatch(/sub\na b\nc\|\|unset\|unset\n\n\[exit 0, .*\]\n\[it ran in sub\]$/)
  await session.run({ command: 'cd ..; unset NAME', keep: true })
  expect((await session.run('pwd; echo ${NAME-unset}')).text).toMatch(/root\nunset\n/)
})

test('where it is not seen how a command ended, it is said that nothing was kept', async () => {
  await session.run('mkdir -p sub')
  for (const command of ["trap 'echo bye' EXIT; cd sub", 'cd sub; exec true', 'cd sub; kill -9 $$']) {
    expect((await session.run({ command, keep: true })).text).toContain('nothing of it was kept for later commands')
    expect((await session.run('pwd')).text).toContain(`${session.root}\n`)
  }
})

test('kept variables make every later command ask', async () => {
  expect((await session.prepare({ command: 'ls' })).accesses).toEqual([])
  await session.run({ command: 'cd /', keep: true })
  expect((await session.prepare({ command: 'ls' })).accesses).toEqual([{ kind: 'read', path: '/' }])
  await session.run({ command: `cd ${session.root}; export PATH=/tmp/evil:$PATH`, keep: true })
  expect((await session.prepare({ command: 'ls' })).accesses).toEqual([{ kind: 'unknown', part: 'program', why: expect.stringContaining('PATH') as string }])
})

test('a kept folder that is gone falls back with a notice, and the next command runs', async () => {
  await session.run({ command: 'mkdir t && cd t', keep: true })
  rmSync(join(session.root, 't'), { recursive: true })
  expect((await session.run('echo hi; pwd')).text).toMatch(/^hi\n.*root\n\n\[exit 0, .*\]\n\[.*\/t is gone: this runs in .*root\]$/)
  expect((await session.run('echo hi')).text).toMatch(END)
  expect((await session.run('mkdir t && cd t && rmdir ../t')).status).toBe('ok')
  expect((await session.run('echo hi')).text).toMatch(/^hi\n\n\[exit 0/)
})

test('keep is refused where it cannot work', async () => {
  expect((await session.run({ command: 'cd /', keep: true, background: true })).text).toMatch(/keep does not go with background/)
  const plain = shellSession({ path: '/bin/sh' })
  mkdirSync(plain.root)
  expect((await plain.run({ command: 'cd /', keep: true })).text).toMatch(/keep needs bash/)
  await plain.close()
})

// ---- gates

test('preparing names the accesses and shows the command; what cannot be judged is unknown', async () => {
  const broken = shellSession({ accesses: () => Promise.reject(new Error('no grammar')) })
  mkdirSync(broken.root)
  const prepared = await broken.prepare({ command: 'ls', background: true })
  expect(prepared.accesses).toEqual([{ kind: 'unknown', part: 'program', why: expect.stringContaining('no grammar') as string }])
  expect(prepared.preview).toEqual({ kind: 'command', command: 'ls', cwd: broken.root, note: 'in the background' })
  await broken.close()
})

test('what must run in the sandbox runs in it or not at all', async () => {
  expect(await session.run('touch made', { sandbox: true })).toMatchObject({ status: 'failed', text: expect.stringContaining('sandbox') as string })
  for (const [sandbox, made] of [[() => undefined, false], [(argv: readonly string[]) => ({ argv: ['env', 'BOXED=yes', ...argv] }), true]] as const) {
    const boxed = shellSession({ sandbox })
    mkdirSync(boxed.root)
    const output = await boxed.run('touch made; echo boxed: $BOXED', { sandbox: true })
    expect([output.status === 'ok', existsSync(join(boxed.root, 'made'))]).toEqual([made, made])
    if (made) expect(output.text).toMatch(/^boxed: yes\n/)
    await boxed.close()
  }
})

test('secrets are not in the environment of a command', async () => {
  const secretive = shellSession({ environment: () => environment({ base: { ...process.env, OPENAI_API_KEY: 'sk-test-123', GH_TOKEN: 'tok', LOCAL_KEY: 'lk' }, drop: ['*_API_KEY', '*_TOKEN', 'LOCAL_KEY'] }) })
  mkdirSync(secretive.root)
  const { text } = await secretive.run('env | sort; node -p process.env.OPENAI_API_KEY')
  expect(text).not.toMatch(/sk-test-123|GH_TOKEN|LOCAL_KEY/)
  expect(text).toMatch(/\nundefined\n/)
  await secretive.close()
})

test('a command whose start cannot be recorded is ended', async () => {
  const prepared = await session.prepare({ command: 'sleep 300' })
  let pid = 0
  await expect(prepared.run(new AbortController().signal, { output: () => {}, spawned: (process) => {
    pid = process.pid
    throw new Error('the log is closed')
  } }, { sandbox: false })).rejects.toThrow('the log is closed')
  expect(runs(pid)).toBe(false)
})
