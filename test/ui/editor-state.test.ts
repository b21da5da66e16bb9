import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EDIT_ACTIONS } from '../../src/ui/edit-actions.ts'
import { cellWidth, cursorRow, layOut, rowText } from '../../src/ui/editor-rows.ts'
import { moveRow, moveTo, place } from '../../src/ui/editor-moves.ts'
import { clear, completeFrom, deleteTo, emptyEditor, insert, killTo, lineAt, newline, paste, replaceText, textOf, undo, yank, type Editor } from '../../src/ui/editor-state.ts'
import { columnsOf, graphemes } from '../../src/ui/graphemes.ts'

const FAMILY = '👨‍👩‍👧'
const PIECES = ['a', 'bc d', ' ', '你好', ',', FAMILY, '❤️', 'e\u0301', '\u0301', '\u200d', '🇩', '🇪🇫', 'é', '\n', '\t', '\x1b[31m', 'x'.repeat(30), '\u202e']
const moves = Object.values(EDIT_ACTIONS).filter((action) => action !== undefined)

type Step = (editor: Editor) => Editor
const step = fc.oneof(
  fc.constantFrom(...PIECES).map((text): Step => (editor) => insert(editor, text)),
  fc.constantFrom(...PIECES, 'long\n'.repeat(40), 'z'.repeat(1_200)).map((text): Step => (editor) => paste(editor, text)),
  fc.constantFrom(...moves),
  fc.tuple(fc.constantFrom(-1 as const, 1 as const), fc.integer({ min: 2, max: 40 })).map(([by, width]): Step => (editor) => moveRow(editor, by, width) ?? editor),
)

/** Cells are exactly the graphemes of the line, so the cursor cannot stand inside of one. */
function holds(editor: Editor): void {
  expect(editor.lines.length).toBeGreaterThan(0)
  expect(editor.row).toBeGreaterThanOrEqual(0)
  expect(editor.row).toBeLessThan(editor.lines.length)
  expect(editor.col).toBeGreaterThanOrEqual(0)
  expect(editor.col).toBeLessThanOrEqual(lineAt(editor, editor.row).length)
  for (const line of editor.lines) {
    let run: string[] = []
    const check = (): void => {
      expect(run).toEqual(graphemes(run.join('')))
      run = []
    }
    for (const cell of line) {
      if (typeof cell === 'string') run.push(cell)
      else check()
    }
    check()
  }
}

test('whatever is pressed, the cursor stands between two graphemes and no row is wider than the screen', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 30, max: 60 }), (steps, width) => {
      let editor = emptyEditor
      for (const each of steps) {
        editor = each(editor)
        holds(editor)
      }
      const rows = layOut(editor, width)
      for (const row of rows) expect(columnsOf(rowText(editor, row).trimEnd())).toBeLessThanOrEqual(width)
      expect(rows.flatMap((row) => lineAt(editor, row.line).slice(row.from, row.to))).toEqual(editor.lines.flat())
      const { index, x } = cursorRow(rows, editor)
      expect(rows[index]?.line).toBe(editor.row)
      expect(x).toBeLessThanOrEqual(width + 1)
    }),
    { numRuns: 400 },
  )
})

test('undo brings back every earlier text, up to the beginning', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      let editor = emptyEditor
      const texts = new Set([''])
      for (const each of steps) {
        editor = each(editor)
        texts.add(textOf(editor))
      }
      for (let left = 300; left > 0 && editor.undo.length > 0; left--) {
        editor = undo(editor)
        expect(texts).toContain(textOf(editor))
        holds(editor)
      }
    }),
  )
})

test('a paste is sent byte for byte, in one piece or in many, and only its line ends become newlines', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 400 }), { maxLength: 12 }), (texts) => {
      const editor = texts.reduce(paste, emptyEditor)
      expect(textOf(editor)).toBe(texts.join('').replace(/\r\n?/g, '\n'))
    }),
  )
  const huge = Array.from({ length: 5_000 }, (_, line) => `line ${line} \x1b[31m红\x1b[0m`).join('\n')
  expect(textOf(insert(paste(insert(emptyEditor, 'see '), huge), ' ok'))).toBe(`see ${huge} ok`)
})

test('a long paste is one cell: the cursor steps over it, and one key deletes it', () => {
  const editor = paste(insert(emptyEditor, 'a'), 'x\n'.repeat(42).trimEnd())
  expect(rowText(editor, layOut(editor, 60)[0]!)).toBe('a[Pasted #1 +42 lines]')
  expect(moveTo(editor, place.left(editor)).col).toBe(1)
  expect(textOf(deleteTo(editor, place.left(editor)))).toBe('a')
  expect(rowText(paste(editor, 'y'.repeat(2_000)), layOut(paste(editor, 'y'.repeat(2_000)), 90)[0]!)).toBe('a[Pasted #1 +42 lines][Pasted #2 2000 characters]')
})

test('one key moves over one grapheme, and one deletes it', () => {
  for (const each of ['你', FAMILY, '❤️', 'e\u0301', '🇩🇪']) {
    const editor = insert(emptyEditor, `${each}x`)
    expect(moveTo(editor, place.left(editor)).col).toBe(1)
    expect(textOf(deleteTo(moveTo(editor, place.left(editor)), place.left(moveTo(editor, place.left(editor)))))).toBe('x')
    expect(cellWidth(lineAt(editor, 0)[0]!)).toBe(columnsOf(each))
  }
})

test('a mark that is typed after a letter joins it, and half flags join to one', () => {
  expect(insert(insert(emptyEditor, 'e'), '\u0301').col).toBe(1)
  expect(insert(insert(emptyEditor, '🇩'), '🇪').col).toBe(1)
})

test('kills in a row make one, and yank puts it back', () => {
  let editor = insert(emptyEditor, 'one two three')
  editor = killTo(editor, place.wordLeft(editor))
  editor = killTo(editor, place.wordLeft(editor))
  expect(textOf(editor)).toBe('one ')
  expect(textOf(yank(editor))).toBe('one two three')
  editor = moveTo(editor, place.start())
  editor = killTo(editor, place.killEnd(editor))
  expect(textOf(yank(yank(editor)))).toBe('one one ')
})

test('words end where letters end', () => {
  const editor = moveTo(insert(emptyEditor, 'foo.bar  (baz)\nqux'), { row: 0, col: 0 })
  const stops: string[] = []
  for (let at = editor, left = 9; left > 0; left--) {
    at = moveTo(at, place.wordRight(at))
    stops.push(`${at.row}:${at.col}`)
  }
  expect(stops.slice(0, 5)).toEqual(['0:3', '0:7', '0:13', '1:3', '1:3'])
})

test('typing is undone by the word, and clearing can be undone', () => {
  let editor = emptyEditor
  for (const each of 'one two') editor = insert(editor, each)
  expect(textOf(undo(editor))).toBe('one')
  expect(textOf(undo(clear(editor)))).toBe('one two')
  expect(textOf(undo(replaceText(editor, 'other')))).toBe('one two')
})

test('up and down keep the column, over wide characters and over breaks', () => {
  const editor = moveTo(insert(emptyEditor, 'abcdef\n你好吗\nabcdef'), { row: 0, col: 5 })
  const second = moveRow(editor, 1, 40)!
  expect([second.row, second.col]).toEqual([1, 2])
  const third = moveRow(second, 1, 40)!
  expect([third.row, third.col]).toEqual([2, 5])
  expect(moveRow(third, 1, 40)).toBeNull()
  const long = moveTo(insert(emptyEditor, 'x'.repeat(100)), { row: 0, col: 95 })
  expect(moveRow(long, -1, 30)?.col).toBe(65)
})

test('rows break after a blank, and a word longer than the row is cut', () => {
  const editor = insert(emptyEditor, 'the quick brown foxes')
  expect(layOut(editor, 10).map((row) => rowText(editor, row))).toEqual(['the quick ', 'brown ', 'foxes'])
  const long = insert(emptyEditor, 'x'.repeat(25))
  expect(layOut(long, 10).map((row) => rowText(long, row).length)).toEqual([10, 10, 5])
})

test('control characters are shown as pictures and sent as they are', () => {
  const editor = paste(emptyEditor, 'a\x1b[31mb\x07\u202e')
  expect(rowText(editor, layOut(editor, 60)[0]!)).toBe('a␛[31mb␇\uFFFD')
  expect(textOf(editor)).toBe('a\x1b[31mb\x07\u202e')
})

test('a completion replaces what was typed of it', () => {
  const editor = insert(emptyEditor, 'see @src/ma')
  expect(textOf(completeFrom(editor, 5, 'src/main.ts '))).toBe('see @src/main.ts ')
  expect(textOf(newline(editor))).toBe('see @src/ma\n')
})

test('a key costs the same in a text of a hundred lines and of ten thousand', () => {
  const big = moveTo({ ...emptyEditor, lines: Array.from({ length: 10_000 }, () => graphemes('some words here')) }, { row: 5_000, col: 4 })
  const typed = insert(big, 'x')
  // Only the line that was changed is another one.
  expect(typed.lines.filter((line, index) => line !== big.lines[index])).toHaveLength(1)
})
