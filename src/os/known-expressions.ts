import type { Reads } from './known-commands.ts'
import { fixed, type Word } from './shell-word.ts'

/** `find` whose expression only looks: no -exec, -ok, -delete, -fprint, -fls, and no following of links. */
export function findReads(words: readonly Word[]): Reads | null {
  const texts = words.flatMap(({ values }): readonly (string | null)[] => values ?? [null])
  const known = texts.filter((text) => text !== null)
  // A word that is not known might be one of the actions.
  if (known.length < texts.length) return null
  const start = known.findIndex((text) => /^[-(!]/.test(text) && !/^-[HP]$/.test(text))
  const paths = known.slice(0, start < 0 ? known.length : start).filter((text) => text !== '-H' && text !== '-P')
  const expression = start < 0 ? [] : known.slice(start)
  for (let index = 0; index < expression.length; index++) {
    const text = expression[index] ?? ''
    if (TAKES_ONE.has(text) || /^-newer[aBcm][aBcmt]$/.test(text)) index++
    else if (!TAKES_NONE.has(text)) return null
  }
  return { paths: (paths.length > 0 ? paths : ['.']).map(fixed) }
}

const TAKES_ONE: ReadonlySet<string> = new Set([
  '-name', '-iname', '-path', '-ipath', '-wholename', '-iwholename', '-regex', '-iregex', '-regextype', '-type', '-xtype', '-size', '-mtime', '-atime', '-ctime', '-mmin', '-amin', '-cmin', '-newer', '-anewer', '-cnewer',
  '-maxdepth', '-mindepth', '-perm', '-user', '-group', '-uid', '-gid', '-links', '-inum', '-samefile', '-lname', '-ilname', '-printf', '-used', '-fstype', '-context',
])
const TAKES_NONE: ReadonlySet<string> = new Set([
  '-print', '-print0', '-ls', '-prune', '-quit', '-empty', '-true', '-false', '-depth', '-d', '-xdev', '-mount', '-readable', '-writable', '-executable', '-nouser', '-nogroup', '-daystart', '-not', '!', '-o', '-or', '-a', '-and', '(', ')', ',', '-noleaf', '-ignore_readdir_race', '-noignore_readdir_race', '-warn', '-nowarn',
])

/** `sed` whose script only prints, deletes, substitutes or quits; it could also write files and run commands. */
export function sedReads(words: readonly Word[]): Reads | null {
  const scripts: string[] = []
  const operands: Word[] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index]
    const text = word?.values?.length === 1 ? word.values[0] : undefined
    if (!word) continue
    if (text === undefined) {
      // A path that is not known, or several, once the script is.
      if (scripts.length === 0 || word.values === null || word.values.some((value) => value.startsWith('-'))) return null
      operands.push(word)
    } else if (/^-[nErsuz]+$/.test(text) || ['--quiet', '--silent', '--regexp-extended', '--separate', '--unbuffered', '--null-data', '--posix', '--debug'].includes(text)) continue
    else if (/^-[nErsuz]*e$/.test(text)) {
      const script = words[++index]
      if (script?.values?.length !== 1) return null
      scripts.push(script.shown)
    } else if (text.startsWith('-') && text !== '-') return null
    else if (scripts.length === 0) scripts.push(text)
    else operands.push(word)
  }
  return scripts.length > 0 && scripts.every(harmless) ? { paths: operands } : null
}

const REGEX = String.raw`\/(?:[^\/\\\n]|\\[^\n])*\/`
const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|${REGEX}I?)`
const SUBSTITUTION = String.raw`s([\/|#,:@])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI0-9]*`
const SCRIPT = new RegExp(String.raw`^(?:${ADDRESS}(?:, ?[+~]?${ADDRESS})?)? ?!? ?(?:[pdqQ=PDNnhHgGx]|${SUBSTITUTION})$`)

/** Command by command; a `;` inside a pattern makes it not known, which is no harm. */
const harmless = (script: string): boolean => script.split(/[;\n]/).map((command) => command.trim().replace(/\s+/g, ' ')).every((command) => command === '' || SCRIPT.test(command))
