/**
 * Globs of rules, exact and without regular expressions, so that no pattern can stall a decision.
 * `*` and `?` stay in one name, `**` crosses folders, `[ab]`, `[!a]`, `{a,b}`, `\` takes the next character as it is.
 * Names that begin with a dot are names like any other. `dir/**` also means `dir` itself.
 */
export function matchesGlob(glob: string, path: string, options: { anyCase?: boolean } = {}): boolean {
  const fold = (text: string): string => (options.anyCase ? text.toLowerCase() : text)
  const names = split(fold(path))
  return braces(fold(glob)).some((pattern) => isAbsolute(pattern) === isAbsolute(path) && matchesNames(split(pattern), names))
}

/** One name against one pattern without `/`. */
export const matchesName = (pattern: string, name: string): boolean => star(Array.from(tokens(pattern)), Array.from(name), (token) => token === '*', matchesToken)

/** A path as a glob that matches it and nothing else. */
export const escapeGlob = (path: string): string => path.replace(/[\\*?[\]{}]/g, String.raw`\$&`)

const isAbsolute = (path: string): boolean => path.startsWith('/')
const split = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.')

const matchesNames = (patterns: readonly string[], names: readonly string[]): boolean => star(patterns, names, (pattern) => pattern === '**', matchesName)

/** Greedy with one step back: linear in patterns times items. */
function star<P, T>(patterns: readonly P[], items: readonly T[], isStar: (pattern: P) => boolean, matches: (pattern: P, item: T) => boolean): boolean {
  let p = 0
  let i = 0
  let back: { p: number; i: number } | null = null
  while (i < items.length) {
    const pattern = patterns[p]
    if (p < patterns.length && isStar(pattern as P)) {
      back = { p: ++p, i }
      continue
    }
    if (p < patterns.length && matches(pattern as P, items[i] as T)) {
      p++
      i++
      continue
    }
    if (!back) return false
    back = { p: back.p, i: back.i + 1 }
    p = back.p
    i = back.i
  }
  return patterns.slice(p).every(isStar)
}

/** A character to be there as it is, any one, or one of a class. */
type Token = '*' | '?' | { literal: string } | { not: boolean; ranges: [from: string, to: string][] }

function matchesToken(token: Token, character: string): boolean {
  if (token === '*') return false
  if (token === '?') return true
  if ('literal' in token) return token.literal === character
  return token.ranges.some(([from, to]) => from <= character && character <= to) !== token.not
}

function* tokens(pattern: string): Generator<Token> {
  const characters = Array.from(pattern)
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? ''
    if (character === '\\' && index + 1 < characters.length) yield { literal: characters[++index] ?? '' }
    else if (character === '*' || character === '?') yield character
    else if (character === '[') {
      const found = characterClass(characters, index)
      yield found ? found.token : { literal: '[' }
      if (found) index = found.end
    } else yield { literal: character }
  }
}

/** `[a-z]`, `[!a]`, `[^a]`; null: the bracket is never closed and stands for itself. */
function characterClass(characters: readonly string[], start: number): { token: Token; end: number } | null {
  let index = start + 1
  const not = characters[index] === '!' || characters[index] === '^'
  if (not) index++
  const ranges: [string, string][] = []
  for (const first = index; index < characters.length; index++) {
    const from = characters[index] ?? ''
    if (from === ']' && index > first) return { token: { not, ranges }, end: index }
    const to = characters[index + 2]
    if (characters[index + 1] === '-' && to !== undefined && to !== ']') {
      ranges.push([from, to])
      index += 2
    } else ranges.push([from, from])
  }
  return null
}

const MOST_PATTERNS = 256

/** `a{b,c}` -> `ab`, `ac`. A pattern that would become too many matches nothing more than its first ones. */
function braces(glob: string): string[] {
  const found = firstBraces(glob)
  if (!found) return [glob]
  const all: string[] = []
  for (const part of found.parts) {
    if (all.length >= MOST_PATTERNS) break
    all.push(...braces(glob.slice(0, found.from) + part + glob.slice(found.to + 1)))
  }
  return all.slice(0, MOST_PATTERNS)
}

function firstBraces(glob: string): { from: number; to: number; parts: string[] } | null {
  const open: { at: number; commas: number[] }[] = []
  for (let index = 0; index < glob.length; index++) {
    const character = glob[index]
    if (character === '\\') index++
    else if (character === '{') open.push({ at: index, commas: [] })
    else if (character === ',') open.at(-1)?.commas.push(index)
    else if (character === '}') {
      const { at, commas } = open.pop() ?? { at: -1, commas: [] }
      if (commas.length === 0) continue
      const cuts = [at, ...commas, index]
      return { from: at, to: index, parts: cuts.slice(1).map((cut, part) => glob.slice((cuts[part] ?? 0) + 1, cut)) }
    }
  }
  return null
}
