import { hintsIn, redact } from './redact.ts'

/** Takes secrets out of text that arrives in pieces. */
export interface Redactor {
  /** What can be said of the text so far; the rest waits for what comes. */
  write(text: string): string
  end(): string
}

/** Of one line so much waits at most: a file of one endless line must not fill the memory. */
const LONGEST = 64 * 1024

/** Lines that are whole are given on at once. Of one that is not, what may be the beginning of a secret waits, and so does a private key until its end. */
export function redactor(known: readonly string[] = []): Redactor {
  let waiting = ''
  return {
    write(text) {
      waiting += text
      const cut = safeCut(waiting)
      const given = waiting.slice(0, cut)
      waiting = waiting.slice(cut)
      return given === '' ? '' : redact(given, known)
    },
    end() {
      const rest = waiting
      waiting = ''
      return redact(rest, known)
    },
  }
}

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g

function safeCut(text: string): number {
  const [begin, end] = [last(KEY_BEGIN, text), last(KEY_END, text)]
  if (begin && (!end || end.index < begin.index) && text.length - begin.index < LONGEST) return begin.index
  const line = Math.max(text.lastIndexOf('\n') + 1, text.lastIndexOf('\r') + 1, end ? end.index + end[0].length : 0)
  const rest = text.slice(line)
  if (rest.length > LONGEST) return text.length - LONGEST / 16
  if (rest.includes('-----BEGIN') || hintsIn(rest)) return line
  // A secret has no blanks in it, and what belongs to one in front of it is a hint.
  return line + Math.max(rest.lastIndexOf(' '), rest.lastIndexOf('\t')) + 1
}

const last = (pattern: RegExp, text: string): RegExpExecArray | undefined => [...text.matchAll(pattern)].at(-1)
