/**
 * Text from a model, a tool, a file name or a server, made safe for a terminal, a window title and a log:
 * no control sequence, no invisible reordering. Call it where text comes in; Ink is only the second line.
 */
export function sanitize(text: string, keep: { sgr?: boolean } = {}): string {
  if (!SUSPECT.test(text)) return text
  return text
    .replace(/\r\n/g, '\n')
    .replace(/^.*\r(?!$)/gm, '') // a progress line: what was last written over it
    .replace(/\r/g, '')
    .replace(CONTROLS, (match, parameters: string | undefined, between: string | undefined, final: string | undefined) => {
      if (keep.sgr && final === 'm' && !between && /^[0-9;:]*$/.test(parameters ?? '')) return match
      return REORDERING.test(match) ? '\uFFFD' : ''
    })
}

const SUSPECT = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\u{e0000}-\u{e007f}]/u
const REORDERING = /^[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]$/
const END_OF_STRING = '(?:\\x07|\\x1b\\\\|\\x9c)'
const CONTROLS = new RegExp(
  [
    // OSC, DCS, SOS, PM, APC up to their end; one without an end takes the rest of this text with it
    `(?:\\x1b[\\]PX^_]|[\\x90\\x98\\x9d-\\x9f])[\\s\\S]*?(?:${END_OF_STRING}|$)`,
    '(?:\\x1b\\[|\\x9b)([0-?]*)([ -/]*)([@-~])?',
    '\\x1b[ -/]*[0-~]?',
    '[\\x00-\\x08\\x0b-\\x1a\\x1c-\\x1f\\x7f-\\x9f]',
    '[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029\\ufeff\\u{e0000}-\\u{e007f}]',
  ].join('|'),
  'gu',
)
