/** A line and how it ends. Joined again they are the text, to the byte. */
export interface Line {
  text: string
  ending: Ending
}
/** '' is the end of a text that does not end in a line break. */
export type Ending = '\n' | '\r\n' | '\r' | ''

/** A text without a single LF but with CR is an old Mac one, and only there a CR ends a line. */
export const endsInCr = (text: string): boolean => !text.includes('\n') && text.includes('\r')

/** Without a last empty line where the text ends in a break. */
export function splitLines(text: string, cr = endsInCr(text)): Line[] {
  const lines: Line[] = []
  const mark = cr ? '\r' : '\n'
  let from = 0
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, from)) {
    const crlf = !cr && at > from && text[at - 1] === '\r'
    lines.push({ text: text.slice(from, crlf ? at - 1 : at), ending: crlf ? '\r\n' : mark })
    from = at + 1
  }
  if (from < text.length) lines.push({ text: text.slice(from), ending: '' })
  return lines
}

/** The ending that most lines have; LF where there is none or where it is undecided. */
export function majorityEnding(lines: readonly Line[]): '\n' | '\r\n' | '\r' {
  const count = { '\n': 0, '\r\n': 0, '\r': 0, '': 0 }
  for (const { ending } of lines) count[ending]++
  if (count['\r'] > 0) return '\r'
  return count['\r\n'] > count['\n'] ? '\r\n' : '\n'
}

/** `lineAt(text)(offset)`: the number of the line, from 1, that the character at `offset` is on. */
export function lineAt(text: string): (offset: number) => number {
  const mark = endsInCr(text) ? '\r' : '\n'
  const starts: number[] = [0]
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }
}
