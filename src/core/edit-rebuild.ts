import type { Reindent } from './edit-indent.ts'
import { endsInCr, majorityEnding, splitLines, type Ending, type Line } from './lines.ts'
import { alignLines, type Pair } from './edit-align.ts'
import { retain } from './edit-retain.ts'

export interface Place {
  text: string
  start: number
  end: number
  old: string
  new: string
  /** `old` is in the text as it stands, so that a CR in it was meant. */
  exact: boolean
  reindent?: Reindent | undefined
}

/**
 * What stands there afterwards. A line of `new` that is also in `old` keeps the file's own bytes; each other line gets the ending of the
 * line it replaces. CR is literal only where `old` matched one exactly. null: a new line's indentation cannot be known.
 */
export function rebuild({ text, start, end, old, new: replacement, exact, reindent }: Place): string | null {
  const cr = endsInCr(text)
  const literal = exact && old.includes('\r')
  const before = splitLines(text.slice(start, end), cr)
  const oldLines = splitLines(old, literal && cr)
  const newLines = splitLines(literal ? replacement : replacement.replace(/\r\n?/g, '\n'), literal && cr && !replacement.includes('\n'))
  const pairs = alignLines(oldLines, newLines)
  const fallback = endingAfter(text, end, cr) ?? majorityEnding(before.some(({ ending }) => ending !== '') ? before : splitLines(text, cr))
  let rebuilt = ''
  for (const [index, line] of newLines.entries()) {
    const pair = pairs[index]
    const kept = pair?.same === undefined ? undefined : before[pair.same]
    const changed = kept || exact || !pair ? line.text : changedLine(before[pair.at]?.text ?? '', oldLines[pair.at]?.text ?? '', line.text)
    const indented = kept ? kept.text : indent(changed, index === 0 && oldLines[0]?.text === oldLines[0]?.text.trimStart(), reindent)
    if (indented === null) return null
    rebuilt += indented + endingOf(line, index === newLines.length - 1, pair, before, oldLines, fallback, literal)
  }
  return rebuilt
}

/** With its own indentation, which is not for here to decide. */
function changedLine(there: string, old: string, wanted: string): string {
  const blanks = /^[ \t]*/.exec(wanted)?.[0] ?? ''
  const [file, from, to] = [there, old, wanted].map((text) => text.replace(/^[ \t]+/, '')) as [string, string, string]
  return to === '' ? wanted : blanks + retain(file, from, to)
}

function indent(text: string, afterIndentation: boolean, reindent: Reindent | undefined): string | null {
  const blanks = /^[ \t]*/.exec(text)?.[0] ?? ''
  if (!reindent || blanks === text) return text
  // The match begins after the file's indentation, so a first line that brings its own has no place to put it.
  if (afterIndentation) return blanks === '' ? text : null
  const to = reindent(blanks)
  return to === null ? null : to + text.slice(blanks.length)
}

function endingOf(line: Line, last: boolean, pair: Pair | undefined, before: readonly Line[], oldLines: readonly Line[], fallback: Ending, literal: boolean): Ending {
  if (line.ending === '') return ''
  if (literal && line.ending !== '\n') return line.ending
  const replaced = pair ? before[pair.at] : undefined
  if (replaced && replaced.ending !== '') return replaced.ending
  // `old` ended in a line break where the file ends without one: it goes on ending without one.
  if (last && pair && pair.at === before.length - 1 && (oldLines[pair.at]?.ending ?? '') !== '' && replaced?.ending === '') return ''
  return fallback
}

/** Of the line that the match ends in the middle of. */
function endingAfter(text: string, end: number, cr: boolean): Ending | undefined {
  const at = text.indexOf(cr ? '\r' : '\n', end)
  if (at === -1) return undefined
  return cr ? '\r' : text[at - 1] === '\r' ? '\r\n' : '\n'
}
