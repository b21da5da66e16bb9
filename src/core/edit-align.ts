import type { Line } from './lines.ts'

/** What a new line comes from: the very same old line, or the old line whose place (and so whose ending) it takes. */
export interface Pair {
  same?: number
  at: number
}

/** For each new line its old one, by the longest common subsequence; undefined where there is no old line at all. */
export function alignLines(oldLines: readonly Line[], newLines: readonly Line[]): (Pair | undefined)[] {
  const common = (oldIndex: number, newIndex: number): boolean => oldLines[oldIndex]?.text === newLines[newIndex]?.text
  let head = 0
  while (head < oldLines.length && head < newLines.length && common(head, head)) head++
  let tail = 0
  while (tail < oldLines.length - head && tail < newLines.length - head && common(oldLines.length - 1 - tail, newLines.length - 1 - tail)) tail++
  const anchors: [number, number][] = []
  for (let index = 0; index < head; index++) anchors.push([index, index])
  anchors.push(...subsequence(head, oldLines.length - tail, head, newLines.length - tail, common))
  for (let index = tail; index > 0; index--) anchors.push([oldLines.length - index, newLines.length - index])
  return fill(anchors, oldLines.length, newLines.length)
}

const MOST_CELLS = 1_000_000

function subsequence(oldFrom: number, oldTo: number, newFrom: number, newTo: number, common: (a: number, b: number) => boolean): [number, number][] {
  const [rows, columns] = [oldTo - oldFrom, newTo - newFrom]
  if (rows === 0 || columns === 0 || rows * columns > MOST_CELLS) return []
  const width = columns + 1
  const longest = new Uint32Array((rows + 1) * width)
  const cell = (row: number, column: number): number => longest[row * width + column] ?? 0
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      longest[row * width + column] = common(oldFrom + row, newFrom + column) ? cell(row + 1, column + 1) + 1 : Math.max(cell(row + 1, column), cell(row, column + 1))
    }
  }
  const found: [number, number][] = []
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (common(oldFrom + row, newFrom + column)) found.push([oldFrom + row++, newFrom + column++])
    else if (cell(row + 1, column) >= cell(row, column + 1)) row++
    else column++
  }
  return found
}

/** Between two lines that stayed, new lines take the places of the old ones there in order, the surplus that of the last. */
function fill(anchors: readonly (readonly [number, number])[], oldLength: number, newLength: number): (Pair | undefined)[] {
  const pairs: (Pair | undefined)[] = Array.from({ length: newLength })
  let [oldAt, newAt] = [0, 0]
  for (const [oldIndex, newIndex] of [...anchors, [oldLength, newLength] as const]) {
    for (; newAt < newIndex; newAt++) {
      const at = oldAt < oldIndex ? oldAt++ : oldAt - 1
      if (oldLength > 0) pairs[newAt] = { at: Math.max(0, Math.min(at, oldLength - 1)) }
    }
    if (oldIndex < oldLength) pairs[newIndex] = { same: oldIndex, at: oldIndex }
    oldAt = oldIndex + 1
    newAt = newIndex + 1
  }
  return pairs
}
