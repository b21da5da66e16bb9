import type { LinePattern } from './pattern.ts'

/**
 * A pattern for ripgrep, on bytes, that matches wherever the given one does, and maybe elsewhere: with it ripgrep finds the files that are worth
 * a look, whatever their encoding, and the answer is the same as without it. null: there is none worth having.
 */
export function coarsePattern({ source, flags }: LinePattern): string | null {
  const reader: Reader = { source, flags, at: 0 }
  const coarse = alternatives(reader)
  return coarse === null || reader.at < source.length ? null : `(?${flags.includes('i') ? 'i' : ''}-u)${coarse}`
}

interface Reader {
  source: string
  flags: string
  at: number
}

/** One character that is not ASCII: in UTF-8, or one byte in an older encoding. */
const FOREIGN = '[\\x80-\\xff]{1,4}'
const ANYTHING = '[\\x00-\\x09\\x0b-\\xff]*'

function alternatives(reader: Reader): string | null {
  const options: string[] = []
  do {
    const option = sequence(reader)
    if (option === null) return null
    options.push(option)
  } while (take(reader, '|'))
  return options.length === 1 ? (options[0] ?? '') : `(?:${options.join('|')})`
}

function sequence(reader: Reader): string | null {
  let all = ''
  while (reader.at < reader.source.length && reader.source[reader.at] !== '|' && reader.source[reader.at] !== ')') {
    const one = atom(reader)
    if (one === null) return null
    const repeated = quantifier(reader)
    all += one === '' ? '' : one + repeated
  }
  return all
}

/** '' where it is a place, not a character: an anchor, a word boundary, a look around. */
function atom(reader: Reader): string | null {
  const group = /^\((?:\?(?:[:=!]|<[=!]|<[^>]+>))?/.exec(reader.source.slice(reader.at, reader.at + 200))?.[0]
  if (group !== undefined) return groupOf(reader, group)
  if (take(reader, '^') || take(reader, '$')) return ''
  const rest = reader.source.slice(reader.at)
  if (/^\\[bB]/.test(rest)) return skip(reader, 2, '')
  const back = /^\\(?:[1-9]\d*|k<[^>]+>)/.exec(rest)?.[0]
  if (back !== undefined) return skip(reader, back.length, ANYTHING)
  const one = /^(?:\[(?:\\[\s\S]|[^\]\\])*\]|\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[A-Za-z]|\\[pP]\{[^}]*\}|\\[^ux]|[^\\[])/u.exec(rest)?.[0]
  if (one === undefined) return null
  reader.at += one.length
  return character(one, reader.flags)
}

function groupOf(reader: Reader, open: string): string | null {
  if (reader.source[reader.at + 1] === '?' && open === '(') return null
  reader.at += open.length
  const inner = alternatives(reader)
  if (inner === null || !take(reader, ')')) return null
  return /^\(\?<?[=!]$/.test(open) ? '' : `(?:${inner})`
}

function quantifier(reader: Reader): string {
  const found = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(reader.source.slice(reader.at, reader.at + 40))?.[0] ?? ''
  reader.at += found.length
  return found
}

/** What JavaScript itself says that this matches, of ASCII; and every other character, if it may match any of them. */
function character(one: string, flags: string): string | null {
  let matcher: RegExp
  try {
    matcher = new RegExp(`^${one}$`, flags)
  } catch {
    return null
  }
  const bytes: string[] = []
  for (let code = 0; code < 0x80; code++) if (code !== 0x0a && matcher.test(String.fromCharCode(code))) bytes.push(`\\x${code.toString(16).padStart(2, '0')}`)
  const foreign = /[^\x00-\x7f]|^\[\^|\\[pPuWDSsx]|^\.$/.test(one) || (flags.includes('i') && /[ksKS[\]]|\\w/.test(one))
  const ascii = bytes.length === 0 ? '' : bytes.length === 1 ? (bytes[0] ?? '') : `[${bytes.join('')}]`
  if (ascii === '') return foreign ? `(?:${FOREIGN})` : null
  return foreign ? `(?:${ascii}|${FOREIGN})` : ascii
}

function take(reader: Reader, char: string): boolean {
  if (reader.source[reader.at] !== char) return false
  reader.at++
  return true
}

function skip<T>(reader: Reader, length: number, value: T): T {
  reader.at += length
  return value
}
