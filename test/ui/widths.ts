import fc from 'fast-check'
import stringWidth from 'string-width'

export const widest = (rows: readonly string[]): number => Math.max(0, ...rows.map((row) => stringWidth(row)))

/** Everything written out but SGR and OSC 8 links with a safe target is a leak. */
export const leaks = (text: string): string | null =>
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\u{e0000}-\u{e007f}]/u.exec(text.replace(/\x1b\[[0-9;]*m/g, '').replace(/\x1b\]8;;(?:(?:https?|file):\/\/[\x21-\x7e]*)?\x1b\\/g, ''))?.[0] ?? null

export const EVIL = 'a\u0007\u001b]52;c;Zm9v\u0007b\u001b[2Jc\u009b31m\u001b[?1049h\u001bPq\u001b\\\u202edcba\u2028\r\ne\u0000\u007f\u0085'

const word = fc.constantFrom('word', 'a', '', 'longer-word-than-most', '你好世界', '，', '👩‍👩‍👧', '❤️', 'é', 'ｶﾞ', '**bold**', '_em_', '`code`', '~~gone~~', '[text](https://example.com/a/b?c=d)', '[x](javascript:alert)', 'https://auto.example/path', '<b>', '&amp;', '|', '\t', '![i](file:///x)', 'x'.repeat(70), EVIL)
const line = fc.tuple(fc.constantFrom('', '# ', '### ', '- ', '  - ', '1. ', '    ', '> ', '> > ', '- [x] ', '| a | ', '|---|:-:|', '***', '```ts', '```', '10) '), fc.array(word, { maxLength: 8 })).map(([start, words]) => start + words.join(' '))
/** Markdown as a model may write it, wide characters and control sequences included. */
export const markdown = fc.array(line, { minLength: 1, maxLength: 14 }).map((lines) => lines.join('\n'))
export const columns = fc.integer({ min: 20, max: 200 })
