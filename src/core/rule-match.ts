import { matchesGlob, matchesName } from './glob.ts'
import type { Access, Rule } from './record.ts'
import { words, type Word } from './words.ts'

export interface Ruling {
  rule?: Rule
  /** false: it would apply if a word that is only known at run time (`$x`) turned out so. */
  sure: boolean
}

/** The strictest rule that speaks of this access: deny beats ask beats allow, and what may apply beats what allows. */
export function ruleFor(access: Access, { rules, root }: { rules: readonly Rule[]; root: string }): Ruling {
  const stopping = (['deny', 'ask'] as const).flatMap((verdict) => rules.filter((rule) => rule.verdict === verdict))
  const sure = stopping.find((rule) => matches(rule, access, root))
  if (sure?.verdict === 'deny') return { rule: sure, sure: true }
  const maybe = access.kind === 'exec' && access.reads !== true ? stopping.find((rule) => rule.kind === 'exec' && spellings(access.argv).some((argv) => matchesAround(words(rule.match), argv, true))) : undefined
  if (maybe && !sure) return { rule: maybe, sure: false }
  const allowing = sure ?? rules.find((rule) => rule.verdict === 'allow' && matches(rule, access, root))
  return { ...(allowing ? { rule: allowing } : {}), sure: true }
}

/** A rule that allows must fit exactly; one that denies or asks also fits other spellings of the same thing. */
function matches(rule: Rule, access: Access, root: string): boolean {
  if (rule.kind !== access.kind) return false
  const strict = rule.verdict === 'allow'
  switch (access.kind) {
    case 'read':
    case 'write':
      return matchesPath(rule.match, access.path, root, strict)
    case 'exec':
      return strict ? matchesCommand(words(rule.match), access.argv) : spellings(access.argv).some((argv) => matchesCommand(words(rule.match), argv) || matchesAround(words(rule.match), argv))
    case 'net':
      return matchesName(rule.match.toLowerCase(), access.host.toLowerCase())
    case 'tool':
      return matchesName(rule.match, access.name)
  }
}

/** Relative to the root, or absolute. */
function matchesPath(match: string, path: string, root: string, strict: boolean): boolean {
  const anyCase = !strict
  if (match.startsWith('/')) return matchesGlob(match, path, { anyCase })
  const base = root === '/' ? '' : root
  return path.startsWith(`${base}/`) || path === root ? matchesGlob(match.replace(/^\.\//, ''), path.slice(base.length + 1), { anyCase }) : false
}

/** Word by word; a `*` inside a word stands for any text in it, a last `*` for zero or more words. */
function matchesCommand(rule: readonly Word[], argv: readonly string[]): boolean {
  const last = rule.at(-1)
  const open = last?.bare === true && last.text === '*'
  const fixed = open ? rule.slice(0, -1) : rule
  if (open ? argv.length < fixed.length : argv.length !== fixed.length) return false
  return fixed.every((word, index) => matchesWord(word, argv[index] ?? ''))
}

const matchesWord = (word: Word, text: string): boolean => (word.bare && word.text.includes('*') ? matchesName(word.text.replace(/[\\?[\]]/g, String.raw`\$&`), text) : word.text === text)

/**
 * `git push *` also means `git -C . --no-pager push`: between the words of a rule that stops something there may be
 * options, each with one value. With `perhaps`, a word that is only known at run time may be any, or several.
 */
function matchesAround(rule: readonly Word[], argv: readonly string[], perhaps = false): boolean {
  const last = rule.at(-1)
  const open = last?.bare === true && last.text === '*'
  const fixed = open ? rule.slice(0, -1) : rule
  const isOpen = (word: string): boolean => perhaps && /[$`]/.test(word)
  const from = (word: number, at: number): boolean => {
    const wanted = fixed[word]
    if (!wanted) return open || argv.slice(at).every(isOpen)
    for (let index = at; index < argv.length; index++) {
      const found = argv[index] ?? ''
      if (word > 0 && isOpen(found)) return true
      if (matchesWord(wanted, found) && from(word + 1, index + 1)) return true
      const skippable = word > 0 && (isOption(found) || (index > at && isOption(argv[index - 1])))
      if (!skippable) return false
    }
    return false
  }
  return fixed.length > 0 && from(0, 0)
}

const isOption = (word: string | undefined): boolean => word !== undefined && word.startsWith('-') && word !== '-'

/** A program by its path is the same program, for who wants to stop it. */
function spellings(argv: readonly string[]): (readonly string[])[] {
  const [program = '', ...rest] = argv
  const name = program.slice(program.lastIndexOf('/') + 1)
  return name === program ? [argv] : [argv, [name, ...rest]]
}
