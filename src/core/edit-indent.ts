import { fold } from './edit-fold.ts'
import type { Span } from './edit-find.ts'
import { splitLines, type Line } from './lines.ts'

/** The indentation of a new line, from one written like `old` to one like the file's; null: it cannot be known. */
export type Reindent = (blanks: string) => string | null

export interface Indented extends Span {
  reindent: Reindent
}

/** Places where whole lines are those of `old` but for their indentation, each with the way from one indentation to the other. */
export function findIndented(text: string, old: string): Indented[] {
  const wanted = splitLines(old).map(read)
  const anchor = wanted.findIndex(({ bare }) => bare !== '')
  const sought = wanted[anchor]
  if (!sought) return []
  const lines = splitLines(text)
  const here = lines.map(read)
  const starts = startsOf(lines)
  const found: Indented[] = []
  for (let first = 0; first + wanted.length <= here.length; first++) {
    if (here[first + anchor]?.bare !== sought.bare || wanted.some(({ bare }, index) => here[first + index]?.bare !== bare)) continue
    const span = spanOf(lines, starts, first, wanted, here)
    if (span) found.push({ ...span, reindent: reindentation(wanted, here.slice(first, first + wanted.length)) })
  }
  return found
}

interface Read {
  blanks: string
  /** Without blanks at both ends and without what unicode writes in several ways. */
  bare: string
  closed: boolean
}

function read({ text, ending }: Line): Read {
  const blanks = /^[ \t]*/.exec(text)?.[0] ?? ''
  const rest = text.slice(blanks.length)
  return { blanks, bare: (ASCII.test(rest) ? rest : fold(rest, 'unicode', { cr: false }).text).trim(), closed: ending !== '' }
}

const ASCII = /^[\x00-\x7f]*$/

function startsOf(lines: readonly Line[]): number[] {
  const starts: number[] = []
  let at = 0
  for (const { text, ending } of lines) {
    starts.push(at)
    at += text.length + ending.length
  }
  return starts
}

/** From the first line (after its indentation, where `old` begins without one) to the last, with its ending only where `old` has it. */
function spanOf(lines: readonly Line[], starts: readonly number[], first: number, wanted: readonly Read[], here: readonly Read[]): Span | null {
  const lastIndex = first + wanted.length - 1
  const last = lines[lastIndex]
  const closed = wanted.at(-1)?.closed ?? false
  if (!last) return null
  const start = (starts[first] ?? 0) + (wanted[0]?.blanks === '' ? (here[first]?.blanks.length ?? 0) : 0)
  const end = (starts[lastIndex] ?? 0) + (closed ? last.text.length + last.ending.length : last.text.trimEnd().length)
  return start < end ? { start, end } : null
}

function reindentation(wanted: readonly Read[], here: readonly Read[]): Reindent {
  const known = new Map<string, string>()
  let contradicts = false
  for (const [index, { blanks, bare }] of wanted.entries()) {
    // A first line without indentation says nothing: the match begins after the file's.
    if (bare === '' || (index === 0 && blanks === '')) continue
    const there = here[index]?.blanks ?? ''
    if (known.has(blanks) && known.get(blanks) !== there) contradicts = true
    known.set(blanks, there)
  }
  if (contradicts) return () => null
  return (blanks) => known.get(blanks) ?? byUnit(known, blanks) ?? byShift(known, blanks)
}

/** Four blanks are a tab, so eight are two: where each step of `old` is one step of the file. */
function byUnit(known: ReadonlyMap<string, string>, blanks: string): string | null {
  const steps = [...known].filter(([from]) => from !== '')
  const [one] = steps
  if (!one || [...known].some(([from, to]) => from === '' && to !== '')) return null
  // Four blanks that are eight in the file may be twice as many as well as four more.
  if (steps.length === 1 && one[0][0] === one[1][0]) return null
  const char = one[1][0] ?? ''
  const ratio = one[1].length / one[0].length
  const uniform = steps.every(([from, to]) => to !== '' && to === char.repeat(to.length) && from === (from[0] ?? '').repeat(from.length) && from[0] === one[0][0] && to.length / from.length === ratio)
  const length = blanks.length * ratio
  if (!uniform || blanks !== (one[0][0] ?? '').repeat(blanks.length) || !Number.isInteger(length)) return null
  return char.repeat(length)
}

/** All of `old` is further in or further out by the same blanks. */
function byShift(known: ReadonlyMap<string, string>, blanks: string): string | null {
  const [one] = known
  if (!one) return blanks
  const [from, to] = one
  const inwards = to.endsWith(from) ? to.slice(0, to.length - from.length) : null
  if (inwards !== null && [...known].every(([a, b]) => b === inwards + a)) return inwards + blanks
  const outwards = from.endsWith(to) ? from.slice(0, from.length - to.length) : null
  if (outwards !== null && blanks.startsWith(outwards) && [...known].every(([a, b]) => a === outwards + b)) return blanks.slice(outwards.length)
  return null
}
