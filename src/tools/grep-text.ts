import { byteLength } from '../core/cap.ts'
import type { Here } from '../core/ports.ts'
import { visible } from '../core/visible.ts'
import type { FileRows, Row } from '../os/match-lines.ts'
import { plural } from './answer.ts'
import { shownPath } from './shown-path.ts'

const MOST_BYTES = 48 * 1024
const MOST_LINES = 1_950

/**
 * A file's path, then `12: a matching line`, `13- a line around it`, `--` between what does not follow: as much as one result holds.
 * `cut` says what was found and is not shown.
 */
export function grepText(files: readonly FileRows[], here: Pick<Here, 'cwd'>): { text: string; matches: number; cut: string | null } {
  const lines: string[] = []
  let [bytes, matches, left, leftIn] = [0, 0, 0, 0]
  for (const { path, rows } of files) {
    const block = [...(lines.length > 0 ? [''] : []), shownPath(path, here)]
    let taken = 0
    for (const [index, row] of rows.entries()) {
      const line = [...(apart(rows[index - 1], row) ? ['--'] : []), `${row.number}${row.match ? ':' : '-'} ${visible(row.text)}`]
      const size = byteLength([...(taken === 0 ? block : []), ...line].join('\n')) + 1
      if (left > 0 || bytes + size > MOST_BYTES || lines.length + block.length + line.length > MOST_LINES) {
        if (row.match) left++
        continue
      }
      lines.push(...(taken === 0 ? block : []), ...line)
      bytes += size
      taken++
      if (row.match) matches++
    }
    if (taken < rows.length) leftIn++
  }
  const cut = left > 0 ? `${plural(left, 'matching line')} in ${plural(leftIn, 'file')} left out, since a result holds no more: narrow pattern, path or glob` : null
  return { text: lines.join('\n'), matches, cut }
}

const apart = (before: Row | undefined, row: Row): boolean => before !== undefined && (!before.match || !row.match) && row.number > before.number + 1
