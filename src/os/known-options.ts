import type { Word } from './shell-word.ts'

/**
 * The options of a program that are known to do no harm. `short`: letters; after one, `:` takes a value, `<` a file
 * to read, `?` a value only in the same word. `long`: names; at the end `=` takes a value (`==` two), `<` a file, `?` perhaps one after `=`,
 * `~` one after `=` and never the next word.
 */
export interface Options {
  short?: string
  long?: readonly string[]
  /** Options that are not listed are harmless, too, and take no value. */
  any?: boolean
}

export interface Arguments {
  operands: Word[]
  /** Files named by options. */
  files: Word[]
  /** Every option that was given (`-r`, `--recursive`) with the values it had. */
  given: ReadonlyMap<string, readonly string[]>
}

type Found = Arguments & { given: Map<string, string[]> }

/** null: an option that is not known, or a word of which is not known whether it is one. */
export function parseArguments(words: readonly Word[], options: Options): Arguments | null {
  const found: Found = { operands: [], files: [], given: new Map() }
  const queue = words.flatMap((word): Word[] => (word.values === null ? [word] : word.values.map((value) => ({ shown: value, values: [value] }))))
  for (let word = queue.shift(); word; word = queue.shift()) {
    const text = word.values?.[0]
    if (text === undefined) {
      if (options.any !== true) return null
      found.operands.push(word)
      continue
    }
    if (text === '--') {
      found.operands.push(...queue)
      break
    }
    const fits = text.startsWith('--') ? longOption(text, queue, options, found) : text.startsWith('-') && text !== '-' ? shortOptions(text.slice(1), queue, options, found) : (found.operands.push(word), true)
    if (!fits) return null
  }
  return found
}

function longOption(text: string, queue: Word[], { long = [], any }: Options, found: Found): boolean {
  const [, name = '', value] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(text) ?? []
  const listed = long.find((entry) => entry.replace(/[=<?~]+$/, '') === name)
  note(found, `--${name}`, value)
  if (!listed) return any === true
  const takes = listed.slice(name.length)
  if (takes === '' || takes === '?') return value === undefined || takes === '?'
  if (takes === '~') return value !== undefined
  if (value !== undefined) {
    if (takes === '<') found.files.push({ shown: value, values: [value] })
    return true
  }
  const taken = queue.splice(0, takes === '==' ? 2 : 1)
  note(found, `--${name}`, taken[0]?.shown)
  if (takes === '<') found.files.push(...taken)
  else found.operands.push(...taken.filter(isOpen))
  return true
}

function note({ given }: Found, option: string, value?: string): void {
  given.set(option, [...(given.get(option) ?? []), ...(value === undefined ? [] : [value])])
}

/** A value that is not known may become several words, so that the rest of it stands for operands. */
const isOpen = ({ values }: Word): boolean => values === null

function shortOptions(letters: string, queue: Word[], { short = '', any }: Options, found: Found): boolean {
  for (let index = 0; index < letters.length; index++) {
    const letter = letters[index] ?? ''
    const at = ':<?'.includes(letter) ? -1 : short.indexOf(letter)
    note(found, `-${letter}`)
    if (at < 0) {
      if (any !== true) return false
      continue
    }
    const takes = short[at + 1]
    const rest = letters.slice(index + 1)
    if (takes === '?') return true
    if (takes !== ':' && takes !== '<') continue
    const value = rest === '' ? queue.shift() : { shown: rest, values: [rest] }
    note(found, `-${letter}`, value?.shown)
    if (value && takes === '<') found.files.push(value)
    else if (value && isOpen(value)) found.operands.push(value)
    return true
  }
  return true
}
