import { readdirSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

const MOST = 1_000

/**
 * The words that bash would make of a glob now, in each folder it may stand in; null: too many, or not certain.
 * Quoted characters come with a backslash. Without a match bash hands on the pattern itself.
 */
export function expandGlob(pattern: string, cwds: readonly string[] | null): string[] | null {
  if (/\[\[|\[[:.=]/.test(pattern) || (pattern.match(/\*/g)?.length ?? 0) > 8) return null
  if (isAbsolute(pattern)) return expandIn(pattern, '/')
  if (cwds === null) return null
  const all = new Set<string>()
  for (const cwd of cwds) {
    const found = expandIn(pattern, cwd)
    if (!found) return null
    for (const word of found) all.add(word)
  }
  return all.size > MOST ? null : [...all]
}

function expandIn(pattern: string, cwd: string): string[] | null {
  const rooted = isAbsolute(pattern)
  let found = [rooted ? '/' : '']
  for (const part of pattern.split('/').filter((name, index) => name !== '' || index > 0)) {
    if (part === '') continue
    const matcher = /(?<!\\)[*?[]/.test(part) ? matcherOf(part) : null
    if (matcher === 'odd') return null
    const next: string[] = []
    for (const folder of found) {
      if (!matcher) next.push(join2(folder, plain(part)))
      else next.push(...names(rooted ? folder : join(cwd, folder)).filter((name) => (!name.startsWith('.') || part.startsWith('.')) && matcher.test(name)).map((name) => join2(folder, name)))
      if (next.length > MOST) return null
    }
    found = next
  }
  const existing = found.filter((word) => exists(rooted ? word : join(cwd, word)))
  return existing.length > 0 ? existing : [plain(pattern)]
}

const plain = (part: string): string => part.replace(/\\([\s\S])/g, '$1')
const join2 = (folder: string, name: string): string => (folder === '' || folder.endsWith('/') ? folder + name : `${folder}/${name}`)

function names(folder: string): string[] {
  try {
    return ['.', '..', ...readdirSync(folder === '' ? '.' : folder)]
  } catch {
    return []
  }
}

function exists(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch {
    // A dangling link is a match as well, and nothing to read.
    return false
  }
}

/** One name of a path. Bash compares in the order of the locale, so a class of letters takes both cases. */
export function nameMatcher(pattern: string): RegExp | null {
  const matcher = matcherOf(pattern)
  return matcher === 'odd' ? null : matcher
}

function matcherOf(part: string): RegExp | 'odd' {
  const source = part.replace(/\\([\s\S])|\[([!^]?)(\]?[^\]]*)\]|([*?])|([.+^${}()|[\]/])/g, (whole, escaped: string | undefined, not: string | undefined, set: string | undefined, wild: string | undefined, special: string | undefined) => {
    if (escaped !== undefined) return escaped.replace(/[.+^${}()|[\]\\/*?]/g, String.raw`\$&`)
    if (set !== undefined) return not ? '[^]' : `[${set.replace(/[\\\]^[]/g, String.raw`\$&`)}]`
    if (wild) return wild === '*' ? '[^]*' : '[^]'
    return special ? `\\${special}` : whole
  })
  try {
    return new RegExp(`^${source}$`, 'iu')
  } catch {
    return 'odd'
  }
}
