import { expect } from 'vitest'
import type { AgentEvent } from '../../src/core/ports.ts'
import type { SessionRecord } from '../../src/core/record.ts'
import type { Recorded, Step } from './model-server.ts'
import { faultsOf } from './session-check.ts'
import type { Running } from './tiller.ts'
import { openWorld, say, type World } from './world.ts'

/** The same numbers each time for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * A run of many different calls is killed with `kill -9` at a random point and the session goes on. What was shown as recorded must be in
 * the file, each call must have one result that says no more than is true of the disk, and the next request must be valid.
 * Returns where the blow fell.
 */
export async function crashRound(random: () => number): Promise<string> {
  const counter = { number: 0 }
  const world = await openWorld((request) => nextStep(request, counter), { files: { 'notes.txt': 'begin\n' } })
  const tiller = world.start(['--json', '--mode', 'full', 'Work'])
  // Every event is a point; a little later than it is another. Where effects happen is looked at more often.
  const type = POINTS[Math.floor(random() * POINTS.length)]
  const [count, later] = [1 + Math.floor(random() * (type === undefined ? 60 : 8)), random() < 0.4 ? 0 : random() * 12]
  await seen(tiller, type, count)
  if (later > 0) await new Promise((resolve) => setTimeout(resolve, later))
  tiller.kill('SIGKILL')
  const { events: shown } = await tiller.ended
  const [file] = world.sessions()
  if (!file) {
    expect(shown.filter((event) => 'seq' in event)).toEqual([])
    await world.close()
    return 'before the first input'
  }
  expect(faultsOf(file, { open: true })).toEqual([])
  const onDisk = world.records(file)
  for (const event of shown) if ('seq' in event) expect(onDisk[event.seq], 'what was shown is on the disk').toEqual(event)
  const where = onDisk.at(-1)?.type ?? ''

  counter.number = Number.POSITIVE_INFINITY
  const again = await world.run(['-c', '-p', 'What is left?'])
  expect([again.code, again.stdout]).toEqual([0, 'All of it.\n'])
  checkEffects(world, world.records(file))
  await world.close()
  return where
}

/** Reads, writes, edits and commands in turn; each leaves a trace of its own, so that what really happened can be seen. */
function nextStep({ body }: Recorded, counter: { number: number }): Step {
  if (counter.number === Number.POSITIVE_INFINITY) return say('All of it.')
  const number = ++counter.number
  const all: NonNullable<Step['calls']> = [
    { name: 'read', input: { path: 'notes.txt' } },
    { name: 'edit', input: { path: 'notes.txt', edits: [{ old: 'begin\n', new: `begin\nedit-${number}\n` }] } },
    { name: 'shell', input: { command: `echo shell-${number} >> shell.log` } },
    { name: 'write', input: { path: `file-${number}.txt`, content: `file-${number}\n` } },
  ]
  if ((body['messages'] as unknown[]).length > 60) return say('Enough.')
  return { text: `Step ${number}.`, calls: number % 2 === 1 ? all : all.toReversed() }
}

const POINTS = [undefined, 'start', 'start', 'spawn', 'result', 'reply'] as const

function seen({ events, child, ended }: Running, type: AgentEvent['type'] | undefined, count: number): Promise<unknown> {
  const counted = new Promise<void>((resolve) => {
    child.stdout?.on('data', () => events.filter((event) => type === undefined || event.type === type).length >= count && resolve())
  })
  return Promise.race([counted, ended])
}

/** No result says more, or less, than what the disk shows. */
function checkEffects(world: World, records: readonly SessionRecord[]): void {
  const results = new Map(records.flatMap((record) => (record.type === 'result' ? [[record.call, record]] : [])))
  const shell = world.exists('shell.log') ? world.read('shell.log').split('\n') : []
  for (const record of records) {
    if (record.type !== 'reply') continue
    for (const part of record.parts) {
      if (part.type !== 'call' || part.name === 'read') continue
      const result = results.get(part.id)
      const trace = JSON.stringify(part.input).match(/(?:shell|edit|file)-\d+/)?.[0] ?? ''
      const times = part.name === 'shell' ? shell.filter((line) => line === trace).length
        : part.name === 'edit' ? world.read('notes.txt').split(trace + '\n').length - 1
        : Number(world.exists(`${trace}.txt`) && world.read(`${trace}.txt`) === `${trace}\n`)
      const said = `${part.name} ${trace}: ${result?.status} ${result?.text}`
      if (result?.status === 'ok') expect(times, said).toBe(1)
      if (result?.status === 'skipped' || result?.status === 'failed' || result?.status === 'interrupted') expect(times, said).toBe(0)
      if (part.name !== 'shell') expect(result?.status, said).not.toBe('unknown')
    }
  }
}
