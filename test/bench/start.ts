import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { interleaved, least, mean, median, table, values, type Probe, type Sample } from './figures.ts'
import { cpuOf, memoryOf, runNode } from './processes.ts'
import type { Space } from './space.ts'
import { openTerminal } from './terminal.ts'

/** Shown by no screen by itself. */
export const KEY = '%'
/** Ink's first frame is written between these. */
const LIVE = '\x1b[?2026h'
const PAINTED = /> /

/** How long until something is there, beside `node -e 0`. */
export async function startUp(space: Space, rounds: number): Promise<string> {
  const samples = await interleaved(probes(space), rounds)
  const zero = samples.get('node -e 0')
  const row = (name: string, from: string, key: string, cpu: string | null, target: string): (string | number)[] => {
    const [own, base] = [values(samples.get(from), key), values(zero, 'ms')]
    const cpuRatio = cpu === null ? NaN : mean(values(samples.get(from), cpu)) / mean(values(zero, 'cpu'))
    return [name, least(own), median(own), least(own) / least(base), median(own) / median(base), cpuRatio, mean(values(samples.get(from), `mb of ${key}`)), target]
  }
  return table(['start-up', 'least ms', 'median ms', 'x least', 'x median', 'x CPU', 'MB', 'target'], [
    row('node -e 0', 'node -e 0', 'ms', 'cpu', ''),
    row('--version', '--version', 'ms', 'cpu', ''),
    row('--help', '--help', 'ms', 'cpu', ''),
    row('-p: first request', '-p', 'request', null, ''),
    row('-p: whole', '-p', 'ms', 'cpu', ''),
    row('prompt painted', 'screen', 'painted', 'cpu painted', '1.5'),
    row('first key shown', 'screen', 'key', null, '3'),
    row('the same with nothing compiled yet: painted', 'first screen', 'painted', null, ''),
    row('  key shown', 'first screen', 'key', null, ''),
    row('screen live', 'screen', 'live', 'cpu live', ''),
    row('prompt argument: first request', 'screen with a prompt', 'request', null, ''),
    row('Enter at the prompt: first request', 'a first prompt', 'request', null, ''),
    row('its first command: second request', 'a first prompt', 'command', null, ''),
  ])
}

const probes = (space: Space): Probe[] => [
  { name: 'node -e 0', sample: () => node(space, '-e', '0') },
  { name: '--version', sample: () => node(space, space.program, '--version'), warm: true },
  { name: '--help', sample: () => node(space, space.program, '--help'), warm: true },
  { name: '-p', sample: () => headless(space), warm: true },
  { name: 'screen', sample: () => screen(space), warm: true },
  { name: 'first screen', sample: () => firstScreen(space) },
  { name: 'screen with a prompt', sample: () => prompted(space), warm: true },
  { name: 'a first prompt', sample: () => firstPrompt(space), warm: true },
]

async function node(space: Space, ...args: string[]): Promise<Sample> {
  const { ms, cpu, code, out } = await runNode(args, space)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${out}`)
  return { ms, cpu }
}

async function headless(space: Space): Promise<Sample> {
  space.server.reset({ text: 'hello' })
  let memory = NaN
  const { begun, ms, cpu, code, out } = await runNode([space.program, '-p', 'say hello'], space, (pid) => {
    void space.server.exchange(0).then(() => (memory = memoryOf(pid, 'peak')))
  })
  const [exchange] = space.server.exchanges
  if (code !== 0 || !exchange) throw new Error(`-p ended with ${code}: ${out}`)
  return { ms, cpu, request: exchange.arrived - begun, 'mb of request': memory }
}

/** A key is pressed the moment the prompt is there. */
async function screen(space: Space): Promise<Sample> {
  const terminal = openTerminal(process.execPath, [space.program], space)
  try {
    const painted = await terminal.until(PAINTED)
    const cpuPainted = cpuOf(terminal.pid)
    const from = terminal.bytes().length
    terminal.write(KEY)
    const [key, live] = await Promise.all([terminal.until(KEY, from), terminal.until(LIVE).then((ms) => ({ ms, cpu: cpuOf(terminal.pid) }))])
    return { painted, 'cpu painted': cpuPainted, key, live: live.ms, 'cpu live': live.cpu, 'mb of live': memoryOf(terminal.pid, 'peak') }
  } finally {
    await terminal.leave()
  }
}

/** As after an installation. */
async function firstScreen(space: Space): Promise<Sample> {
  const cache = mkdtempSync(join(space.cwd, '..', 'cache-'))
  try {
    return await screen({ ...space, env: { ...space.env, XDG_CACHE_HOME: cache } })
  } finally {
    rmSync(cache, { recursive: true, force: true })
  }
}

async function prompted(space: Space): Promise<Sample> {
  space.server.reset({ text: 'hello' })
  const terminal = openTerminal(process.execPath, [space.program, 'say hello'], space)
  try {
    const { arrived } = await space.server.exchange(0, 'begun')
    return { request: arrived - terminal.begun }
  } finally {
    await terminal.leave()
  }
}

/** Written by a person, so a while after the start; the model takes its time, too. */
async function firstPrompt(space: Space): Promise<Sample> {
  space.server.reset({ command: 'true', afterMs: 1_000 }, { text: 'done' })
  const terminal = openTerminal(process.execPath, [space.program], space)
  try {
    await terminal.until(LIVE)
    terminal.write('say hello')
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    const entered = performance.now()
    terminal.write('\r')
    const first = await space.server.exchange(0)
    const second = await space.server.exchange(1, 'begun')
    return { request: first.arrived - entered, command: second.arrived - first.ended }
  } finally {
    await terminal.leave()
  }
}
