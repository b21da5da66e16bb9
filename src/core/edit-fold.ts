/** A text with some differences taken out, and the way back from each of its positions. */
export interface Folded {
  text: string
  /** What this stretch of the folded text was before; null where a match would begin or end inside something that was folded as one. */
  source(start: number, end: number): { start: number; end: number } | null
}

/** What is overlooked, each one with those before it. */
export type Looseness = 'endings' | 'blanks' | 'unicode'

export interface FoldOptions {
  /** A CR alone ends a line. */
  cr: boolean
  /** The text does not end in a line break, but is to be matched as if it did. */
  closed?: boolean
  /** Blanks at the very end count as trailing ones. In an `old` they do not: there a line may go on. */
  whole?: boolean
}

export function fold(text: string, looseness: Looseness, { cr, closed = false, whole = true }: FoldOptions): Folded {
  const stretches: Stretch[] = []
  let folded = ''
  let from = 0
  const add = (source: string, to: string, same: boolean): void => {
    if (source === '' && to === '') return
    stretches.push({ at: folded.length, source: from, length: to.length, sourceLength: source.length, same })
    folded += to
    from += source.length
  }
  for (const match of text.matchAll(pattern(looseness, cr, whole))) {
    const to = foldOne(match)
    if (to === match[0]) continue
    add(text.slice(from, match.index), text.slice(from, match.index), true)
    add(match[0], to, false)
  }
  add(text.slice(from), text.slice(from), true)
  if (closed && folded !== '' && !folded.endsWith('\n')) add('', '\n', false)
  return { text: folded, source: (start, end) => sourceOf(stretches, start, end) }
}

interface Stretch {
  at: number
  source: number
  length: number
  sourceLength: number
  /** Unchanged, so that every position in it has one in the source. */
  same: boolean
}

const QUOTES = '\u2018\u2019\u201a\u201b\u2032'
const DOUBLE_QUOTES = '\u201c\u201d\u201e\u201f\u2033'
const DASHES = '\u2010\u2011\u2012\u2013\u2014\u2015\u2212'
const SPACES = '\u00a0\u2000-\u200a\u202f\u205f\u3000'
const NOTHING = '\u00ad\u200b\u200c\u200d\u2060\ufeff'

/** Group 1 ends a line, group 2 are blanks before that. */
function pattern(looseness: Looseness, cr: boolean, whole: boolean): RegExp {
  const ending = cr ? '\\r\\n|\\r' : '\\r\\n'
  // The look-behind keeps a long run of blanks from being tried from each of its characters.
  const trailing = (blank: string): string => `(?<!${blank})${blank}+(?=\\r?\\n${cr ? '|\\r' : ''}${whole ? '|$' : ''})`
  switch (looseness) {
    case 'endings':
      return new RegExp(`(${ending})`, 'g')
    case 'blanks':
      return new RegExp(`(${ending})|(${trailing('[ \\t]')})`, 'g')
    case 'unicode':
      return new RegExp(`(${ending})|(${trailing(`[ \\t${SPACES}]`)})|[${QUOTES}${DOUBLE_QUOTES}${DASHES}${SPACES}${NOTHING}\\u2026]|\\P{M}\\p{M}+`, 'gu')
  }
}

function foldOne([found, ending, blanks]: RegExpExecArray): string {
  if (ending !== undefined) return '\n'
  if (blanks !== undefined) return ''
  if (QUOTES.includes(found)) return "'"
  if (DOUBLE_QUOTES.includes(found)) return '"'
  if (DASHES.includes(found)) return '-'
  if (found === '\u2026') return '...'
  if (NOTHING.includes(found)) return ''
  return SPACE.test(found) ? ' ' : found.normalize('NFC')
}

const SPACE = new RegExp(`^[${SPACES}]$`, 'u')

function sourceOf(stretches: readonly Stretch[], start: number, end: number): { start: number; end: number } | null {
  const first = stretchAt(stretches, start)
  const last = stretchAt(stretches, end - 1)
  if (!first || !last || end <= start) return null
  if (!first.same && start !== first.at) return null
  if (!last.same && end !== last.at + last.length) return null
  const from = first.source + (first.same ? start - first.at : 0)
  const to = last.same ? last.source + (end - last.at) : last.source + last.sourceLength
  return from < to ? { start: from, end: to } : null
}

/** The stretch that holds this position of the folded text; never one that was folded to nothing. */
function stretchAt(stretches: readonly Stretch[], position: number): Stretch | undefined {
  let low = 0
  let high = stretches.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((stretches[middle]?.at ?? 0) <= position) low = middle
    else high = middle - 1
  }
  // Stretches folded to nothing share their position with the one after them.
  while (low > 0 && stretches[low]?.length === 0) low--
  return stretches[low]
}
