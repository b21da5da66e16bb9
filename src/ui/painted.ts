import { wrap } from './graphemes.ts'

/** Rows of painted text: colours are carried over a break, since the terminal keeps them until they are changed. */
export function foldPainted(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => {
    if (!line.includes('\x1b')) return wrap(line, columns)
    const pieces = line.split(/(\x1b\[[0-9;:]*m)/)
    const rows = wrap(pieces.filter((_, index) => index % 2 === 0).join(''), columns)
    return rows.length === 1 ? [line] : rows
  })
}
