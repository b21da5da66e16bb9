import { fold, TAB, type Span, type Width } from './spans.ts'
import type { Paint, Theme } from './theme.ts'

type Words = (before: string, after: string) => { value: string; added: boolean; removed: boolean }[]
let words: Words | null = null

/** Until this is done, changed lines are shown without the words that changed. Null: it is done. */
export const loadDiff = (): Promise<void> | null => (words ? null : load())

async function load(): Promise<void> {
  words = (await import('diff')).diffWordsWithSpace
}

/** A unified diff as painted rows with line numbers; at most `most`, and then how many lines were left out (`more` were so before). */
export function renderDiff(diff: string, { columns, theme }: Width, most: number, more = 0): string[] {
  const lines = parseDiff(diff)
  const files = lines.filter((line) => line.kind === 'file').length
  const shown = files > 1 ? lines : lines.filter((line) => line.kind !== 'file')
  const first = shown.slice(0, most)
  const digits = first.reduce((widest, line) => Math.max(widest, String(line.number ?? '').length), 1)
  const rows = first.flatMap((line, index) => renderLine(line, index, shown, digits, columns, theme))
  const left = Math.max(0, shown.length - most) + more
  return left > 0 ? [...rows, theme.dim(`… +${left} ${left === 1 ? 'line' : 'lines'}`)] : rows
}

interface DiffLine {
  kind: 'file' | 'gap' | 'same' | 'added' | 'removed'
  text: string
  number: number | null
  /** The line that took this one's place, or whose place it took. */
  other: string | null
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** By the counts in the hunk heads, so that a line `-- x` taken away is no file head. */
function parseDiff(diff: string): DiffLine[] {
  const lines: DiffLine[] = []
  let [before, after, beforeLeft, afterLeft] = [0, 0, 0, 0]
  let old = ''
  const add = (kind: DiffLine['kind'], text: string, number: number | null): void => void lines.push({ kind, text: text.replaceAll('\t', TAB), number, other: null })
  for (const line of diff.split('\n')) {
    const hunk = beforeLeft <= 0 && afterLeft <= 0 ? HUNK.exec(line) : null
    if (hunk) {
      if (lines.length > 0 && lines.at(-1)?.kind !== 'file') add('gap', '', null)
      ;[before, beforeLeft, after, afterLeft] = [Number(hunk[1]), Number(hunk[2] ?? 1), Number(hunk[3]), Number(hunk[4] ?? 1)]
    } else if (line.startsWith('+') && afterLeft-- > 0) add('added', line.slice(1), after++)
    else if (line.startsWith('-') && beforeLeft-- > 0) add('removed', line.slice(1), before++)
    else if (line.startsWith('\\')) add('same', `(${line.slice(2)})`, null)
    else if (beforeLeft > 0 && afterLeft > 0) {
      add('same', line.slice(1), after++)
      ;[before, beforeLeft, afterLeft] = [before + 1, beforeLeft - 1, afterLeft - 1]
    } else if (line.startsWith('--- ')) old = fileName(line)
    else if (line.startsWith('+++ ')) add('file', line.startsWith('+++ /dev/null') ? `${old} (deleted)` : fileName(line), null)
    else if (/^(?:Binary files|rename to|old mode|new mode) /.test(line)) add('file', line, null)
  }
  return paired(lines)
}

const fileName = (line: string): string => line.slice(4).replace(/^[ab]\//, '').replace(/\t.*$/, '')

/** A run of lines taken away and as many added: each took the other's place. */
function paired(lines: DiffLine[]): DiffLine[] {
  for (let index = 0; index < lines.length; ) {
    const removed = run(lines, index, 'removed')
    const added = run(lines, index + removed, 'added')
    if (removed > 0 && removed === added) {
      for (let each = index; each < index + removed; each++) {
        const [old, fresh] = [lines[each], lines[each + removed]]
        if (old && fresh) [old.other, fresh.other] = [fresh.text, old.text]
      }
    }
    index += Math.max(1, removed + added)
  }
  return lines
}

function run(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): number {
  let to = from
  while (lines[to]?.kind === kind) to++
  return to - from
}

function renderLine(line: DiffLine, index: number, lines: readonly DiffLine[], digits: number, columns: number, theme: Theme): string[] {
  switch (line.kind) {
    case 'file':
      return [...(index > 0 ? [''] : []), ...fold([{ text: line.text, paint: theme.strong }], { columns, anywhere: true })]
    case 'gap':
      return lines[index + 1]?.kind === 'file' ? [] : [theme.dim(`${' '.repeat(digits)} …`)]
    case 'same':
      return numbered(line, ' ', (blank) => blank, [{ text: line.text, paint: theme.dim }], digits, columns, theme)
    case 'added':
      return numbered(line, '+', theme.added, wordSpans(line, theme.added, theme.addedWord), digits, columns, theme)
    case 'removed':
      return numbered(line, '-', theme.removed, wordSpans(line, theme.removed, theme.removedWord), digits, columns, theme)
  }
}

function numbered(line: DiffLine, sign: string, paint: Paint, spans: readonly Span[], digits: number, columns: number, theme: Theme): string[] {
  const first = `${theme.dim(String(line.number ?? '').padStart(digits))} ${paint(sign)} `
  // A window too narrow for numbers gets the signs alone.
  const narrow = columns < digits + 12
  return fold(spans, { columns, first: narrow ? paint(sign) : first, rest: ' '.repeat(narrow ? 1 : digits + 3), anywhere: true })
}

const LIKE = 0.5
const MOST_CHARACTERS = 500

/** The words that changed are marked where most of the line stayed as it was. */
function wordSpans({ text, other, kind }: DiffLine, paint: Paint, marked: Paint): Span[] {
  if (!words || other === null || text.length + other.length > MOST_CHARACTERS) return [{ text, paint }]
  const [before, after] = kind === 'added' ? [other, text] : [text, other]
  const parts = words(before, after)
  const same = parts.reduce((sum, part) => sum + (part.added || part.removed ? 0 : part.value.length), 0)
  if (same < LIKE * Math.max(before.length, after.length)) return [{ text, paint }]
  return parts.filter((part) => (kind === 'added' ? !part.removed : !part.added)).map((part) => ({ text: part.value, paint: part.added || part.removed ? marked : paint }))
}
