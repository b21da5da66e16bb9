import { encode, unknownIn, type Decoded } from '../os/encoding.ts'

/** A text as the bytes of a file, or why it cannot be that and what to do instead. `what`: where the text came from, such as `new`. */
export function bytesFor(text: string, decoded: Decoded, what: string, instead: string): { bytes: Buffer } | { why: string } {
  const unknown = unknownIn(text, decoded)
  if (unknown.length > 0) return { why: `it is in an older encoding that is not known for certain, so that only ASCII can be added, and not ${unknown.slice(0, 5).join(' ')}. Write it in another way, or ${instead}.` }
  const encoded = encode(text, decoded)
  return 'cannot' in encoded ? { why: cannotHold(decoded.encoding, encoded.cannot, what, instead) } : encoded
}

function cannotHold(encoding: Decoded['encoding'], cannot: readonly string[], what: string, instead: string): string {
  const those = cannot.slice(0, 5).join(' ')
  if (cannot.some((each) => each.includes(' '))) return `\`${what}\` has ${those}, which no text file can hold. Most likely an escape was meant (\\\\0, \\\\u...): write its backslash, too.`
  return `it is in ${encoding}, which has no ${those}. Write it in another way, or ${instead}.`
}
