/** The most that one result says to a model: whichever is reached first. */
export const MAX_LINES = 2_000
export const MAX_BYTES = 50 * 1024

export interface Capped {
  text: string
  /** What was left out; null: nothing. */
  cut: { lines: number; bytes: number } | null
}

const encoder = new TextEncoder()
export const byteLength = (text: string): number => encoder.encode(text).length

/** The beginning, the end, or both ends of a text, whole lines where a line fits. Who calls says what was left out. */
export function cap(text: string, keep: 'head' | 'tail' | 'ends', most: { lines?: number; bytes?: number } = {}): Capped {
  const lines = most.lines ?? MAX_LINES
  const bytes = most.bytes ?? MAX_BYTES
  const all = text.split('\n')
  const size = byteLength(text)
  if (all.length <= lines && size <= bytes) return { text, cut: null }
  if (keep === 'head') return report(take(all, lines, bytes), [], all.length, size)
  if (keep === 'tail') return report([], takeLast(all, lines, bytes), all.length, size)
  const head = take(all, Math.ceil(lines / 2), Math.ceil(bytes / 2))
  return report(head, takeLast(all.slice(head.length), Math.floor(lines / 2), Math.floor(bytes / 2)), all.length, size)
}

function report(head: string[], tail: string[], lines: number, bytes: number): Capped {
  const cutLines = Math.max(0, lines - head.length - tail.length)
  const kept = [...head, ...tail].join('\n')
  const cut = { lines: cutLines, bytes: Math.max(0, bytes - byteLength(kept)) }
  if (head.length > 0 && tail.length > 0) return { text: [...head, `[… ${cut.lines} lines, ${cut.bytes} bytes left out …]`, ...tail].join('\n'), cut }
  return { text: kept, cut }
}

function take(all: readonly string[], lines: number, bytes: number): string[] {
  const taken: string[] = []
  let left = bytes
  for (const line of all) {
    const size = byteLength(line) + 1
    if (taken.length === lines) break
    if (size > left) {
      if (taken.length === 0) taken.push(cutBytes(line, left))
      break
    }
    taken.push(line)
    left -= size
  }
  return taken
}

function takeLast(all: readonly string[], lines: number, bytes: number): string[] {
  const taken: string[] = []
  let left = bytes
  for (let index = all.length - 1; index >= 0 && taken.length < lines; index--) {
    const line = all[index] ?? ''
    const size = byteLength(line) + 1
    if (size > left) {
      if (taken.length === 0) taken.push(cutBytes(line, left, true))
      break
    }
    taken.push(line)
    left -= size
  }
  return taken.reverse()
}

/** Never in the middle of a character. */
function cutBytes(line: string, bytes: number, fromEnd = false): string {
  const encoded = encoder.encode(line)
  const part = fromEnd ? encoded.subarray(Math.max(0, encoded.length - bytes)) : encoded.subarray(0, bytes)
  return new TextDecoder().decode(part).replace(/^\uFFFD+|\uFFFD+$/g, '')
}
