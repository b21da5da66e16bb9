/**
 * The first frame, painted before anything is loaded: this file imports nothing. What it prints is what the screen
 * prints first (start.tsx calls `headLines` and `statusText` too), so that the hand-over changes nothing that is seen.
 * Keys typed meanwhile are kept for the editor; Ctrl+C works as it will later: it clears, and twice on nothing it leaves.
 */

export interface Head {
  version: string
  /** As a person writes it: `~/src/thing`. */
  folder: string
  branch: string | null
  model: string | null
  mode: string
  colour: boolean
}

/** Between the first paint and Ink. */
export interface FirstPaint {
  /** Ends the watch over the keyboard. What was typed, and the bytes that take the painted frame away again; nothing of both the second time. */
  handOver: () => { early: string[]; erase: string }
}

interface Input {
  setRawMode: (on: boolean) => unknown
  setEncoding: (encoding: 'utf8') => unknown
  on: (event: 'data', listener: (chunk: string) => void) => unknown
  off: (event: 'data', listener: (chunk: string) => void) => unknown
  resume: () => unknown
}
interface Output {
  columns: number
  write: (text: string) => unknown
}

export const PROMPT = '> '
const SHOW_CURSOR = '\x1b[?25h'
const PASTE_ON = '\x1b[?2004h'
const PASTE_OFF = '\x1b[?2004l'

/** `leave` ends the process; the terminal is clean then. */
export function firstPaint(head: Head, input: Input, output: Output, leave: () => void): FirstPaint {
  const columns = output.columns > 0 ? output.columns : 80
  const above = [...headLines(head, columns), '']
  let early: string[] = []
  let typed = ''
  let interrupted = -Infinity

  const cursor = (): string => `\r\x1b[${PROMPT.length + typed.length}C`
  const onData = (chunk: string): void => {
    const cancel = chunk.lastIndexOf('\x03')
    if (cancel < 0) {
      early.push(chunk)
      return echo(chunk)
    }
    const now = performance.now()
    const again = chunk.indexOf('\x03') !== cancel || (early.length === 0 && now - interrupted < 1_000)
    if (again) {
      output.write(`${clear()}${PASTE_OFF}${SHOW_CURSOR}`)
      input.setRawMode(false)
      return leave()
    }
    interrupted = early.length === 0 ? now : -Infinity
    early = chunk.length > cancel + 1 ? [chunk.slice(cancel + 1)] : []
    output.write(`\r\x1b[${PROMPT.length}C\x1b[K`)
    typed = ''
  }
  /** Plain typing shows at once; all else waits for the editor. */
  const echo = (chunk: string): void => {
    if (!/^[\x20-\x7e]+$/.test(chunk) || typed.length !== early.join('').length - chunk.length || typed.length + chunk.length > columns - 4) return
    typed += chunk
    output.write(chunk)
  }
  /** Row by row: to erase the whole screen at once would move it into the scrollback of tmux. */
  const clear = (): string => `\x1b[1B${'\x1b[2K\x1b[1A'.repeat(above.length + 1)}\r\x1b[2K`

  input.setRawMode(true)
  input.setEncoding('utf8')
  input.on('data', onData)
  input.resume()
  output.write(`${PASTE_ON}${above.map((line) => `${line}\n`).join('')}${PROMPT}\n${statusText(head, columns)}\x1b[1A${cursor()}`)
  let isHere = true
  return {
    handOver: () => {
      if (!isHere) return { early: [], erase: '' }
      isHere = false
      input.off('data', onData)
      return { early, erase: clear() }
    },
  }
}

/** Who is speaking, where, and with which model: one row each, never wider than the screen. */
export function headLines({ version, folder, branch, model, colour }: Head, columns: number): string[] {
  const name = `Tiller ${version}`
  const where = cut(` · ${harmless(folder)}${branch === null ? '' : ` (${harmless(branch)})`}`, columns - 1 - name.length)
  const what = cut(harmless(model ?? 'no model yet'), columns - 1)
  return colour ? [`\x1b[1m${name}\x1b[22m\x1b[2m${where}\x1b[22m`, `\x1b[2m${what}\x1b[22m`] : [name + where, what]
}

/** The row under the editor while nothing goes on. */
export function statusText({ mode, model, folder, branch, colour }: Head, columns: number): string {
  const parts: Part[] = [
    { text: mode, keep: 9 },
    { text: model ?? 'no model', keep: 8 },
    { text: `${folder}${branch === null ? '' : ` (${branch})`}`, keep: 3 },
    { text: '? for keys', keep: 1 },
  ]
  const text = fitParts(parts, columns - 1)
  return colour ? `\x1b[2m${text}\x1b[22m` : text
}

/** A piece of a one-row text; where there is too little room the one with the lowest `keep` goes first. */
export interface Part {
  text: string
  keep: number
}

export function fitParts(parts: readonly Part[], columns: number): string {
  let kept = parts.map(({ text, keep }) => ({ text: harmless(text), keep })).filter(({ text }) => text !== '')
  const joined = (): string => kept.map(({ text }) => text).join(' · ')
  while (kept.length > 1 && width(joined()) > columns) {
    const least = Math.min(...kept.map(({ keep }) => keep))
    kept = kept.filter(({ keep }) => keep !== least)
  }
  return cut(joined(), columns)
}

/** A folder and a branch can be called anything (T16). The rest of the screen uses core/sanitize.ts, which is not loaded yet. */
const harmless = (text: string): string => text.replace(/[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, '')

/** Wide characters count two: rather too short than a row too many. */
const width = (text: string): number => Array.from(text).reduce((sum, each) => sum + (each <= '~' || each === '·' || each === '…' ? 1 : 2), 0)

function cut(text: string, columns: number): string {
  if (width(text) <= columns) return text
  let kept = ''
  for (const each of text) {
    if (width(kept + each) > columns - 1) break
    kept += each
  }
  return columns < 1 ? '' : `${kept}…`
}
