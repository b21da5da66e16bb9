/**
 * What lines that were drawn again look like in the end: progress of several lines goes up with the cursor and writes over itself, which
 * would else stand there once for each time. A line that is gone to again is taken as written anew from its beginning.
 */
export function redrawn(text: string): string {
  if (!UP.test(text)) return text
  const rows: string[] = ['']
  let at = 0
  let anew = false
  for (const [part, count, move, erase] of text.matchAll(PARTS)) {
    if (part === '\n') {
      at++
      if (at === rows.length) rows.push('')
      anew = true
    } else if (move !== undefined) {
      const lines = Math.max(1, Number(count || 1))
      at = /[AF]/.test(move) ? Math.max(0, at - lines) : Math.min(rows.length - 1, at + lines)
      anew = true
    } else if (erase === 'J') {
      rows.length = at + 1
      if (anew) rows[at] = ''
    } else if (erase === 'K') {
      if (anew || count === '2') rows[at] = ''
    } else {
      rows[at] = anew && part !== '\r' ? part : `${rows[at] ?? ''}${part}`
      if (part !== '\r') anew = false
    }
  }
  return rows.join('\n')
}

/** Cursor up; without it nothing is drawn again that is not on the same line. */
const UP = /\x1b\[\d*[AF]/
/** A line break, a move up or down, an erasure, other control sequences with what follows them, or text. */
const PARTS = /\n|\x1b\[(\d*)(?:([ABEF])|([JK]))|(?:\x1b(?!\[\d*[ABEFJK])|[^\n\x1b])+/g
