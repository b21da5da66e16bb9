/** What one run of a probe gave, by name: `ms`, `cpu`, `mb` or what the probe calls it. */
export type Sample = Record<string, number>

export interface Probe {
  name: string
  sample(): Promise<Sample>
  /** The first sample is thrown away: it fills the caches. */
  warm?: boolean
}

/** Round after round, every probe once a round: the machine's moods fall on all alike. */
export async function interleaved(probes: readonly Probe[], rounds: number): Promise<Map<string, Sample[]>> {
  const all = new Map<string, Sample[]>(probes.map(({ name }) => [name, []]))
  for (const { sample } of probes.filter(({ warm }) => warm)) await sample()
  for (let round = 0; round < rounds; round++) for (const { name, sample } of probes) all.get(name)?.push(await sample())
  return all
}

export const values = (samples: readonly Sample[] | undefined, key: string): number[] => (samples ?? []).map((sample) => sample[key] ?? NaN).filter(Number.isFinite).toSorted((a, b) => a - b)

export const least = (numbers: readonly number[]): number => numbers[0] ?? NaN
export const median = (numbers: readonly number[]): number => numbers[Math.floor(numbers.length / 2)] ?? NaN
export const mean = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / numbers.length

/** As wide as the widest of its column; numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => (typeof cell === 'string' ? cell : shown(cell))))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  return cells.map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ').trimEnd()).join('\n')
}

const shown = (number: number): string => (Number.isFinite(number) ? (Math.abs(number) >= 100 ? number.toFixed(0) : number.toFixed(number < 10 ? 2 : 1)) : '-')
