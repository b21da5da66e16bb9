import type { Totals } from '../core/record.ts'

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export const number = (count: number): string => count.toLocaleString('en-US')

/** A cost of which a part has no known price is a lower bound, and says so. */
export function dollars({ cost, costUnknown }: Pick<Totals, 'cost' | 'costUnknown'>): string {
  if (cost === 0 && costUnknown) return 'unknown'
  return `${costUnknown ? 'over ' : ''}$${cost < 1 ? cost.toFixed(4) : cost.toFixed(2)}`
}

export const time = (at: number): string => (Number.isFinite(at) && Math.abs(at) < 8.64e15 ? `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC` : 'at an unknown time')

export const plural = (count: number, one: string): string => `${number(count)} ${one}${count === 1 ? '' : 's'}`

/** Columns that line up; the first one to the left, numbers to the right. */
export function columns(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths = rows.reduce<number[]>((most, row) => row.map((cell, index) => Math.max(most[index] ?? 0, cell.length)), [])
  return rows.map((row) => row.map((cell, index) => (right.includes(index) ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0))).join('  ').trimEnd())
}
