import { openFile } from './open-file.ts'

export interface Window {
  /** From the wanted line on. */
  lines: string[]
  /** The file goes on after them. */
  more: boolean
  /** Lines up to where it was read. */
  reached: number
}

const CHUNK = 1024 * 1024
/** More characters of one line than a page ever shows. */
const ENOUGH = 256 * 1024

/** Lines of a file of any size, in little memory: read from its beginning to where they end, as UTF-8. Of a huge line the part from `column` on, put at its place. */
export async function readLines(path: string, { offset, column, count }: { offset: number; column: number; count: number }, signal: AbortSignal): Promise<({ ok: true } & Window) | { ok: false; why: string }> {
  const opened = await openFile(path)
  if (!opened.ok) return opened
  const { handle } = opened
  const decoder = new TextDecoder()
  const window = { lines: [] as string[], number: 1, at: 0, open: '', skipped: 0, size: 0 }
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK)
      const { bytesRead } = await handle.read(chunk, 0, CHUNK, null)
      const end = bytesRead === 0
      if (signal.aborted) return { ok: false, why: 'cancelled' }
      const full = takeChunk(window, decoder.decode(chunk.subarray(0, bytesRead), { stream: !end }), offset, column, count)
      if (full) return { ok: true, lines: window.lines, more: true, reached: window.number }
      if (!end) continue
      if (window.number >= offset && (window.open !== '' || window.skipped > 0)) window.lines.push(closeLine(window))
      return { ok: true, lines: window.lines, more: false, reached: window.at > 0 ? window.number : window.number - 1 }
    }
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : String(error) }
  } finally {
    await handle.close()
  }
}

interface Taking {
  lines: string[]
  /** The line that is being read, and how many of its characters were. */
  number: number
  at: number
  open: string
  /** Characters before `column`, which are not kept. */
  skipped: number
  size: number
}

/** true: there are enough lines, or enough of one. */
function takeChunk(taking: Taking, text: string, offset: number, column: number, count: number): boolean {
  for (let from = 0; from < text.length; ) {
    const found = text.indexOf('\n', from)
    const to = found === -1 ? text.length : found
    if (taking.number >= offset) keep(taking, text.slice(from, to), taking.number === offset ? column : 1)
    taking.at += to - from
    if (taking.size > ENOUGH) {
      taking.lines.push(closeLine(taking))
      return true
    }
    if (found === -1) return false
    if (taking.number >= offset) taking.lines.push(closeLine(taking))
    taking.number++
    taking.at = 0
    from = found + 1
    if (taking.lines.length >= count) return true
  }
  return false
}

function keep(taking: Taking, part: string, column: number): void {
  const skip = Math.min(part.length, Math.max(0, column - 1 - taking.at))
  taking.skipped += skip
  taking.open += part.slice(skip)
  taking.size += part.length - skip
}

/** What was skipped is there as blanks, so that a column still counts from the beginning of the line. */
function closeLine(taking: Taking): string {
  const line = ' '.repeat(taking.skipped) + taking.open.replace(/\r$/, '')
  taking.open = ''
  taking.skipped = 0
  return line
}
