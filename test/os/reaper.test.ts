import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { endAll } from '../../src/os/living.ts'
import { family, isAlive, startedOf } from '../../src/os/process-table.ts'
import { startReaper } from '../../src/os/reaper.ts'
import { start } from '../../src/os/start.ts'
import { until } from './until.ts'

const folder = mkdtempSync(join(tmpdir(), 'tiller-reaper-'))
const program = new URL('../../fixtures/bin/start-commands.ts', import.meta.url).pathname
const parents: ChildProcess[] = []
afterEach(() => { for (const parent of parents) parent.kill('SIGKILL') })
afterAll(() => { rmSync(folder, { recursive: true, force: true }) })

const runs = (pid: number): boolean => startedOf(pid) !== undefined

/** Every process that the commands start appends its pid to the file; comes back when `count` of them did. */
async function parentOf(commands: string[], count: number): Promise<{ parent: ChildProcess; pids: number[]; reaper: number }> {
  const file = join(folder, `pids-${parents.length}`)
  const parent = spawn(process.execPath, ['--no-warnings', program, ...commands], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, FILE: file } })
  parents.push(parent)
  let said = ''
  parent.stdout?.on('data', (chunk: Buffer) => { said += chunk.toString() })
  const pids = (): number[] => {
    try {
      return readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number)
    } catch {
      return []
    }
  }
  await until(() => said.includes('started') && pids().length === count, `${count} processes (there are ${pids().length}: ${said})`)
  expect(pids().map(runs)).not.toContain(false)
  return { parent, pids: pids(), reaper: Number(/reaper (\d+)/.exec(said)?.[1]) }
}

const PLAIN = 'echo $$ >> $FILE; sleep 300'
const GRANDCHILDREN = "bash -c 'echo $$ >> $FILE; sleep 300 & echo $! >> $FILE; wait' & wait"
const OWN_SESSION = "setsid sh -c 'echo $$ >> $FILE; exec sleep 300' & wait"
const DAEMON = "setsid sh -c 'echo $$ >> $FILE; exec sleep 300 </dev/null >/dev/null 2>&1' & sleep 0.2 # to its end"
const IGNORES_TERM = "trap '' TERM HUP INT; echo $$ >> $FILE; while :; do sleep 0.1; done"
const NO_ENVIRONMENT = "env -i FILE=$FILE sh -c 'echo $$ >> $FILE; exec sleep 300' & echo $! >/dev/null; sleep 0.2 # to its end"
const TIGHT_WRITER = 'echo $$ >> $FILE; exec yes > /dev/null'

test.each(['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGINT'] as const)('a parent that dies of %s leaves nothing', async (signal) => {
  const { parent, pids, reaper } = await parentOf([PLAIN, GRANDCHILDREN, OWN_SESSION, DAEMON, IGNORES_TERM, NO_ENVIRONMENT, TIGHT_WRITER], 8)
  expect(runs(reaper)).toBe(true)
  parent.kill(signal)
  await until(() => !pids.some(runs), `the end of ${pids.filter(runs).join(' ')}`)
  await until(() => !runs(reaper), 'the end of the reaper')
})

test('a parent whose whole group is killed leaves nothing: the reaper has a session of its own', async () => {
  const file = join(folder, 'group')
  const parent = spawn(process.execPath, ['--no-warnings', program, PLAIN], { stdio: 'ignore', detached: true, env: { ...process.env, FILE: file } })
  parents.push(parent)
  const pids: number[] = []
  await until(() => {
    try {
      pids.splice(0, pids.length, ...readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number))
    } catch {}
    return pids.length === 1
  })
  process.kill(-(parent.pid ?? 0), 'SIGKILL')
  await until(() => !pids.some(runs), 'the end of the command')
})

test('a parent that ends by itself takes its jobs along, and the reaper with them', async () => {
  const { parent, pids, reaper } = await parentOf([PLAIN], 1)
  parent.kill('SIGUSR2')
  await until(() => !pids.some(runs) && !runs(reaper))
})

test('a reaper that was killed is started again and told everything', async () => {
  const running = await start({ command: 'sleep 300', cwd: folder })
  const first = startReaper() ?? 0
  process.kill(first, 'SIGKILL')
  await until(() => startReaper() !== first, 'another reaper')
  expect(runs(startReaper() ?? 0)).toBe(true)
  await running.stop()
})

test('a process that took the number of an ended group is left alone', async () => {
  // What the reaper is told: the group of a process that began at another time than the one that has the number now.
  const stranger = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' })
  const { REAPER_SCRIPT } = await import('../../src/os/reaper-script.ts')
  const reaper = spawn('/bin/sh', ['-c', REAPER_SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'] })
  reaper.stdin.end(`mark x.1.\ngroup x.1. ${stranger.pid} 1\n`)
  await new Promise((resolve) => reaper.on('exit', resolve))
  expect(runs(stranger.pid ?? 0)).toBe(true)
  stranger.kill('SIGKILL')
})

test('a released mark is not hunted, others are', async () => {
  const { REAPER_SCRIPT } = await import('../../src/os/reaper-script.ts')
  const carry = (mark: string): number => spawn('sleep', ['300'], { detached: true, stdio: 'ignore', env: { TILLER_CALL: mark } }).pid ?? 0
  const [kept, other, ended] = [carry('y.1.'), carry('y.11.'), carry('y.2.')]
  const reaper = spawn('/bin/sh', ['-c', REAPER_SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'] })
  reaper.stdin.end(`mark y.1.\ngroup y.1. ${kept} \nmark y.2.\nfree y.1.\n`)
  await new Promise((resolve) => reaper.on('exit', resolve))
  expect([kept, other, ended].map(runs)).toEqual([true, true, false])
  process.kill(kept, 'SIGKILL')
  process.kill(other, 'SIGKILL')
})

test('a command that is let go outlives its parent and goes on writing to its file', async () => {
  const { pids, file, parent } = await letGo()
  await new Promise((resolve) => parent.on('exit', resolve))
  const size = (): number => readFileSync(file).length
  const before = size()
  await until(() => size() > before + 10, 'more output')
  expect(pids.map(runs)).toEqual([true])
  process.kill(-(pids[0] ?? 0), 'SIGKILL')
})

async function letGo(): Promise<{ parent: ChildProcess; pids: number[]; file: string }> {
  const file = join(folder, 'let-go')
  const script = `
    import { start } from '${new URL('../../src/os/start.ts', import.meta.url).pathname}'
    import { endAll } from '${new URL('../../src/os/living.ts', import.meta.url).pathname}'
    const running = await start({ command: 'while :; do echo tick || exit; sleep 0.05; done', cwd: '/', combine: true, outputFile: { path: ${JSON.stringify(file)} } })
    await new Promise((resolve) => setTimeout(resolve, 300))
    running.letGo()
    await endAll()
    console.log(running.pid)
    process.exit()`
  const parent = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  parents.push(parent)
  let said = ''
  parent.stdout?.on('data', (chunk: Buffer) => { said += chunk.toString() })
  await until(() => said.endsWith('\n'), 'the pid')
  return { parent, pids: [Number(said)], file }
}

test('a process is told from a later one with the same pid', async () => {
  const running = await start({ command: 'sleep 300', cwd: folder })
  const { pid, started } = running
  expect(isAlive({ pid: pid ?? 0, started })).toBe(true)
  expect(isAlive({ pid: pid ?? 0, started: '1' })).toBe(false)
  expect((await family({ leader: pid ?? 0, mark: 'none' })).map((entry) => entry.pid)).toContain(pid)
  await endAll(100)
  expect(isAlive({ pid: pid ?? 0, started })).toBe(false)
})
