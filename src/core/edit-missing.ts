import type { Edit } from './edit.ts'
import { splitLines } from './lines.ts'
import { isRedacted } from './redact.ts'
import { similarity } from './similarity.ts'
import { hasUnseen, strayed, unwritten, visible } from './visible.ts'

/** Why `old` is not to be found and what the file has instead: the nearest passage with its differences, and what usually goes wrong. */
export function describeMissing(text: string, edits: readonly Edit[], index: number): string {
  const edit = edits[index] ?? { old: '', new: '' }
  const cause = likelyCause(text, edits, index, edit)
  const nearest = nearestPassages(text, edit.old)
  const [best] = nearest
  if (!best) return `\`old\` is not in the file, and nothing in it is like it.${cause ?? ' Read the file again and copy the text to replace.'}`
  const others = nearest.slice(1).map(({ first, last }) => (first === last ? `line ${first}` : `lines ${first}-${last}`))
  if (best.differences.length === 0) return `\`old\` is not in the file.${cause ?? ''} But for that it is at line ${best.first}.`
  return [
    `\`old\` is not in the file.${cause ?? ''} Nearest is ${best.last > best.first ? `lines ${best.first}-${best.last}` : `line ${best.first}`}${others.length > 0 ? ` (then ${others.join(', ')})` : ''}, which differs:`,
    ...best.differences,
    'Send `old` exactly as the file has it.',
  ].join('\n')
}

/** `3, 8, 12 and 4 more` */
export function listLines(lines: readonly number[]): string {
  const shown = lines.slice(0, 10).join(', ')
  return lines.length > 10 ? `${shown} and ${lines.length - 10} more` : shown
}

function likelyCause(text: string, edits: readonly Edit[], index: number, edit: Edit): string | null {
  const { old } = edit
  const known = SPOILT.find(({ clean }) => clean(old) !== old && find(text, clean(old)))
  if (known) return ` ${known.why}`
  if (isRedacted(old)) return ' It holds a placeholder that stands for a secret: edit around that text.'
  if (/\[line \d+ is cut/.test(old)) return ' It holds a remark of `read`, which is not part of the file.'
  if (find(afterOthers(text, edits, index), old)) return ' All edits are matched against the file as it was read, not as another edit leaves it: join the two.'
  if (edit.new.trim() !== '' && find(text, edit.new)) return ' But `new` is: the change may have been made already.'
  if (hasUnseen(old)) return ' It holds control characters.'
  return null
}

/** Mistakes that models make with a text, each with what it was meant to be. */
const SPOILT: readonly { clean: (old: string) => string; why: string }[] = [
  { clean: (old) => old.replace(/^[ \t]*\d+(?:\t|→|[|:] ?)/gm, ''), why: 'It begins with line numbers, which are not part of the file: leave them out.' },
  { clean: strayed, why: 'The file has bytes that are not UTF-8 where you sent \\xNN, which is only how they are shown: edit around them.' },
  { clean: unwritten, why: 'The file has the control characters themselves where you sent them written out: send them as JSON escapes (\\u001b).' },
  { clean: (old) => old.replace(/\\([ntr"'`\\])/g, (_, char: string) => ({ n: '\n', t: '\t', r: '\r' })[char] ?? char), why: 'It has line breaks, tabs or quotes written out (\\n, \\t, \\") where the file has them as such: escape them once, not twice.' },
  { clean: (old) => old.replace(/&(lt|gt|quot|amp|#39|apos);/g, (_, name: string) => ({ lt: '<', gt: '>', quot: '"', amp: '&' })[name] ?? "'"), why: 'It has &lt; and the like where the file has < itself.' },
  { clean: withoutEmptyEnds, why: 'The file has no empty line where it begins or ends with one.' },
  { clean: (old) => old.replace(/^```.*\n|\n?```\s*$/g, ''), why: 'It stands between ``` marks, which are not part of the file.' },
]

function withoutEmptyEnds(text: string): string {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => line.trim() !== '')
  return first === -1 ? '' : lines.slice(first, lines.findLastIndex((line) => line.trim() !== '') + 1).join('\n')
}

/** The text as the other edits would leave it, as far as that is simple. */
const afterOthers = (text: string, edits: readonly Edit[], index: number): string =>
  edits.reduce((before, other, at) => (at === index || other.old === '' ? before : before.split(other.old).join(other.new)), text.replace(/\r\n/g, '\n'))

const find = (text: string, part: string): boolean => part !== '' && text.replace(/\r\n/g, '\n').includes(part.replace(/\r\n/g, '\n'))

export interface Passage {
  first: number
  last: number
  differences: string[]
}

const MOST_LINES = 50_000
const ENOUGH = 0.5

/** At most three, the best first. */
function nearestPassages(text: string, old: string): Passage[] {
  const wanted = splitLines(withoutEmptyEnds(old)).map((line) => line.text)
  const lines = splitLines(text).slice(0, MOST_LINES).map((line) => line.text)
  const starts = startsWorthALook(lines, wanted)
  const scored = starts
    .map((start) => ({ start, score: wanted.reduce((sum, line, at) => sum + similarity(line.trim(), (lines[start + at] ?? '').trim()), 0) / wanted.length }))
    .filter(({ score }) => score >= ENOUGH)
    .sort((a, b) => b.score - a.score || a.start - b.start)
  const apart = scored.filter(({ start }, index) => !scored.slice(0, index).some((better) => Math.abs(better.start - start) < wanted.length))
  return apart.slice(0, 3).map(({ start }) => ({ first: start + 1, last: Math.min(start + wanted.length, lines.length), differences: differences(lines, wanted, start) }))
}

/** Where lines of `old` stand in the file as they are; else where its most telling line has one like it. */
function startsWorthALook(lines: readonly string[], wanted: readonly string[]): number[] {
  const votes = new Map<number, number>()
  const index = new Map<string, number[]>()
  for (const [at, line] of wanted.entries()) if (line.trim() !== '') index.set(line.trim(), [...(index.get(line.trim()) ?? []), at])
  for (const [at, line] of lines.entries()) for (const offset of index.get(line.trim()) ?? []) votes.set(at - offset, (votes.get(at - offset) ?? 0) + 1)
  const voted = [...votes].filter(([start]) => start >= 0).sort((a, b) => b[1] - a[1]).slice(0, 50).map(([start]) => start)
  const telling = wanted.reduce((best, line, at) => (line.trim().length > (wanted[best]?.trim().length ?? 0) ? at : best), 0)
  const sought = (wanted[telling] ?? '').trim()
  const like = lines
    .map((line, at) => ({ start: at - telling, score: similarity(sought, line.trim()) }))
    .filter(({ start, score }) => start >= 0 && score >= ENOUGH)
    .sort((a, b) => b.score - a.score)
    .slice(0, 50)
    .map(({ start }) => start)
  return [...new Set([...voted, ...like])]
}

const MOST_DIFFERENCES = 5

function differences(lines: readonly string[], wanted: readonly string[], start: number): string[] {
  const differ = wanted.flatMap((line, at) => (line === lines[start + at] ? [] : [{ number: start + at + 1, line, there: lines[start + at] }]))
  const shown = differ.slice(0, MOST_DIFFERENCES).flatMap(({ number, line, there }) =>
    there === undefined ? [`  line ${number}: the file ends before it`, `    in old: ${quote(line, line)}`] : [`  line ${number}: ${quote(there, line)}`, `    in old: ${quote(line, there)}${indentation(there, line)}`])
  return differ.length > MOST_DIFFERENCES ? [...shown, `  and ${differ.length - MOST_DIFFERENCES} more lines differ`] : shown
}

/** As JSON writes it, so that tabs and blanks can be told apart; of a long line the part where the other one differs. */
function quote(line: string, other: string): string {
  let same = 0
  while (same < line.length && line[same] === other[same]) same++
  const from = line.length > 200 ? Math.max(0, Math.min(same - 60, line.length - 200)) : 0
  const part = line.slice(from, from + 200)
  return `${from > 0 ? '…' : ''}${visible(JSON.stringify(part))}${from + 200 < line.length ? '…' : ''}`
}

function indentation(there: string, line: string): string {
  const [a, b] = [there, line].map((each) => /^[ \t]*/.exec(each)?.[0] ?? '') as [string, string]
  if (a.includes('\t') && !b.includes('\t') && b !== '') return ' (the file indents with tabs)'
  if (b.includes('\t') && !a.includes('\t') && a !== '') return ' (the file indents with blanks)'
  return ''
}
