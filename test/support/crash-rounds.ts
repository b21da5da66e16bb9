import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import type { AgentEvent } from '../../src/core/ports.ts'
import type { CallPart, RecordOf, SessionRecord } from '../../src/core/record.ts'
import { faultyDisk, type DiskFault } from './faulty-disk.ts'
import { openTerminal, sendText } from './interactive.ts'
import type { Recorded, Step } from './model-server.ts'
import { faultsOf } from './session-check.ts'
import type { Running } from './tiller.ts'
import { openWorld, say, type World } from './world.ts'

export interface Crash {
  /** `after its event`, or between which system calls. */
  blow: string
  /** The last record that was in the file. */
  last: string
  /** Records that were told, and rows that stood on the screen. */
  acknowledged: number
  kills: number
  compactions: number
}

/**
 * A run of many different calls (reads, writes, edits, commands, commits, background jobs), with steering, compactions and a check, is killed with
 * `kill -9` at a random point, headless or in a terminal, and the session goes on. What was shown must be in the file, each call must have one
 * result that says no more than is true of the disk, each text is delivered once, the next request is valid, and nothing lives on.
 * `longest`: milliseconds after which it is killed wherever it is.
 */
export async function crashRound(random: () => number, longest = 8_000): Promise<Crash> {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const model = { number: 0, over: false }
  const world = await openWorld((request) => nextStep(request, model), { files: { 'notes.txt': 'begin\n' }, unchecked: true })
  // A window so small that it is compacted every few steps.
  world.configure({ providers: { chat: { ...world.server.providers.chat, models: { 'test-model': { contextWindow: 20_000, maxOutput: 500, images: false } } } } })
  const disk = random() < 0.5 ? blowOf(random, pick) : null
  const { shown, killed } = await (random() < 0.25 ? inTerminal : headless)({ world, random, pick, disk, late: Date.now() + (0.2 + random()) * longest })
  const crash = { blow: disk ? `${disk.kill} ${disk.call}` : 'after an event', last: 'nothing', acknowledged: shown.length, kills: Number(killed), compactions: 0 }
  const [file] = world.sessions()
  if (file) {
    const onDisk = world.records(file)
    crash.last = onDisk.at(-1)?.type ?? 'nothing'
    expect(faultsOf(file, { open: true })).toEqual([])
    for (const each of shown) expect(each(onDisk), `what was shown is on the disk: ${String(each)}`).toBe(true)
  } else expect(shown).toEqual([])

  model.over = true
  // The one that goes on may be killed as well.
  if (random() < 0.3) {
    const { signal } = await world.run(['-c', '-p', 'What is left?'], { env: faultyDisk({ call: 'writeSync fdatasyncSync', path: LOG, nth: 1 + Math.floor(random() * 8), kill: pick(['before', 'half', 'after']) }) })
    crash.kills += Number(signal === 'SIGKILL')
  }
  const again = await world.run(['-c', '-p', 'What is left?'])
  const begun = file && world.records(file).some(({ type }) => type === 'input')
  expect([again.code, again.stdout], again.stderr).toEqual(begun ? [0, 'All of it.\n'] : [2, ''])
  if (file && begun) {
    expect(faultsOf(file, { torn: crash.kills })).toEqual([])
    checkEffects(world, world.records(file))
    checkTexts(world.records(file))
    expect(readdirSync(world.repo).filter((name) => name.endsWith('.tmp')), 'what a write left that was cut off').toEqual([])
    crash.compactions = world.of('compact', file).length
  }
  await world.close()
  return crash
}

const LOG = '\\.jsonl$'

/** Between which system calls it is killed: in the log most of all, and where files are changed. */
function blowOf(random: () => number, pick: <T>(from: readonly T[]) => T): DiskFault {
  const kill = pick(['before', 'half', 'after'] as const)
  const nth = (most: number): number => 1 + Math.floor(random() * most)
  return pick<() => DiskFault>([
    () => ({ call: 'writeSync', path: LOG, nth: nth(50), kill }),
    () => ({ call: 'fdatasyncSync', path: LOG, nth: nth(50), kill }),
    () => ({ call: 'writeSync', path: LOG, nth: nth(50), kill }),
    () => ({ call: 'fdatasyncSync', path: LOG, nth: nth(50), kill }),
    () => ({ call: 'write sync rename link', path: 'repo/(notes|file-|\\.tiller-)', nth: nth(20), kill }),
    () => ({ call: 'openSync writeSync renameSync', path: '\\.(blobs|out)/', nth: nth(6), kill }),
    () => ({ call: 'openSync copyFileSync renameSync', path: '/checkpoints/', nth: nth(30), kill }),
    () => ({ call: 'linkSync writeFileSync renameSync', path: '\\.lock', nth: nth(2), kill }),
  ])()
}

/** Whether something that was shown is among the records. */
type Shown = (records: readonly SessionRecord[]) => boolean

const ARGUMENTS = ['--mode', 'full', '--check', 'echo check >> check.log; test -e never']

interface Round {
  world: World
  random(): number
  pick<T>(from: readonly T[]): T
  /** Where it is killed, if not after an event. */
  disk: DiskFault | null
  late: number
}

interface Blow { shown: Shown[]; killed: boolean }

async function headless({ world, random, pick, disk, late }: Round): Promise<Blow> {
  const tiller = world.start(['--json', '--json-in', ...ARGUMENTS, 'Work'], { input: null, ...(disk ? { env: faultyDisk(disk) } : {}) })
  const steered = new Set(Array.from({ length: 4 }, () => Math.floor(random() * 120)))
  let told = 0
  tiller.child.stdout?.on('data', () => {
    for (; told < tiller.events.length; told++) if (steered.has(told)) tiller.send({ type: 'input', text: `steer-${told}`, when: pick(['next', 'next', 'after', 'now']) })
  })
  // Every event is a point; a little later than it is another. Where effects happen is looked at more often.
  const [type, most] = pick(POINTS)
  const later = random() < 0.4 ? 0 : random() * 12
  const tooLate = new Promise((resolve) => setTimeout(resolve, late - Date.now()))
  await Promise.race([tooLate, disk ? tiller.ended : seen(tiller, type, 1 + Math.floor(random() * most))])
  if (later > 0) await new Promise((resolve) => setTimeout(resolve, later))
  tiller.kill('SIGKILL')
  const { events, signal } = await tiller.ended
  return { shown: events.flatMap((event): Shown[] => ('seq' in event ? [(records) => JSON.stringify(records[event.seq]) === JSON.stringify(event)] : [])), killed: signal === 'SIGKILL' }
}

const POINTS: readonly (readonly [type: AgentEvent['type'] | undefined, most: number])[] = [
  [undefined, 120], ['start', 12], ['start', 12], ['spawn', 6], ['result', 12], ['reply', 6], ['checkpoint', 6], ['check', 2], ['compact', 2], ['input', 4],
]

function seen({ events, child, ended }: Running, type: AgentEvent['type'] | undefined, count: number): Promise<unknown> {
  const counted = new Promise<void>((resolve) => {
    child.stdout?.on('data', () => events.filter((event) => type === undefined || event.type === type).length >= count && resolve())
  })
  return Promise.race([counted, ended])
}

async function inTerminal({ world, random, disk, late }: Round): Promise<Blow> {
  const terminal = openTerminal(world, [...ARGUMENTS, 'Work'], { rows: 50, columns: 120, ...(disk ? { env: faultyDisk(disk) } : {}) })
  const ended = terminal.exit(120_000).then(() => true)
  const until = Math.floor(random() * 12)
  const bytes = Math.floor(random() * 4_000)
  for (let typed = 0, from = -1; !(await Promise.race([ended, new Promise<false>((resolve) => setTimeout(resolve, 5, false))]));) {
    if (world.server.requests.length > typed * 3 + 1 && typed < 3) await sendText(terminal, `steer-t${typed++}`).catch(() => undefined)
    if (from < 0 && world.server.requests.length > until) from = terminal.bytes().length
    if ((from >= 0 && terminal.bytes().length > from + bytes) || /^■ /m.test(terminal.screen()) || Date.now() > late) terminal.kill('SIGKILL')
  }
  const screen = terminal.all()
  const { signal } = await terminal.exit()
  terminal.close()
  const shown: Shown[] = [
    ...[...screen.matchAll(/^● (?:write|shell|git commit) .*?((?:file|shell|commit|job)-\d+).*? (ok|failed|skipped|interrupted)\b/gm)].map(([, trace = '', status]): Shown => (records) => statusOf(records, trace) === status),
    ...[...screen.matchAll(/^ {2}(steer-t\d+) \(|^> (steer-t\d+)$(?=[^]*^\s+steering)/gm)].map(([, queued, delivered]): Shown => (records) => records.some((record) => record.type === 'input' && record.text === (queued ?? delivered))),
  ]
  return { shown, killed: signal === 9 }
}

const statusOf = (records: readonly SessionRecord[], trace: string): string | undefined => resultOf(records, callsIn(records).find(({ input }) => traceOf(input) === trace)?.id)?.status
const callsIn = (records: readonly SessionRecord[]): CallPart[] => records.flatMap((record) => (record.type === 'reply' ? record.parts.filter((part) => part.type === 'call') : []))
const resultOf = (records: readonly SessionRecord[], call: string | undefined): RecordOf<'result'> | undefined => records.find((record): record is RecordOf<'result'> => record.type === 'result' && record.call === call)
const traceOf = (input: unknown): string => /(?:shell|edit|file|commit|job)-\d+/.exec(JSON.stringify(input))?.[0] ?? ''

/** Reads, writes, edits, commands, commits and jobs in turn; each leaves a trace of its own, so that what really happened can be seen. */
function nextStep({ body, raw }: Recorded, model: { number: number; over: boolean }): Step {
  if (!Array.isArray(body['tools']) || body['tools'].length === 0) return say('What was done: this and that.')
  if (model.over) return say('All of it.')
  const number = ++model.number
  const call = (name: string, input: unknown) => ({ name, input })
  const read = call('read', { path: 'notes.txt' })
  const edit = call('edit', { path: 'notes.txt', edits: [{ old: 'begin\n', new: `begin\nedit-${number}\n` }] })
  const shell = call('shell', { command: `echo shell-${number} >> shell.log${number % 3 === 1 ? '; seq 20000' : ''}` })
  const write = call('write', { path: `file-${number}.txt`, content: `file-${number}\n` })
  const commit = call('git', { op: 'commit', message: `commit-${number}`, paths: ['notes.txt'] })
  const job = call('shell', { command: `echo job-${number} >> job.log; sleep 300`, background: true })
  if (number % 9 === 0) return say('Enough.')
  const steps = [[read, edit, shell, write], [write, read, edit, commit], [shell, read, job], [read, edit, commit, shell]]
  return { text: `Step ${number}.`, calls: steps[(number - 1) % steps.length] ?? [], usage: { input: Math.round(raw.length * 0.28), output: 20 } }
}

/** No result says more, or less, than what the disk shows. */
function checkEffects(world: World, records: readonly SessionRecord[]): void {
  const lines = (name: string): string[] => (world.exists(name) ? world.read(name).split('\n') : [])
  const traces = [...lines('shell.log'), ...lines('job.log'), ...lines('notes.txt'), ...world.git('log', '--format=%s').split('\n')]
  for (const { id, name, input } of callsIn(records)) {
    const trace = traceOf(input)
    const result = resultOf(records, id)
    if (trace === '' || !result) continue
    const times = name === 'write' ? Number(world.exists(`${trace}.txt`) && world.read(`${trace}.txt`) === `${trace}\n`) : traces.filter((line) => line === trace).length
    const said = `${name} ${trace}: ${result.status} ${result.text}`
    // A job that has begun has not always written yet.
    if (result.status === 'ok' && !trace.startsWith('job')) expect(times, said).toBe(1)
    if (result.status === 'skipped' || result.status === 'failed') expect(times, said).toBe(0)
    // An interrupted command may have done its work before it was stopped; a commit says so.
    if (result.status === 'interrupted' && name !== 'shell') expect(times, said).toBe(Number(result.text.startsWith('Committed')))
    if (name === 'write' || name === 'edit') expect(result.status, said).not.toBe('unknown')
  }
}

/** Each text is delivered once, or taken back; none is left behind once the session has gone on. */
function checkTexts(records: readonly SessionRecord[]): void {
  const delivered = records.flatMap((record) => (record.type === 'step' ? record.inputs : []))
  const taken = records.flatMap((record) => (record.type === 'withdraw' ? [record.input] : []))
  for (const record of records) if (record.type === 'input') expect([...delivered, ...taken].filter((id) => id === record.id), `the input "${record.text}"`).toHaveLength(1)
}
