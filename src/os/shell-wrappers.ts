import { fixed, open, type Word } from './shell-word.ts'

/** A program whose words are another command. */
export interface Wrapped {
  /** It adds nothing of its own to what the inner command does. */
  transparent: boolean
  inner?: Word[]
  /** The text of a command line, for this shell. */
  text?: string
  shell?: string
  /** What of it cannot be known. */
  unknown?: string
}

/** null: no wrapper, or one that is used for something else (`command -v`, `bash --version`). */
export function unwrap(name: string, words: readonly Word[]): Wrapped | null {
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined
  return wrapper?.(words, name) ?? null
}

type Unwrap = (words: readonly Word[], name: string) => Wrapped | null

const textOf = (word: Word | undefined): string | undefined => (word?.values?.length === 1 ? word.values[0] : undefined)

/**
 * Skips options and then `operands` words of the wrapper's own. `takes` are the options with a value in the next
 * word; one that is not in `flags` either makes it unknown.
 */
function after(words: readonly Word[], { flags = /^$/, takes = /^$/, operands = 0, transparent = true }: { flags?: RegExp; takes?: RegExp; operands?: number; transparent?: boolean }): Wrapped {
  let index = 0
  for (; index < words.length; index++) {
    const text = textOf(words[index])
    if (text === undefined || !text.startsWith('-') || text === '-') break
    if (text === '--') {
      index++
      break
    }
    if (takes.test(text)) index++
    else if (!flags.test(text)) return { transparent: false, unknown: `an option that may change what runs: ${text}`, inner: words.slice(index + 1) }
  }
  const inner = words.slice(index + operands)
  return inner.length > 0 ? { transparent, inner } : { transparent }
}

const shell: Unwrap = (words, name) => {
  const texts = words.map(textOf)
  const at = texts.findIndex((text) => text === undefined || !/^[-+]/.test(text) || text === '-o')
  const options = texts.slice(0, at < 0 ? texts.length : at)
  const dash = options.findIndex((text) => /^-[a-z]*c[a-z]*$/.test(text ?? ''))
  if (dash < 0) return null
  // Login and interactive shells read files first; -s reads commands from what comes in.
  const plain = options.every((text) => /^-[ceux]+$/.test(text ?? ''))
  const script = words.slice(dash + 1).find((word) => !(textOf(word) ?? '').startsWith('-'))
  const text = textOf(script)
  if (!plain || text === undefined || script !== words[dash + 1]) return { transparent: false, unknown: `what ${name} runs is only known when it runs`, ...(text === undefined ? {} : { text, shell: name }) }
  return { transparent: true, text, shell: name }
}

const env: Unwrap = (words) => {
  let index = 0
  let unknown: string | undefined
  for (; index < words.length; index++) {
    const text = textOf(words[index])
    if (text === undefined) unknown ??= 'env with words that are only known when it runs'
    else if (text === '-u' || text === '--unset') {
      unknown ??= 'env takes variables away, which may change what runs'
      index++
    } else if (/^\w+=/.test(text)) unknown ??= `env sets ${text.split('=', 1)[0] ?? ''}, which may change what runs`
    else if (text.startsWith('-') && text !== '--') unknown ??= `env with an option that may change what runs: ${text}`
    else if (text !== '--') break
  }
  const inner = words.slice(index)
  // Alone it shows the environment.
  if (inner.length === 0) return { transparent: false }
  return { transparent: unknown === undefined, inner, ...(unknown ? { unknown } : {}) }
}

/** What comes in becomes words of the command, or takes the place of a text in it, so any of these may be anything. */
const xargs: Unwrap = (words) => {
  const wrapped = after(words, { flags: /^(?:-[0rtx]|-[nPLIsdEi].*|--null|--no-run-if-empty|--verbose|--max-(?:args|procs|lines)=\d+|--replace.*|--delimiter=.*)$/, takes: /^-[nPLIsdEa]$/ })
  const texts = words.map((word) => textOf(word) ?? '')
  const replaced = texts.flatMap((text, index) => (text === '-I' ? [texts[index + 1] ?? ''] : /^(?:-[Ii]|--replace=?)([\s\S]*)$/.exec(text)?.[1] || []))
  const isReplaced = (word: Word): boolean => ['{}', ...replaced].some((text) => text !== '' && word.shown.includes(text))
  return { ...wrapped, inner: [...(wrapped.inner ?? [fixed('echo')]).map((word) => (isReplaced(word) ? open(word.shown) : word)), open('…')] }
}

/** `find … -exec command {} ;`: the rest of the words is the command, and `{}` any file. null: it runs none. */
const find: Unwrap = (words) => {
  const texts = words.map(textOf)
  const inner: Word[][] = []
  for (let index = 0; index < words.length; index++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(texts[index] ?? '')) continue
    const length = words.slice(index + 1).findIndex((word) => ['+', ';'].includes(textOf(word) ?? ''))
    const end = length < 0 ? words.length : index + 1 + length
    inner.push(words.slice(index + 1, end).map((word) => (word.shown.includes('{}') ? open(word.shown) : word)))
    index = end
  }
  const [first, ...more] = inner
  if (!first) return null
  return { transparent: false, inner: first, ...(more.length > 0 ? { unknown: 'find runs more than one command' } : {}) }
}

const asked = (operands = 0, takes = /^-[a-zA-Z]$/): Unwrap => (words) => after(words, { flags: /^-/, takes, operands, transparent: false })

const WRAPPERS: Readonly<Record<string, Unwrap>> = {
  bash: shell, sh: shell, dash: shell, zsh: shell, ksh: shell,
  env, xargs, find,
  time: (words) => after(words, { flags: /^-[pv]$/ }), nohup: (words) => after(words, {}), nice: (words) => after(words, { flags: /^-(?:\d+|n.+)$/, takes: /^-n$/ }), ionice: (words) => after(words, { flags: /^-[cn]\d$/, takes: /^-[cn]$/ }),
  timeout: (words) => after(words, { flags: /^(?:--foreground|--preserve-status|-v|--verbose|-[ks].+|--kill-after=.+|--signal=.+)$/, takes: /^-[ks]$/, operands: 1 }), stdbuf: (words) => after(words, { flags: /^-[ioe].+$/, takes: /^-[ioe]$/ }),
  command: (words) => (/^-[vV]/.test(textOf(words[0]) ?? '') ? null : after(words, {})), builtin: (words) => after(words, {}), exec: (words) => after(words, {}),
  // These run it as somebody else, elsewhere, or out of reach: looked into, and not free.
  sudo: asked(0, /^-[ugCprtTh]$/), doas: asked(0, /^-[uC]$/), setsid: asked(0, /^$/), chroot: asked(1), unshare: asked(), watch: asked(0, /^-n$/), strace: asked(0, /^-[eopPsuEaOSXb]$/), caffeinate: asked(0, /^-[tw]$/), flock: asked(1, /^-[wE]$/), script: asked(),
  eval: () => ({ transparent: false, unknown: 'eval runs a text as a command' }), source: () => ({ transparent: false, unknown: 'it runs the commands of a file' }), '.': () => ({ transparent: false, unknown: 'it runs the commands of a file' }),
}
