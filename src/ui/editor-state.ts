import { graphemes, isPlain } from './graphemes.ts'

/** A paste too long to show: one cell in the editor, its whole text when sent. */
export interface Pasted {
  paste: number
  text: string
}

/** What the cursor steps over: one grapheme, or one paste. */
export type Cell = string | Pasted
export type Line = readonly Cell[]

/** The text being written. Pure: every function here returns a new one. The cursor always stands between two cells. */
export interface Editor {
  /** At least one. */
  lines: readonly Line[]
  row: number
  col: number
  /** The column in cells of the screen that Up and Down try to keep; null: none. */
  goal: number | null
  killed: readonly Line[]
  undo: readonly Snapshot[]
  /** The kind of the last change: typing is undone by the word, and kills in a row are one kill. */
  last: 'type' | 'kill' | 'other'
  /** How many pastes were numbered. */
  pastes: number
}

interface Snapshot {
  lines: readonly Line[]
  row: number
  col: number
}

const MOST_UNDO = 200
/** A longer paste is shown as a token. */
const TOKEN_LINES = 10
const TOKEN_LENGTH = 1_000

export const emptyEditor: Editor = { lines: [[]], row: 0, col: 0, goal: null, killed: [], undo: [], last: 'other', pastes: 0 }

export const isEmpty = (editor: Editor): boolean => editor.lines.length === 1 && lineAt(editor, 0).length === 0

/** What is sent: pastes in full. */
export const textOf = (editor: Editor): string => fragmentText(editor.lines)

export const lineAt = (editor: Editor, row: number): Line => editor.lines[row] ?? []

const unitsOf = (cell: Cell): number => (typeof cell === 'string' ? cell.length : 1)
const cellText = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text)
const fragmentText = (lines: readonly Line[]): string => lines.map((line) => line.map(cellText).join('')).join('\n')

/** The text of this line before the cursor, pastes as U+FFFC: for completion. */
export const beforeCursor = (editor: Editor): string =>
  lineAt(editor, editor.row)
    .slice(0, editor.col)
    .map((cell) => (typeof cell === 'string' ? cell : '\uFFFC'))
    .join('')

/** Typed text. Line ends of every kind are one newline. */
export function insert(editor: Editor, text: string): Editor {
  if (text === '') return editor
  const fragment = toLines(text)
  const word = editor.last === 'type' && !/\s/.test(text) && fragment.length === 1
  return { ...put(word ? editor : remember(editor), fragment), last: 'type' }
}

/** Pasted text: all of it is kept, a long one as a token. */
export const paste = (editor: Editor, text: string): Editor => putPaste(remember(editor), text)

function putPaste(editor: Editor, text: string): Editor {
  const unified = unifyLineEnds(text)
  const lines = unified.split('\n').length
  if (lines <= TOKEN_LINES && unified.length <= TOKEN_LENGTH) return { ...put(editor, toLines(unified)), last: 'other' }
  const number = editor.pastes + 1
  return { ...put(editor, [[{ paste: number, text: unified }]]), last: 'other', pastes: number }
}

/** `[Pasted #1 +42 lines]` */
export function pasteLabel({ paste, text }: Pasted): string {
  const lines = text.split('\n').length
  return lines > 1 ? `[Pasted #${paste} +${lines} lines]` : `[Pasted #${paste} ${text.length} characters]`
}

export const newline = (editor: Editor): Editor => ({ ...put(remember(editor), [[], []]), last: 'other' })

/** Another text in place of this one, the cursor at its end; undo brings this one back. Long texts become a token as a paste would. */
export const replaceText = (editor: Editor, text: string): Editor => putPaste({ ...remember(editor), lines: [[]], row: 0, col: 0, goal: null }, text)

/** Everything is gone, and can be brought back by undo. */
export const clear = (editor: Editor): Editor => (isEmpty(editor) ? editor : { ...remember(editor), lines: [[]], row: 0, col: 0, goal: null, last: 'other' })

/** After a send: nothing to undo any more. The killed text stays. */
export const sent = (editor: Editor): Editor => ({ ...emptyEditor, killed: editor.killed })

/** Deletes from the cursor to `to`, in either direction. */
export function deleteTo(editor: Editor, to: Position): Editor {
  const [from, until] = inOrder(editor, to)
  return samePlace(from, until) ? editor : { ...cut(remember(editor), from, until), last: 'other' }
}

/** As deleteTo, and the text can be put back with `yank`. Kills in a row make one. */
export function killTo(editor: Editor, to: Position): Editor {
  const [from, until] = inOrder(editor, to)
  if (samePlace(from, until)) return { ...editor, last: 'kill' }
  const piece = slice(editor, from, until)
  const backwards = samePlace(until, editor)
  const killed = editor.last !== 'kill' ? piece : backwards ? join(piece, editor.killed) : join(editor.killed, piece)
  return { ...cut(remember(editor), from, until), killed, last: 'kill' }
}

export const yank = (editor: Editor): Editor => (editor.killed.length === 0 ? editor : { ...put(remember(editor), editor.killed), last: 'other' })

export function undo(editor: Editor): Editor {
  const last = editor.undo.at(-1)
  return last ? { ...editor, ...last, undo: editor.undo.slice(0, -1), goal: null, last: 'other' } : editor
}

/** `text` in place of the cells from `col` up to the cursor, on the cursor's line: a completion. */
export const completeFrom = (editor: Editor, col: number, text: string): Editor => ({
  ...put(cut(remember(editor), { row: editor.row, col }, editor), toLines(text)),
  last: 'other',
})

export interface Position {
  row: number
  col: number
}

const samePlace = (one: Position, other: Position): boolean => one.row === other.row && one.col === other.col
const inOrder = (one: Position, other: Position): [Position, Position] => (one.row < other.row || (one.row === other.row && one.col <= other.col) ? [one, other] : [other, one])
const unifyLineEnds = (text: string): string => text.replace(/\r\n?/g, '\n')
const toLines = (text: string): Line[] => unifyLineEnds(text).split('\n').map(graphemes)

function remember(editor: Editor): Editor {
  const { lines, row, col } = editor
  return { ...editor, undo: [...editor.undo.slice(1 - MOST_UNDO), { lines, row, col }] }
}

function put(editor: Editor, fragment: readonly Line[]): Editor {
  const line = lineAt(editor, editor.row)
  const joined = join(join([line.slice(0, editor.col)], fragment), [line.slice(editor.col)])
  const row = editor.row + fragment.length - 1
  const before = fragment.length === 1 ? line.slice(0, editor.col) : []
  return settle({ ...editor, lines: editor.lines.toSpliced(editor.row, 1, ...joined), row, goal: null }, units(before) + units(fragment.at(-1) ?? []))
}

function cut(editor: Editor, from: Position, until: Position): Editor {
  const before = lineAt(editor, from.row).slice(0, from.col)
  const lines = editor.lines.toSpliced(from.row, until.row - from.row + 1, [...before, ...lineAt(editor, until.row).slice(until.col)])
  return settle({ ...editor, lines, row: from.row, goal: null }, units(before))
}

function slice(editor: Editor, from: Position, until: Position): Line[] {
  const lines = editor.lines.slice(from.row, until.row + 1)
  return lines.map((line, index) => line.slice(index === 0 ? from.col : 0, index === lines.length - 1 ? until.col : undefined))
}

/** The last line of one and the first of the other are one line. */
const join = (one: readonly Line[], other: readonly Line[]): Line[] => [...one.slice(0, -1), [...(one.at(-1) ?? []), ...(other[0] ?? [])], ...other.slice(1)]

const units = (line: Line): number => line.reduce((sum, cell) => sum + unitsOf(cell), 0)

/** Pieces that met may now be one grapheme (a letter and a mark, half a flag): the cursor's line is cut into cells again. */
function settle(editor: Editor, cursor: number): Editor {
  const line = lineAt(editor, editor.row)
  const settled = line.every((cell) => typeof cell !== 'string' || (cell.length === 1 && isPlain(cell))) ? line : runs(line)
  let col = 0
  for (let sum = 0; col < settled.length && sum < cursor; col++) sum += unitsOf(settled[col] ?? '')
  return { ...editor, lines: settled === line ? editor.lines : editor.lines.with(editor.row, settled), col }
}

function runs(line: Line): Cell[] {
  const cells: Cell[] = []
  let run = ''
  for (const cell of line) {
    if (typeof cell === 'string') {
      run += cell
      continue
    }
    cells.push(...graphemes(run), cell)
    run = ''
  }
  return [...cells, ...graphemes(run)]
}
