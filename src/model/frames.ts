/** One server-sent event. */
export interface Frame {
  event?: string
  data: string
}

export interface FrameReader {
  push(text: string): void
  /** The stream is over: what is there without its blank line counts as well. */
  end(): void
}

/**
 * Reads server-sent events the way real servers write them: any line ending, no blank after the colon, comments
 * anywhere, a last event without its blank line, events with no blank line between them. What is no event goes to `noise`.
 */
export function createFrameReader(onFrame: (frame: Frame) => void, noise: (line: string) => void): FrameReader {
  const lineEnd = /\r\n|\n|\r/g
  let rest = ''
  let scanned = 0
  let afterReturn = false
  let event: string | undefined
  let lines: string[] = []

  const flush = (): void => {
    if (lines.length > 0) for (const data of separate(lines)) onFrame(event === undefined ? { data } : { event, data })
    event = undefined
    lines = []
  }
  const take = (line: string): void => {
    if (line === '') return flush()
    if (line.startsWith(':')) return
    const match = /^(data|event|id|retry)(?::[ ]?|$)/.exec(line)
    if (!match) return noise(line)
    const value = line.slice(match[0].length)
    if (match[1] === 'data') lines.push(value)
    else if (match[1] === 'event') event = value
  }

  return {
    push(text) {
      if (afterReturn && text.startsWith('\n')) text = text.slice(1)
      afterReturn = text.endsWith('\r')
      const all = rest + text
      let from = 0
      lineEnd.lastIndex = scanned
      for (let match = lineEnd.exec(all); match; match = lineEnd.exec(all)) {
        take(all.slice(from, match.index))
        from = match.index + match[0].length
      }
      rest = all.slice(from)
      if (rest.length > LONGEST) throw new Error('a line of more than 64 MB')
      scanned = rest.length
    },
    end() {
      if (rest !== '') take(rest)
      rest = ''
      flush()
    },
  }
}

const LONGEST = 64 * 1024 * 1024

/** Several `data` lines are one value, unless only each of them alone is JSON. */
function separate(lines: string[]): string[] {
  const whole = lines.join('\n')
  if (lines.length === 1 || isJson(whole)) return [whole]
  return lines.every((line) => line === '[DONE]' || isJson(line)) ? lines : [whole]
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
