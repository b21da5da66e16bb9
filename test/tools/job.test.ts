import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
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
const background = (command: string, more: Record<string, unknown> = {}): ReturnType<ShellSession['run']> => session.run({ command, background: true, ...more })
/** Goes on when the test says so. */
const untilTold = (name: string): string => `until [ -e ${join(session.root, name)} ]; do sleep 0.02; done`
const tell = (name: string): void => { writeFileSync(join(session.root, name), '') }

test('a background command is started as a job and goes on', async () => {
  const output = await background(`echo begun; ${untilTold('go')}; echo more`)
  expect(output).toMatchObject({ status: 'ok', alive: [expect.any(Number)] })
  expect(output.text).toMatch(/^begun\n\n\[started in the background: job-1, pid \d+. It is still running; its output goes to .*c1\.txt\]/)
  expect(session.spawned).toEqual([expect.objectContaining({ job: 'job-1', output: join(session.outputs, 'c1.txt') })])
  tell('go')
  expect((await session.job({ op: 'wait', id: 'job-1' })).text).toMatch(/^more\n\n\[exit 0, .*\]\n\[job-1 has ended\]$/)
  expect(session.ended).toMatchObject([{ id: 'job-1', call: 'c1', ended: { exit: 0 } }])
})

test('a job that fails at once says so', async () => {
  expect(await background('no-such-command-here')).toMatchObject({ status: 'failed', exit: 127, text: expect.stringMatching(/not found[\s\S]*job-1 has ended already/) as string })
  expect((await session.job({ op: 'list' })).text).toMatch(/^job-1 {2}ended: exit 127, after .* no-such-command-here$/)
})

test('reading gives what is new since the last time', async () => {
  await background(`echo one; ${untilTold('two')}; echo two; ${untilTold('end')}`)
  expect((await session.job({ op: 'read', id: 'job-1' })).text).toMatch(/^\(no new output\)\n\n\[job-1 is still running/)
  tell('two')
  await until(async () => session.jobs.get('job-1') !== undefined && (await session.job({ op: 'read', id: 'job-1' })).text.startsWith('two\n'))
  expect((await session.job({ op: 'read', id: 'job-1' })).text).toMatch(/^\(no new output\)/)
  tell('end')
})

test('waiting has its own time and can be interrupted; the job goes on', async () => {
  const output = await background('sleep 300')
  const pid = output.alive?.[0] ?? 0
  expect((await session.job({ op: 'wait', id: 'job-1', timeout: 0.2 })).text).toContain('it did not end within 0.2 s')
  const controller = new AbortController()
  const waiting = session.job({ op: 'wait', id: 'job-1' }, controller.signal)
  controller.abort()
  expect(await waiting).toMatchObject({ status: 'interrupted', text: expect.stringContaining('the job was not') as string })
  expect(runs(pid)).toBe(true)
})

test('stopping ends the job and all it started, and says so once', async () => {
  await background("echo $$; bash -c 'sleep 301 & sleep 302'")
  const output = await session.job({ op: 'stop', id: 'job-1' })
  expect(output).toMatchObject({ status: 'ok', text: expect.stringMatching(/interrupted after .* with all it had started: .*sleep 301.*\[job-1 has ended \(stopped\)\]/s) as string })
  expect(session.ended).toHaveLength(1)
  expect(session.ended[0]?.ended?.killed.map(({ pid }) => runs(pid))).not.toContain(true)
  expect((await session.job({ op: 'stop', id: 'job-1' })).text).toContain('it had ended before')
})

test('a job has no timeout unless it is given one', async () => {
  await background('echo begun; sleep 300', { timeout: 0.5 })
  expect((await session.job({ op: 'wait', id: 'job-1' })).text).toContain('[job-1 has ended (timeout)]')
})

test('a running command can be moved to the background, and neither its timeout nor its signal ends it', async () => {
  const controller = new AbortController()
  const prepared = await session.prepare({ command: `echo begun; ${untilTold('go')}; echo finished`, timeout: 0.5 })
  const running = prepared.run(controller.signal, { output: (text) => session.live.push(text), spawned: (process) => session.spawned.push(process) }, { sandbox: false })
  await until(() => session.live.join('').includes('begun'))
  prepared.background?.()
  const output = await running
  expect(output).toMatchObject({ status: 'ok', text: expect.stringMatching(/^begun\n\n\[moved to the background by the person: job-1/) as string })
  controller.abort()
  await new Promise((resolve) => setTimeout(resolve, 700))
  tell('go')
  expect((await session.job({ op: 'wait', id: 'job-1' })).text).toMatch(/^finished\n\n\[exit 0/)
})

test('when Tiller leaves, jobs are stopped and reported, except those that are kept', async () => {
  const [first, second] = [await background('sleep 301'), await background('while :; do echo tick || exit; sleep 0.05; done')]
  const [stopped, kept] = [first.alive?.[0] ?? 0, second.alive?.[0] ?? 0]
  await session.jobs.leave(['job-2'])
  expect([runs(stopped), runs(kept)]).toEqual([false, true])
  expect(session.ended).toMatchObject([{ id: 'job-1', because: 'Tiller left' }])
  const size = (): number => readFileSync(join(session.outputs, 'c2.txt')).length
  const before = size()
  await until(() => size() > before)
  process.kill(-kept, 'SIGKILL')
  await until(() => session.ended.length === 2)
})

test('an interrupted call does not touch jobs', async () => {
  const pid = (await background('sleep 300')).alive?.[0] ?? 0
  const controller = new AbortController()
  const running = session.run('sleep 300', { signal: controller.signal })
  await until(() => session.spawned.length === 2)
  controller.abort()
  expect((await running).status).toBe('interrupted')
  expect(runs(pid)).toBe(true)
})

test('a job that writes more than is remembered says what is missing and where it is', async () => {
  await background(`seq 1 200000; ${untilTold('go')}`)
  await until(() => (session.jobs.get('job-1') ? readFileSync(join(session.outputs, 'c1.txt')).length > 1_288_000 : false))
  await session.job({ op: 'read', id: 'job-1' })
  tell('go')
  const { text } = await session.job({ op: 'wait', id: 'job-1' })
  expect(text).toMatch(/job-1 has ended/)
  expect(existsSync(join(session.outputs, 'c1.txt'))).toBe(true)
})

test('the list tells state, time and command; a wrong id is refused with those there are', async () => {
  expect((await session.job({ op: 'list' })).text).toContain('There are no jobs')
  await background('sleep 300')
  await background('true')
  expect((await session.job({ op: 'list' })).text).toMatch(/^job-1 {2}running for \d+\.\d s, pid \d+ {2}sleep 300\njob-2 {2}ended: exit 0, after \d+\.\d s {2}true$/)
  expect((await session.job({ op: 'read', id: 'job-9' })).text).toBe('There is no job job-9. There are job-1, job-2.')
  expect((await session.job({ op: 'read' })).text).toBe('read needs the id of a job. There are job-1, job-2.')
})

test('jobs of a resumed session go on counting', async () => {
  const { backgroundJobs } = await import('../../src/tools/jobs.ts')
  const { start } = await import('../../src/os/start.ts')
  const jobs = backgroundJobs({ before: () => 4 })
  expect(jobs.adopt(await start({ command: 'true', cwd: '/' }), { call: 'c', command: 'true', cwd: '/', file: undefined }).id).toBe('job-5')
})
