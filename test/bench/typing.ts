import { least, median, table } from './figures.ts'
import { cpuOf, memoryOf } from './processes.ts'
import type { Space } from './space.ts'
import { KEY } from './start.ts'
import { openTerminal, type Terminal } from './terminal.ts'

const IDLE_MS = 10_000

/** From a key to the screen, beside `cat` in the same terminal; and what an idle prompt costs. */
export async function typing(space: Space, keys: number): Promise<string> {
  const floor = openTerminal('cat', [], space)
  // V8's own look for memory that it could give back, some milliseconds every eight seconds until it has found some, is not ours.
  const tiller = openTerminal(process.execPath, ['--no-memory-reducer', space.program], space)
  try {
    await tiller.until('\x1b[?2026h')
    await quiet(tiller)
    const times: Record<'floor' | 'tiller', number[]> = { floor: [], tiller: [] }
    for (let key = 0; key < keys; key++) {
      times.floor.push(await press(floor))
      times.tiller.push(await press(tiller))
      await pause(60 + Math.random() * 60)
      if (key % 20 !== 19) continue
      // What stands there already is not written again, so the line is seen empty before the next key.
      tiller.write('\x15')
      await quiet(tiller, 200)
    }
    await quiet(tiller)
    const before = cpuOf(tiller.pid)
    await pause(IDLE_MS)
    const idle = cpuOf(tiller.pid) - before
    const row = (name: string, all: number[], target: string): (string | number)[] => {
      const sorted = all.toSorted((a, b) => a - b)
      return [name, least(sorted), median(sorted), sorted[Math.floor(sorted.length * 0.9)] ?? NaN, target]
    }
    return `${table(['key to screen', 'least ms', 'median ms', '90% ms', 'target'], [row('cat', times.floor, ''), row('tiller', times.tiller, 'Pi 3.8')])}\n\n${table(['idle prompt', '', 'target'], [
      ['CPU ms in 10 s', idle, '0'], ['resident MB', memoryOf(tiller.pid), ''],
    ])}`
  } finally {
    await Promise.all([floor.close(), tiller.close()])
  }
}

async function press(terminal: Terminal): Promise<number> {
  const from = terminal.bytes().length
  const at = performance.now() - terminal.begun
  terminal.write(KEY)
  return (await terminal.until(KEY, from, 10_000)) - at
}

/** Nothing was written for a while. */
export async function quiet(terminal: Terminal, ms = 700): Promise<void> {
  for (let length = -1; length !== terminal.bytes().length; ) {
    length = terminal.bytes().length
    await pause(ms)
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
