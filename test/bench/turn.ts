import { spawnSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { least, median, table } from './figures.ts'
import { runNode } from './processes.ts'
import { writeSession } from './sessions.ts'
import type { Space } from './space.ts'

/** From the end of a reply that calls the shell with `true` to the next request, early and late in long sessions. */
export async function turns(space: Space, count: number): Promise<string> {
  const plain = (await runNode(['-e', '0'], space)).ms
  const cases: [string, string[]][] = [['a new session', []]]
  const rows: (string | number)[][] = []
  cases.push(['100,000 records, compacted', ['--session', writeSession(space, 'compacted', { bytes: 40e6, turns: 12_500, compactEvery: 100 })]])
  cases.push(['20 MB of live context', ['--session', writeSession(space, 'large', { bytes: 20e6, turns: 2_000 })]])
  for (const [name, args] of cases) {
    const { gaps, cpu } = await gapsOf(space, args, count)
    const sorted = gaps.toSorted((a, b) => a - b)
    rows.push([name, least(sorted), median(sorted), sorted[Math.floor(sorted.length * 0.9)] ?? NaN, median(gaps.slice(0, 5).toSorted((a, b) => a - b)), median(gaps.slice(-5).toSorted((a, b) => a - b)), cpu / count, rows.length === 0 ? '15' : ''])
  }
  rows.push(['floor: two syncs', ...floor(() => syncs(space))], ['floor: bash -c true', ...floor(() => void spawnSync('bash', ['-c', 'true']))], ['node -e 0', plain])
  return table(['reply to next request (shell: true)', 'least ms', 'median ms', '90% ms', 'first 5', 'last 5', 'CPU ms a turn', 'target'], rows)
}

async function gapsOf(space: Space, args: string[], count: number): Promise<{ gaps: number[]; cpu: number }> {
  space.server.reset(...Array.from({ length: count }, () => ({ command: 'true' })), { text: 'done' })
  const { code, out, cpu } = await runNode([space.program, ...args, '-p', 'run it'], space)
  const { exchanges } = space.server
  if (code !== 0 || exchanges.length !== count + 1) throw new Error(`expected ${count + 1} requests, saw ${exchanges.length}; exit ${code}: ${out.slice(-2_000)}`)
  return { gaps: exchanges.slice(1).map(({ arrived }, index) => arrived - (exchanges[index]?.ended ?? NaN)), cpu }
}

function syncs({ cwd }: Space): void {
  const fd = openSync(join(cwd, 'sync.tmp'), 'a')
  for (let time = 0; time < 2; time++) {
    writeSync(fd, 'x'.repeat(400))
    fdatasyncSync(fd)
  }
  closeSync(fd)
}

function floor(act: () => void): number[] {
  const times = Array.from({ length: 15 }, () => {
    const begun = performance.now()
    act()
    return performance.now() - begun
  }).toSorted((a, b) => a - b)
  return [least(times), median(times), times[13] ?? NaN]
}
