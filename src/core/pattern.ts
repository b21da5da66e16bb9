/** A regular expression of JavaScript that a line is tried with. */
export interface LinePattern {
  source: string
  flags: string
  /** What was made of a pattern that is none. */
  note?: string
}

export type Compiled = { ok: true; pattern: LinePattern } | { ok: false; why: string }

/** What models write, who learned their patterns from grep, ripgrep and Python, as one that JavaScript takes. */
export function compilePattern(written: string, ignoreCase: boolean): Compiled {
  if (written === '') return { ok: false, why: '`pattern` is empty.' }
  if (/\n|(?<!\\)(?:\\\\)*\\n/.test(written)) return { ok: false, why: '`pattern` has a line break, but a line at a time is searched, so it could match nowhere. Search for one of the lines, with `context` for those around it.' }
  const [, inline = '', rest = ''] = /^(?:\(\?([imsu]+)\))?([\s\S]*)$/.exec(written) ?? []
  const i = ignoreCase || inline.includes('i') ? 'i' : ''
  const source = rest.replace(/\[:(\^?)(\w+):\]/g, (whole, not: string, name: string) => (not === '' ? (POSIX[name] ?? whole) : whole)).replace(NEEDLESS, (escape) => escape.slice(1))
  for (const [tried, flags] of [[source, `u${i}`], [source, i]] as const) {
    if (flags.includes('u') || !STRANGE.test(tried)) if (isPattern(tried, flags)) return { ok: true, pattern: { source: tried, flags } }
  }
  const literal = written.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return { ok: true, pattern: { source: literal, flags: `u${i}`, note: 'The pattern is not a valid regular expression, so it was searched for as plain text.' } }
}

function isPattern(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) instanceof RegExp
  } catch {
    return false
  }
}

/** Escapes that say nothing, but that the strict mode refuses. In a class `\-` says something. */
const NEEDLESS = /\\[^\w\s^$\\.*+?()[\]{}|/-]/g
/** Letters that other dialects give a meaning, and that the lenient mode would take for themselves. */
const STRANGE = /(?<!\\)(?:\\\\)*\\[AZzGKQEhHRXaeyimoqg<>]/

const POSIX: Readonly<Record<string, string>> = {
  alpha: 'a-zA-Z', digit: '0-9', alnum: 'a-zA-Z0-9', upper: 'A-Z', lower: 'a-z', space: '\\s', blank: ' \\t', word: '\\w', xdigit: '0-9A-Fa-f', punct: '!-\\/:-@\\[-`\\{-~', print: ' -~', graph: '!-~', cntrl: '\\x00-\\x1f\\x7f',
}
