import { sanitize } from '../core/sanitize.ts'
import { columnsOf, fit, pad } from './graphemes.ts'

/** What is said of one choice. Its texts may come from anywhere: they are made safe here. */
export interface Said {
  label: string
  note: string
  /**
   * In place of the note: what stands in columns behind the labels, the most useful first. Where there is little room the last ones are left
   * out, and a column in which nothing stands takes none.
   */
  details?: (() => readonly string[]) | undefined
}

/** Between two columns. */
const GAP = 2

/** A row for each, none wider than `columns`: the label, and in even columns what there is room for. */
export function choiceRows(choices: readonly Said[], columns: number): string[] {
  const rows = choices.map(({ label, note, details }) => ({ label: oneLine(label), note: oneLine(note), cells: details?.().map(oneLine) ?? null }))
  const longest = Math.max(0, ...rows.map(({ label }) => columnsOf(label)))
  const cells = shownCells(rows.flatMap(({ cells: each }) => (each ? [each] : [])), columns - Math.min(longest, Math.max(20, Math.floor(columns * 0.4))))
  const used = cells.reduce((sum, { width }) => sum + GAP + width, 0)
  const label = Math.min(longest, Math.max(10, used > 0 ? columns - used : Math.floor(columns * 0.6)))
  return rows.map((row) => {
    const own = row.cells
    const rest = own === null ? [row.note] : cells.map(({ index, width }) => pad(fit(own[index] ?? '', width), width))
    const text = rest.every((cell) => cell === '') ? row.label : [pad(fit(row.label, label), label), ...rest].join(' '.repeat(GAP))
    return fit(text.trimEnd(), columns)
  })
}

/** Which columns there is room for, and how wide each is. One is shown in any case. */
function shownCells(rows: readonly (readonly string[])[], room: number): { index: number; width: number }[] {
  const count = Math.max(0, ...rows.map(({ length }) => length))
  const all = Array.from({ length: count }, (_, index) => ({ index, width: Math.max(0, ...rows.map((cells) => columnsOf(cells[index] ?? ''))) })).filter(({ width }) => width > 0)
  while (all.length > 1 && all.reduce((sum, { width }) => sum + GAP + width, 0) > room) all.pop()
  return all
}

/** Of what a choice says, as it may be shown. */
export const oneLine = (text: string): string => sanitize(text.slice(0, 1_000)).replace(/\s+/g, ' ').trim()
