import { columnsOf, fit, pad } from '../../ui/graphemes.ts'
import { configure, type Settings } from '../configure.ts'
import { folderOf } from '../open-session.ts'
import type { Options } from '../options.ts'
import { placeOf, type Place } from '../place.ts'

/** What most subcommands begin with. Warnings go to stderr. */
export async function surroundings(options: Options): Promise<{ place: Place; settings: Settings; folder: string }> {
  const place = placeOf(process.cwd())
  const settings = await configure(options, place)
  for (const warning of settings.warnings) process.stderr.write(`tiller: ${warning}\n`)
  return { place, settings, folder: folderOf(place, settings) }
}

/** Columns of text, each as wide as its widest cell but the last. `most`: a terminal is so wide, and the rows are cut to it. */
export function columns(rows: readonly (readonly string[])[], most = Infinity): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => columnsOf(row[column] ?? '')))) ?? []
  return rows.map((row) => fit(row.map((cell, column) => (column === row.length - 1 ? cell : pad(cell, widths[column] ?? 0))).join('  ').trimEnd(), most)).join('\n')
}
