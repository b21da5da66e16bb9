import { sanitize } from './sanitize.ts'
import type { Excerpt } from './view-row.ts'

const LONGEST_LINE = 500

/** The first or the last lines of a text, sanitized. Looks at no more of the text than it must, apart from counting its lines. */
export function excerpt(text: string, end: 'head' | 'tail', most: number): Excerpt {
  const whole = text.endsWith('\n') ? text.slice(0, -1) : text
  if (whole.trim() === '' || most === 0) return { text: '', more: most === 0 ? countLines(text) : 0, end }
  const all = countLines(whole)
  const part = all <= most ? whole : end === 'head' ? head(whole, most) : tail(whole, most)
  return { text: clean(part), more: Math.max(0, all - most), end }
}

export function countLines(text: string): number {
  if (text === '') return 0
  let lines = text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/** A command's output without the line that says its exit code and time, which its row says already. */
export const outputOf = (text: string): string => text.slice(0, text.length - (/\n*\[exit \d+, [\d.]+ \w+\]\n*$/.exec(text.slice(-60))?.[0].length ?? 0))

/** One line, sanitized and not longer than `most`. */
export function oneLine(text: string, most = 200): string {
  const line = sanitize(text.slice(0, most * 4)).replace(/\s+/g, ' ').trim()
  return line.length > most || text.length > most * 4 ? `${cut(line, most - 1)}…` : line
}

/** The value with every text in it changed: nothing untrusted is passed on because somebody forgot a field. */
export function everyText<T>(value: T, to: (text: string) => string): T {
  if (typeof value === 'string') return to(value) as T
  if (Array.isArray(value)) return value.map((each: unknown) => everyText(each, to)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, everyText<unknown>(each, to)])) as T
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/

/** What a unified diff adds and takes away: inside hunks only, so that a line `-- x` taken away is no file header. */
export function countDiff(diff: string): { added: number; removed: number } {
  const counts = { added: 0, removed: 0 }
  let [oldLeft, newLeft] = [0, 0]
  for (const line of diff.split('\n')) {
    const hunk = oldLeft <= 0 && newLeft <= 0 ? HUNK.exec(line) : null
    if (hunk) [oldLeft, newLeft] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)]
    else if (line.startsWith('+') && newLeft-- > 0) counts.added++
    else if (line.startsWith('-') && oldLeft-- > 0) counts.removed++
    else if (line.startsWith(' ') || line === '') [oldLeft, newLeft] = [oldLeft - 1, newLeft - 1]
  }
  return counts
}

const clean = (text: string): string => text.split('\n').map((line) => sanitize(line.length > LONGEST_LINE ? `${cut(line, LONGEST_LINE)}…` : line)).join('\n')

/** Never in the middle of a surrogate pair. */
function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

function head(text: string, lines: number): string {
  let at = -1
  for (let count = 0; count < lines; count++) at = text.indexOf('\n', at + 1)
  return text.slice(0, at)
}

function tail(text: string, lines: number): string {
  let at = text.length
  for (let count = 0; count < lines; count++) at = text.lastIndexOf('\n', at - 1)
  return text.slice(at + 1)
}
