import { rmSync } from 'node:fs'
import { interleaved, least, median, table, values, type Probe, type Sample } from './figures.ts'
import { cpuOf, memoryOf } from './processes.ts'
import { LAST, writeSession, type Wanted } from './sessions.ts'
import type { Space } from './space.ts'
import { KEY } from './start.ts'
import { openTerminal, type Terminal } from './terminal.ts'

interface Size extends Wanted {
  name: string
  target?: string
  large?: boolean
}

const SIZES: readonly Size[] = [
  { name: '20 MB, compacted', bytes: 20e6, turns: 2_000, compactEvery: 100, target: '1.5' },
  { name: '20 MB, all of it live', bytes: 20e6, turns: 2_000, target: '1.5' },
  { name: '200 MB, compacted', bytes: 200e6, turns: 20_000, compactEvery: 100, large: true },
  { name: '200 MB, all of it live', bytes: 200e6, turns: 20_000, large: true },
  { name: '1 GB, compacted', bytes: 1e9, turns: 100_000, compactEvery: 100, large: true },
]

const EMPTY = 'an empty start'

/**
 * From the start: until the last words of the session are on the screen and a key pressed then is shown; until the request is at the server of a
 * prompt that was typed and sent at that moment. `deaf`: the longest that a key took which was pressed while the rest was being read.
 */
export async function resuming(space: Space, rounds: number, large: boolean): Promise<string> {
  const sizes = SIZES.filter((size) => large || !size.large)
  const files = new Map(sizes.map((size, index) => [size.name, writeSession(space, `resume${index}`, size)]))
  const argsOf = (name: string): string[] => (name === EMPTY ? [] : ['--session', files.get(name) ?? ''])
  const names = [EMPTY, ...files.keys()]
  const shown = await interleaved(names.map((name): Probe => ({ name, sample: () => untilKey(space, argsOf(name)), warm: true })), rounds)
  const sent = await interleaved(names.map((name): Probe => ({ name, sample: () => untilRequest(space, argsOf(name)) })), Math.ceil(rounds / 2))
  for (const file of files.values()) rmSync(file, { force: true })
  return table(['resume', 'shown ms', 'key ms', 'x least', 'x median', 'deaf ms', 'CPU ms', 'MB', 'target', 'request ms', 'x median'], names.map((name) => {
    const of = (key: string): number[] => values(shown.get(name), key)
    const empty = values(shown.get(EMPTY), 'key')
    const request = values(sent.get(name), 'request')
    return [
      name, least(of('shown')), least(of('key')), least(of('key')) / least(empty), median(of('key')) / median(empty), median(of('deaf')), least(of('cpu')), least(of('mb')),
      sizes.find((size) => size.name === name)?.target ?? '', median(request), median(request) / median(values(sent.get(EMPTY), 'request')),
    ]
  }))
}

const begins = (terminal: Terminal, args: string[]): Promise<number> => terminal.until(args.length > 0 ? LAST : '\x1b[?2026h')

async function untilKey(space: Space, args: string[]): Promise<Sample> {
  const terminal = openTerminal(process.execPath, [space.program, ...args], space)
  try {
    const shown = await begins(terminal, args)
    const key = await press(terminal, KEY)
    const [cpu, mb] = [cpuOf(terminal.pid), memoryOf(terminal.pid)]
    let deaf = 0
    for (let time = 0; time < 20; time++) {
      const at = performance.now() - terminal.begun
      deaf = Math.max(deaf, (await press(terminal, 'abcdefghij'[time % 10] ?? '')) - at)
      await new Promise((resolve) => setTimeout(resolve, 15))
    }
    return { shown, key, deaf, cpu, mb }
  } finally {
    await terminal.leave()
  }
}

/** Signs may stand in other places of the screen, too; what is written anew is what counts. */
function press(terminal: Terminal, key: string): Promise<number> {
  const from = terminal.bytes().length
  terminal.write(key)
  return terminal.until(key, from)
}

async function untilRequest(space: Space, args: string[]): Promise<Sample> {
  space.server.reset({ text: 'hello' })
  const terminal = openTerminal(process.execPath, [space.program, ...args], space)
  try {
    await begins(terminal, args)
    terminal.write('say hello\r')
    const { arrived } = await space.server.exchange(0, 'begun')
    return { request: arrived - terminal.begun }
  } finally {
    await terminal.close()
  }
}
