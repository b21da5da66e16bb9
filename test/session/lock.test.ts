import type { ChildProcess } from 'node:child_process'
import { fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { processStart } from '../../src/os/process-start.ts'
import type { Holder } from '../../src/session/lock.ts'
import { isHeld, readLock, takeLock } from '../../src/session/lock.ts'
import { openLog } from '../../src/session/open-log.ts'
import { begun, inputFact, now, opened, scratch } from './scratch.ts'

const children: ChildProcess[] = []
afterEach(() => { for (const child of children.splice(0)) child.kill('SIGKILL') })

/** What a lock of ours holds, changed. */
function holder(change: Partial<Holder>): Holder {
  const path = join(scratch(), 'model.lock')
  const taken = takeLock(path, 1)
  const mine = readLock(path)
  if (!taken.ok || !mine) throw new Error('no lock')
  taken.lock.release()
  return { ...mine, random: 'abcdef012345678901', ...change }
}

function deadPid(): number {
  const { pid } = spawnSync('true')
  return pid
}

const put = (path: string, held: Holder): void => { writeFileSync(path, JSON.stringify(held)) }

test('a lock is there while it is held, and gone after', () => {
  const path = join(scratch(), 's.lock')
  const taken = takeLock(path, 1234)
  expect(readLock(path)).toMatchObject({ pid: process.pid, host: hostname(), since: 1234 })
  expect(isHeld(path)).toBe(true)
  if (taken.ok) taken.lock.release()
  expect(existsSync(path)).toBe(false)
  expect(isHeld(path)).toBe(false)
})

test.each([
  ['whose process is gone', () => ({ pid: deadPid() })],
  ['of an unrelated process that has its pid now', () => ({ pid: process.ppid, started: '1' })],
  ['of an earlier process with our own pid', () => ({ pid: process.pid, started: '1' })],
  ['from before the machine was started again', () => ({ pid: process.ppid, started: processStart(process.ppid) ?? '', space: 'another-boot x' })],
])('a lock %s is taken over at once', (_, change) => {
  const folder = scratch()
  const path = join(folder, 's.lock')
  put(path, holder(change()))
  expect(isHeld(path)).toBe(false)
  const began = Date.now()
  const taken = takeLock(path, 1)
  expect(taken.ok).toBe(true)
  expect(Date.now() - began).toBeLessThan(500)
  expect(readLock(path)?.pid).toBe(process.pid)
  expect(readdirSync(folder)).toEqual(['s.lock'])
  if (taken.ok) taken.lock.release()
  expect(readdirSync(folder)).toEqual([])
})

test('a zombie holds nothing', async () => {
  const folder = scratch()
  const script = "const { spawn } = require('child_process'); const c = spawn('true'); console.log(c.pid); setTimeout(() => {}, 60000); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60000)"
  const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  children.push(parent)
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  while (processStart(pid) !== null) await new Promise((resolve) => { setImmediate(resolve) })
  put(join(folder, 's.lock'), holder({ pid, started: '5' }))
  expect(takeLock(join(folder, 's.lock'), 1).ok).toBe(true)
})

test('what a power cut left of a lock is taken over', () => {
  const path = join(scratch(), 's.lock')
  writeFileSync(path, '\0\0\0')
  utimesSync(path, 1, 1)
  expect(takeLock(path, 1).ok).toBe(true)
})

test('a crash in the middle of taking over is itself taken over', () => {
  const path = join(scratch(), 's.lock')
  const dead = holder({ pid: deadPid() })
  put(path, dead)
  put(`${path}.${dead.random}`, holder({ pid: deadPid(), random: '0123456789abcdef01' }))
  const taken = takeLock(path, 1)
  expect(taken.ok).toBe(true)
  expect(readLock(path)?.pid).toBe(process.pid)
})

test('a live holder is named, and its session can be watched or forked', async () => {
  const folder = scratch()
  const file = join(folder, '20260101T000000Z_abc.jsonl')
  begun(file, 'abc').close()
  const child = fork(new URL('./lock-rival.ts', import.meta.url).pathname)
  children.push(child)
  await once(child, 'message')
  child.send({ take: join(folder, '20260101T000000Z_abc.lock'), at: 0 })
  await once(child, 'message')
  const result = openLog(file, { now })
  expect(result).toMatchObject({ ok: false, fault: { kind: 'locked', holder: { pid: child.pid } } })
  if (!result.ok) expect(result.fault.message).toMatch(new RegExp(`abc is open in another tiller \\(pid ${child.pid} on ${hostname()}, since .*--fork abc`))
  expect(opened(file, { watch: true }).records.length).toBe(2)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const log = opened(file)
  log.append([inputFact('mine now', 'i2')])
  log.close()
})

test('a second opening in this very program is told so, and closing the first makes way', () => {
  const file = join(scratch(), 's.jsonl')
  const log = begun(file)
  expect(openLog(file, { now })).toMatchObject({ ok: false, fault: { kind: 'locked', message: expect.stringContaining('This program has') as string } })
  log.close()
  opened(file).close()
})

test.each([['another machine', { host: 'elsewhere' }], ['another container', {}]])('a session that %s has open is read only, and says which file to remove', (name, change) => {
  const folder = scratch()
  const file = join(folder, 's.jsonl')
  begun(file).close()
  const mine = holder({ pid: deadPid(), ...change })
  put(join(folder, 's.lock'), name === 'another container' ? { ...mine, space: mine.space.replace(/ .*/, ' pid:[1]') } : mine)
  const log = opened(file)
  expect(log.readOnly).toContain(`remove ${join(folder, 's.lock')}`)
  expect(log.records.length).toBe(2)
  log.close()
  expect(existsSync(join(folder, 's.lock'))).toBe(true)
})

test('two processes fight for one lock, free or left by a dead one: exactly one has it, 200 times', async () => {
  const folder = scratch()
  const rivals = [0, 1].map(() => fork(new URL('./lock-rival.ts', import.meta.url).pathname))
  children.push(...rivals)
  await Promise.all(rivals.map((rival) => once(rival, 'message')))
  const won = [0, 0]
  for (let round = 0; round < 200; round++) {
    const path = join(folder, `${round}.lock`)
    if (round % 2 === 0) put(path, holder({ pid: 2 ** 22 + 7, random: round.toString(16).padStart(18, '0') }))
    const at = Date.now() + 2
    const answers = await Promise.all(rivals.map(async (rival) => {
      const answer = once(rival, 'message')
      rival.send({ take: path, at })
      return ((await answer) as [{ got: boolean; broken?: string; why?: string; pid?: number }])[0]
    }))
    const winner = answers.findIndex((answer) => answer.got)
    expect(answers.filter((answer) => answer.got).length, `round ${round}`).toBe(1)
    expect(answers.some((answer) => answer.broken)).toBe(false)
    expect(answers[1 - winner]).toEqual({ got: false, why: 'live', pid: rivals[winner]?.pid })
    won[winner] = (won[winner] ?? 0) + 1
    const released = once(rivals[winner] as ChildProcess, 'message')
    rivals[winner]?.send({ release: true })
    await released
  }
  expect(won.reduce((sum, count) => sum + count)).toBe(200)
  expect(readdirSync(folder).filter((name) => name.includes('.tmp') || /\.lock\./.test(name))).toEqual([])
}, 120_000)

test('a lock file is whole whenever it can be seen', () => {
  const path = join(scratch(), 's.lock')
  const taken = takeLock(path, 1)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid })
  if (taken.ok) taken.lock.release()
})
