import { fold } from './edit-fold.ts'

/**
 * A line of `new` that changes a line which was found only loosely: where it agrees with `old` it keeps what the file has there, so that
 * quotes, dashes, blanks and accents that nobody meant to change stay. `there` is the file's line, without indentation all three.
 */
export function retain(there: string, old: string, wanted: string): string {
  if (there === old) return wanted
  const [file, from, to] = [there, old, wanted].map((text) => fold(text, 'unicode', { cr: false })) as [Folded, Folded, Folded]
  if (file.text !== from.text) return wanted
  const most = Math.min(from.text.length, to.text.length)
  let [head, tail] = [0, 0]
  while (head < most && from.text[head] === to.text[head]) head++
  while (tail < most - head && from.text.at(-1 - tail) === to.text.at(-1 - tail)) tail++
  // Another line that took its place, which has nothing to keep.
  if ((head + tail) * 2 < Math.max(from.text.length, to.text.length)) return wanted
  // One quote of a pair would not fit the other.
  while (head > 0 && !cuts(file, to, head, isPaired(to.text.slice(0, head)))) head--
  while (tail > 0 && !cuts(file, to, file.text.length - tail, isPaired(to.text.slice(to.text.length - tail)), to.text.length - tail)) tail--
  const middle = to.source(head, to.text.length - tail)
  const start = head === 0 ? '' : there.slice(0, file.source(0, head)?.end)
  const end = tail === 0 ? '' : there.slice(file.source(file.text.length - tail, file.text.length)?.start).replace(BLANKS, '')
  return start + (middle ? wanted.slice(middle.start, middle.end) : '') + end + blanksAtEnd(there, old, wanted)
}

type Folded = ReturnType<typeof fold>

// The look-behind keeps a long run of blanks from being tried from each of its characters.
const BLANKS = /(?<![ \t])[ \t]*$/

/** Blanks at the end that `old` left out were not meant to go, such as a hard line break of Markdown. */
function blanksAtEnd(there: string, old: string, wanted: string): string {
  const [file, from, to] = [there, old, wanted].map((text) => BLANKS.exec(text)?.[0] ?? '') as [string, string, string]
  return to === '' && from === '' ? file : to
}

const isPaired = (text: string): boolean => [...text.matchAll(/"/g)].length % 2 === 0 && [...text.matchAll(/(?<![\p{L}\p{N}])'|'(?![\p{L}\p{N}])/gu)].length % 2 === 0

/** Whether both texts can be taken apart at this place: not inside of what was folded as one. */
const cuts = (file: Folded, wanted: Folded, at: number, paired: boolean, other = at): boolean =>
  paired && isApart(file, at) && isApart(wanted, other)

const isApart = (folded: Folded, at: number): boolean =>
  (at === 0 || folded.source(0, at) !== null) && (at === folded.text.length || folded.source(at, folded.text.length) !== null)
