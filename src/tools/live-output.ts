import { afterCut, clean } from './command-output.ts'

const EVERY_MS = 100
const MOST_BYTES = 16 * 1024

export interface LiveOutput {
  write: (chunk: Uint8Array) => void
  /** Shows what is left, and nothing from then on. */
  end(): void
}

/** Shows output while it comes, a few times a second, whole lines, in bounded memory: of a flood only the newest part. */
export function liveOutput(show: (text: string) => void): LiveOutput {
  let waiting: Buffer = Buffer.alloc(0)
  let unfinished = ''
  let timer: NodeJS.Timeout | undefined
  let decoder = new TextDecoder()
  let isOver = false
  const flush = (): void => {
    timer = undefined
    const text = unfinished + decoder.decode(waiting, { stream: true })
    waiting = Buffer.alloc(0)
    const end = text.lastIndexOf('\n') + 1
    // A line without its end is shown when nothing else is: a prompt, or a progress line.
    const shown = end > 0 ? text.slice(0, end) : `${text}\n`
    unfinished = end > 0 ? text.slice(end) : ''
    const line = clean(shown)
    if (line.trim() !== '') show(line)
  }
  return {
    write(chunk) {
      if (isOver) return
      waiting = Buffer.concat(chunk.length < MOST_BYTES ? [waiting, chunk] : [chunk.subarray(-MOST_BYTES - 1)]) // the one byte more: something was left out
      if (waiting.length > MOST_BYTES) {
        waiting = afterCut(waiting.subarray(-MOST_BYTES))
        decoder = new TextDecoder()
      }
      timer ??= setTimeout(flush, EVERY_MS).unref()
    },
    end() {
      isOver = true
      clearTimeout(timer)
      if (waiting.length > 0 || unfinished !== '') flush()
    },
  }
}
