/**
 * The columns of a text: string-width, which is read only when a text is more than letters of one column each, with colours.
 * The build puts it in the place of string-width, for Ink and its like too: five copies of an older one, which could disagree with ours.
 */
export default function stringWidth(text, options) {
  if (options === undefined && typeof text === 'string') {
    const plain = text.includes('\x1b') ? text.replace(COLOUR, '') : text
    if (NARROW.test(plain)) return plain.length
  }
  return require('../node_modules/string-width/index.js').default(text, options)
}

const COLOUR = /\x1b\[[\d;]*m/g
export const NARROW = /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u25fc\u2713\u2717\u276f\u2800-\u28ff]*$/
