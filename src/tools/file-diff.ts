import { cap } from '../core/cap.ts'
import { visible, visibleName } from '../core/visible.ts'
import { plural } from './answer.ts'

const CONTEXT = 3
const LONGEST_MS = 500

/** A unified diff that is safe to show; where it would take too long, that the file is another one. null: there was no file. */
export async function fileDiff(path: string, before: string | null, after: string): Promise<string> {
  const { formatPatch, structuredPatch, FILE_HEADERS_ONLY } = await import('diff')
  const [a, b] = [before ?? '', after].map((text) => text.replace(/\r\n?/g, '\n')) as [string, string]
  const same = sameStart(a, b)
  const name = visibleName(path)
  const [from, to] = [before === null ? '/dev/null' : `a/${name}`, `b/${name}`]
  const patch = structuredPatch(from, to, a.slice(same.length), b.slice(same.length), undefined, undefined, { context: CONTEXT, timeout: LONGEST_MS })
  if (!patch) return `--- ${from}\n+++ ${to}\n[The file is rewritten: ${plural(countLines(a), 'line')} before, ${countLines(b)} after; too much for a diff.]`
  if (patch.hunks.length === 0 && before !== null && before !== after) return `--- ${from}\n+++ ${to}\n[Only line endings differ.]`
  for (const hunk of patch.hunks) {
    hunk.oldStart += same.lines
    hunk.newStart += same.lines
  }
  return visible(formatPatch(patch, FILE_HEADERS_ONLY)).replace(/\n$/, '')
}

/** What goes into the log of a diff of any length. */
export function shortDiff(diff: string): string {
  const { text, cut } = cap(diff, 'head', { lines: 2_000, bytes: 100 * 1024 })
  return cut ? `${text}\n[… ${plural(cut.lines, 'more line')} of this diff …]` : text
}

/** Lines that both begin with, less those that are shown around a change: a large file is then as quick as its change is small. */
function sameStart(a: string, b: string): { length: number; lines: number } {
  let at = 0
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  for (let back = 0; back <= CONTEXT + 1 && at >= 0; back++) at = at === 0 ? -1 : a.lastIndexOf('\n', at - 1)
  const length = at + 1
  return { length, lines: countLines(a.slice(0, length)) }
}

function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
