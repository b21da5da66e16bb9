import { cap, MAX_BYTES, MAX_LINES } from '../core/cap.ts'
import { redrawn } from '../core/redrawn.ts'
import { sanitize } from '../core/sanitize.ts'
import { characterLength, lengthAfter } from '../os/encoding.ts'
import type { Kept } from '../os/output.ts'
import { withoutPrelude } from '../os/shell-line.ts'

export interface CommandOutput {
  /** Valid text without control sequences, capped. */
  text: string
  /** Something was left out of the middle. */
  cut: boolean
  notes: string[]
}

/** Room for what is said below the output. */
const BYTES = MAX_BYTES - 4 * 1024
const LINES = MAX_LINES - 20
/** Of an output that is no text at all, this much shows what it is. */
const BINARY_BYTES = 1_000

/** What a command wrote, for a model: progress lines as they were last, no control sequences, no secrets, the beginning and the end of it. */
export function commandOutput(kept: Kept, redact = (text: string): string => text): CommandOutput {
  const whole = kept.cut === 0
  const parts = whole ? [decode(Buffer.concat([kept.head, kept.tail]))] : [decode(beforeCut(kept.head)), decode(afterCut(kept.tail))]
  const odd = parts.reduce((sum, part) => sum + part.odd, 0)
  const seen = kept.head.length + kept.tail.length
  if (odd > 100 && odd > seen / 10) return binary(kept)
  // Before it is cut: half of a secret has no form any more.
  const [first = '', last] = parts.map((part) => redact(clean(part.text)))
  const notes = odd > 0 ? [`${odd === 1 ? 'one byte is' : `${odd} bytes are`} not UTF-8 text, written here as \\xNN`] : []
  if (last === undefined) {
    const { text, cut } = cap(first, 'ends', { lines: LINES, bytes: BYTES })
    return { text, cut: cut !== null, notes }
  }
  const [head, tail] = [cap(first, 'head', { lines: LINES / 2, bytes: BYTES / 2 }), cap(last, 'tail', { lines: LINES / 2, bytes: BYTES / 2 })]
  return { text: `${head.text}\n[… of ${kept.bytes} bytes only the beginning and the end are shown …]\n${tail.text}`, cut: true, notes }
}

function binary(kept: Kept): CommandOutput {
  const text = clean(decode(kept.head.subarray(0, BINARY_BYTES)).text)
  const shown = Math.min(BINARY_BYTES, kept.head.length)
  return { text, cut: kept.bytes > shown, notes: [`binary output, ${kept.bytes} bytes; the first ${shown} are shown, those that are not text as \\xNN`] }
}

/** As text; bytes that are no UTF-8, and NUL, are written out and counted. */
function decode(bytes: Buffer): { text: string; odd: number } {
  if (!bytes.includes(0)) {
    try {
      return { text: STRICT.decode(bytes), odd: 0 }
    } catch {
      // some of it is not: piece by piece
    }
  }
  const pieces: string[] = []
  let odd = 0
  for (let at = 0, from = 0; at <= bytes.length;) {
    const length = at < bytes.length && bytes[at] !== 0 ? characterLength(bytes, at) : 0
    if (length > 0) {
      at += length
      continue
    }
    if (at > from) pieces.push(bytes.toString('utf8', from, at))
    if (at < bytes.length) {
      pieces.push(`\\x${(bytes[at] ?? 0).toString(16).padStart(2, '0')}`)
      odd++
    }
    from = ++at
  }
  return { text: pieces.join(''), odd }
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Without a last character of which only a part is there. */
export function beforeCut(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc0) return lengthAfter(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** Without the rest of a first character whose beginning is gone. */
export function afterCut(bytes: Buffer): Buffer {
  let skip = 0
  while (skip < Math.min(3, bytes.length) && ((bytes[skip] ?? 0) & 0xc0) === 0x80) skip++
  return bytes.subarray(skip)
}

/** Without control sequences, and with progress as it was last, of one line or of several. */
export const clean = (text: string): string => sanitize(withoutPrelude(typedOver(redrawn(text.replace(UNENDED, '')))))

/** The beginning of a title or the like that does not end on its line: a terminal would swallow all that follows, a result must not. */
const UNENDED = /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])(?![^\n\x07\x9c]{0,500}?(?:\x07|\x1b\\|\x9c))/g

/** A backspace takes the character before it away: spinners and old manual pages. */
function typedOver(text: string): string {
  if (!text.includes('\b')) return text
  const kept: string[] = []
  for (const char of text) {
    if (char !== '\b') kept.push(char)
    else if (kept.length > 0 && kept.at(-1) !== '\n') kept.pop()
  }
  return kept.join('')
}
