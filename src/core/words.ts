/** The words of a rule for commands, as a shell would split them: quotes and `\` keep blanks and stars as they are. */
export interface Word {
  text: string
  /** Nothing of it was quoted, so that `*` means something. */
  bare: boolean
}

export function words(line: string): Word[] {
  const found: Word[] = []
  let now: Word | null = null
  let quote: string | null = null
  for (let index = 0; index < line.length; index++) {
    const character = line[index] ?? ''
    if (quote === null && /\s/.test(character)) {
      if (now) found.push(now)
      now = null
      continue
    }
    now ??= { text: '', bare: true }
    if (quote === null && (character === '"' || character === "'")) {
      quote = character
      now.bare = false
    } else if (character === quote) quote = null
    else if (character === '\\' && quote !== "'" && index + 1 < line.length) {
      now.text += line[++index] ?? ''
      now.bare = false
    } else now.text += character
  }
  if (now) found.push(now)
  return found
}

/** Words as one line that splits into the same words, none of them a pattern. */
export const written = (all: readonly string[]): string => all.map((word) => (/^[\w@%+=:,./~^-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`)).join(' ')
