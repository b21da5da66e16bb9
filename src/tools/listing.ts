import { lstat, readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { cap } from '../core/cap.ts'
import { visibleName } from '../core/visible.ts'
import { because } from '../os/open-file.ts'
import { leadsElsewhere } from '../os/real-path.ts'
import { plural, withNotes } from './answer.ts'

const USUAL = 500
const MOST = 1_900

/** A folder's entries for the model: folders first, one a line; opens none of them. */
export async function listing(folder: string, limit = USUAL): Promise<{ ok: true; text: string } | { ok: false; why: string }> {
  let entries
  if (leadsElsewhere(folder)) return { ok: false, why: 'a link was put in its path a moment ago, so that it leads elsewhere' }
  try {
    entries = await readdir(folder, { withFileTypes: true })
  } catch (error) {
    return { ok: false, why: because(error) }
  }
  if (entries.length === 0) return { ok: true, text: '[The folder is empty.]' }
  entries.sort((a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1))
  const most = Math.max(1, Math.min(limit, MOST))
  const lines = await Promise.all(entries.slice(0, most).map((entry) => line(join(folder, entry.name), entry.name, entry.isDirectory())))
  const { text, cut } = cap(lines.join('\n'), 'head', { bytes: 48 * 1024 })
  const left = entries.length - lines.length + (cut?.lines ?? 0)
  const { length } = entries
  return { ok: true, text: withNotes(text, [left > 0 && `${plural(left, 'entry', 'entries')} of ${length} left out: raise limit (at most ${MOST}), or look for names with \`find\``]) }
}

/** `src/`, `notes.md  1.2 KB`, `link -> target (missing)`, `queue  (named pipe)` */
async function line(path: string, name: string, folder: boolean): Promise<string> {
  const shown = visibleName(name)
  if (folder) return `${shown}/`
  try {
    const seen = await lstat(path)
    if (seen.isSymbolicLink()) return `${shown} -> ${visibleName(await readlink(path))}${await leadsTo(path)}`
    if (seen.isFIFO()) return `${shown}  (named pipe)`
    if (seen.isSocket()) return `${shown}  (socket)`
    if (!seen.isFile()) return `${shown}  (device)`
    return `${shown}  ${size(seen.size)}`
  } catch {
    return shown
  }
}

const leadsTo = async (path: string): Promise<string> => stat(path).then((target) => (target.isDirectory() ? '/' : ''), () => ' (missing)')

export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  const kilobytes = bytes / 1_024
  return kilobytes < 1_024 ? `${kilobytes.toFixed(1)} KB` : `${(kilobytes / 1_024).toFixed(1)} MB`
}
