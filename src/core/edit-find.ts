import { fold, type Folded, type Looseness } from './edit-fold.ts'
import { findIndented, type Reindent } from './edit-indent.ts'
import { endsInCr } from './lines.ts'

/** A stretch of the text. */
export interface Span {
  start: number
  end: number
}

export type Match = 'exact' | Looseness | 'indentation'

/** Several places where one was wanted, or places that overlap. */
export interface Several {
  several: Span[]
  match: Match
  overlap: boolean
}
export type Found = { spans: Span[]; match: Match; reindent?: Reindent } | Several

const LOOSENESS: readonly Looseness[] = ['endings', 'blanks', 'unicode']
const MOST_PLACES = 100_000
/** In a larger text only line endings are overlooked: the other looks take their time. */
const MOST_LOOSE = 8 * 1024 * 1024

/**
 * Where `old` is in the text. One exact place is taken whatever a looser look would find; each looser look is taken only where it finds
 * exactly one place. Only line endings may differ where `all` places are wanted. null: nowhere.
 */
export function find(text: string, old: string, all: boolean): Found | null {
  const exact = places(text, old).filter((start) => !splitsCrLf(text, start)).map((start) => ({ start, end: start + old.length }))
  // With `all`, a file of mixed endings must not be changed in one half only.
  if (exact.length > 0 && !(all && old.includes('\n') && !old.includes('\r'))) return settle(exact, 'exact', all)
  const cr = endsInCr(text)
  for (const looseness of LOOSENESS) {
    if (looseness === 'endings' ? !/[\r\n]/.test(old) : text.length > MOST_LOOSE) continue
    const spans = findFolded(text, old, looseness, cr)
    if (spans.length > 0) return settle(spans, exact.length === spans.length ? 'exact' : looseness, all && looseness === 'endings')
  }
  const indented = text.length > MOST_LOOSE ? [] : findIndented(text, old)
  if (indented.length === 0) return null
  const [first] = indented
  if (indented.length > 1 || !first) return { several: indented, match: 'indentation', overlap: false }
  return { spans: [first], match: 'indentation', reindent: first.reindent }
}

function settle(spans: Span[], match: Match, all: boolean): Found {
  const overlap = spans.some((span, index) => index > 0 && span.start < (spans[index - 1]?.end ?? 0))
  return spans.length === 1 || (all && !overlap) ? { spans, match } : { several: spans, match, overlap }
}

/** Overlapping ones count. */
function places(text: string, part: string): number[] {
  const found: number[] = []
  if (part === '') return found
  for (let at = text.indexOf(part); at !== -1 && found.length < MOST_PLACES; at = text.indexOf(part, at + 1)) found.push(at)
  return found
}

const splitsCrLf = (text: string, start: number): boolean => text[start] === '\n' && text[start - 1] === '\r'

function findFolded(text: string, old: string, looseness: Looseness, cr: boolean): Span[] {
  const wanted = fold(old, looseness, { cr: cr || endsInCr(old), whole: false }).text
  const folded = fold(text, looseness, { cr })
  const spans = spansOf(folded, wanted)
  if (spans.length > 0) return spans
  // A last line without a line break counts as one only where there is no other.
  if (wanted.endsWith('\n')) return spansOf(fold(text, looseness, { cr, closed: true }), wanted)
  if (looseness === 'endings') return []
  const shorter = wanted.replace(/(?<![ \t])[ \t]+$/, '')
  if (shorter === wanted || shorter === '') return []
  return spansOf(folded, shorter, (end) => end === folded.text.length || folded.text[end] === '\n')
}

const spansOf = (folded: Folded, wanted: string, fits: (end: number) => boolean = () => true): Span[] =>
  places(folded.text, wanted)
    .filter((start) => fits(start + wanted.length))
    .map((start) => folded.source(start, start + wanted.length))
    .filter((span): span is Span => span !== null)
