import { extendedMatch, Fzf } from 'fzf'

/**
 * Finds texts by what a person remembers of them: each word of the query as letters in their order, in any order of the words. Only what is close is
 * found: letters that are scattered over a long text are there by chance. A piece at a time, so that a list of any length can be gone through.
 */
export interface Fuzzy<T> {
  /** How many pieces there are. */
  pieces: number
  find: (piece: number, query: string) => Scored<T>[]
}

export interface Scored<T> {
  item: T
  score: number
}

/** About 5 ms of work. */
const PIECE = 1_000
/** What a letter that stands alone in the middle of nowhere counts is 16, less for each one that is passed over; in one piece they count more. */
const CLOSE = 14

export function fuzzy<T>(items: readonly T[], text: (item: T) => string): Fuzzy<T> {
  const finders = new Map<number, Fzf<readonly Entry<T>[]>>()
  const finder = (piece: number): Fzf<readonly Entry<T>[]> => {
    const made = finders.get(piece) ?? new Fzf(items.slice(piece * PIECE, (piece + 1) * PIECE).map((item) => ({ item, text: text(item) })), { selector: textOf, casing: 'case-insensitive', fuzzy: 'v1', match: extendedMatch, sort: false })
    finders.set(piece, made)
    return made
  }
  return {
    pieces: Math.ceil(items.length / PIECE),
    find: (piece, query) => {
      const words = wordsOf(query)
      const letters = words.join('').length
      return letters === 0 ? [] : finder(piece).find(words.join(' ')).filter(({ score }) => score >= CLOSE * letters).map(({ item: { item }, score }) => ({ item, score }))
    },
  }
}

interface Entry<T> {
  item: T
  text: string
}

const textOf = <T,>({ text }: Entry<T>): string => text

/** Signs that mean something to the matcher are letters to a person. */
const wordsOf = (query: string): string[] => query.split(/\s+/).map((word) => word.replace(/^[!^']+|[$|]+$/g, '')).filter(Boolean)

/** Best first; of equals, the one that stood first. */
export const ranked = <T>(found: readonly Scored<T>[]): T[] => found.toSorted((one, other) => other.score - one.score).map(({ item }) => item)
