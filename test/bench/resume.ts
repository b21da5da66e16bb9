import { rmSync } from 'node:fs'
import { interleaved, least, median, table, values, type Probe, type Sample } from './figures.ts'
import { cpuOf, memoryOf } from './processes.ts'
import { LAST, writeSession, type Wanted } from './sessions.ts'
import type { Space } from './space.ts'
import { KEY } from './start.ts'
import { openTerminal } from './terminal.ts'

const SIZES: readonly (Wanted & { name: string; large?: boolean })[] = [
  { name: '20 MB, compacted', bytes: 20e6, turns: 2_000, compactEvery: 100 },
  { name: '20 MB, all of it live', bytes: 20e6, turns: 2_000 },
  { name: '200 MB, compacted', bytes: 200e6, turns: 20_000, compactEvery: 100, large: true },
  { name: '1 GB, compacted', bytes: 1e9, turns: 100_000, compactEvery: 100, large: true },
]

/** From the start until the last words of the session are on the screen and a key pressed then is shown. */
export async function resuming(space: Space, rounds: number, large: boolean): Promise<string> {
  const sizes = SIZES.filter((size) => large || !size.large)
  const files = sizes.map((size, index) => writeSession(space, `resume${index}`, size))
  const probes: Probe[] = [
    { name: 'an empty start', sample: () => resume(space, []), warm: true },
    ...sizes.map(({ name }, index): Probe => ({ name, sample: () => resume(space, ['--session', files[index] ?? '']) })),
  ]
  const samples = await interleaved(probes, rounds)
  for (const file of files) rmSync(file, { force: true })
  const base = samples.get('an empty start')
  return table(['resume', 'shown ms', 'key ms', 'x least', 'x median', 'CPU ms', 'MB', 'target'], probes.map(({ name }) => {
    const [own, empty] = [values(samples.get(name), 'key'), values(base, 'key')]
    return [name, least(values(samples.get(name), 'shown')), least(own), least(own) / least(empty), median(own) / median(empty), least(values(samples.get(name), 'cpu')), least(values(samples.get(name), 'mb')), name.startsWith('20 MB') ? '1.5' : '']
  }))
}

async function resume(space: Space, args: string[]): Promise<Sample> {
  const terminal = openTerminal(process.execPath, [space.program, ...args], space)
  try {
    const shown = await terminal.until(args.length > 0 ? LAST : '\x1b[?2026h')
    const from = terminal.bytes().length
    terminal.write(KEY)
    const key = await terminal.until(KEY, from)
    return { shown, key, cpu: cpuOf(terminal.pid), mb: memoryOf(terminal.pid) }
  } finally {
    await terminal.leave()
  }
}
