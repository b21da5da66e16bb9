import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { least, median, table } from './figures.ts'
import type { Space } from './space.ts'
import { openTerminal } from './terminal.ts'
import { quiet } from './typing.ts'

/** From Esc to the end of a command and of what it started, and from that end to the prompt. */
export async function stopping(space: Space, rounds: number): Promise<string> {
  const terminal = openTerminal(process.execPath, [space.program], space)
  const toEnd: number[] = []
  const toPrompt: number[] = []
  try {
    await terminal.until('\x1b[?2026h')
    await quiet(terminal)
    for (let round = 0; round < rounds; round++) {
      const pids = join(space.cwd, `pids${round}`)
      space.server.reset({ command: `sleep 300 & echo $! $$ > ${pids}.part; mv ${pids}.part ${pids}; wait` })
      terminal.write('run it\r')
      const running = await waitForPids(pids)
      await quiet(terminal, 300)
      const from = terminal.bytes().length
      const pressed = performance.now() - terminal.begun
      terminal.write('\x1b')
      const prompt = terminal.until('interrupted by the user', from, 10_000)
      const over = await gone(running) - terminal.begun
      toEnd.push(over - pressed)
      toPrompt.push(Math.max(0, (await prompt) - over))
      await quiet(terminal, 300)
    }
    const row = (name: string, all: number[], target: string): (string | number)[] => {
      const sorted = all.toSorted((a, b) => a - b)
      return [name, least(sorted), median(sorted), sorted.at(-1) ?? NaN, target]
    }
    return table(['Esc while a command runs', 'least ms', 'median ms', 'most ms', 'target'], [
      row('to the end of its processes', toEnd, ''), row('from there to the prompt', toPrompt, '50 (Pi 38, Claude Code 174)'),
    ])
  } finally {
    await terminal.close()
  }
}

async function waitForPids(file: string): Promise<number[]> {
  for (;;) {
    try {
      return readFileSync(file, 'utf8').trim().split(/\s+/).map(Number)
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

async function gone(pids: readonly number[]): Promise<number> {
  while (pids.some(lives)) await new Promise((resolve) => setTimeout(resolve, 1))
  return performance.now()
}

function lives(pid: number): boolean {
  try {
    // A zombie has ended.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
