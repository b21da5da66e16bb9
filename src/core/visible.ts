import { sanitize } from './sanitize.ts'

/**
 * A file's name or content for a model and a screen: what is invisible or would steer a terminal is written out (`\x1b`, `\u{202e}`),
 * so that nothing is lost and nothing acts. Tabs and line breaks stay; in a name they are written out as well.
 */
export function visible(text: string): string {
  return sanitize(text.replace(UNSEEN, writeOut))
}

export const visibleName = (name: string): string => visible(name.replace(/[\t\n\r]/g, (char) => (char === '\t' ? '\\t' : char === '\n' ? '\\n' : '\\r')))

export const hasUnseen = (text: string): boolean => text.search(UNSEEN) !== -1

/** What `visible` made, back to what it was: what a model copied from a result. */
export const unwritten = (text: string): string =>
  text.replace(/\\x([0-9a-f]{2})|\\u\{([0-9a-f]{4,5})\}/g, (_, byte: string | undefined, code: string | undefined) => String.fromCodePoint(parseInt(byte ?? code ?? '0', 16)))

/** The same for bytes that are no UTF-8. */
export const strayed = (text: string): string => text.replace(/\\x([89a-f][0-9a-f])/g, (_, byte: string) => String.fromCharCode(0xdc00 + parseInt(byte, 16)))

// A CR right before an LF is a line ending, not content.
const UNSEEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ud800-\udfff\u{e0000}-\u{e007f}]|\r(?!\n)/gu

function writeOut(char: string): string {
  const found = char.codePointAt(0) ?? 0
  // So `decode` keeps a byte that is no UTF-8.
  const code = found >= 0xdc80 && found <= 0xdcff ? found - 0xdc00 : found
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16).padStart(4, '0')}}`
}
