import type { Encoding } from '../os/encoding.ts'

/** Why a text cannot become the bytes of a file, and what to do instead. `what`: where the text came from, such as `new`. */
export function cannotHold(encoding: Encoding, cannot: readonly string[], what: string, instead: string): string {
  const those = cannot.slice(0, 5).join(' ')
  if (cannot.some((each) => each.includes(' '))) return `\`${what}\` has ${those}, which no text file can hold. Most likely an escape was meant (\\\\0, \\\\u...): write its backslash, too.`
  return `it is in ${encoding}, which has no ${those}. Write it in another way, or ${instead}.`
}
