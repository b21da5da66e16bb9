import { redact } from '../core/redact.ts'
import { redactor } from '../core/redact-stream.ts'
import type { ByteFilter } from '../os/output.ts'

/** How secrets are taken out of a command's output. */
export interface Redaction {
  text(text: string): string
  /** For a file that it streams to; bytes that are no text stay what they are. */
  bytes(): ByteFilter
}

export function redactionOf(known: readonly string[]): Redaction {
  const asBytes = known.map((secret) => Buffer.from(secret).toString('latin1'))
  return {
    text: (text) => redact(text, known),
    bytes: () => {
      const { write, end } = redactor(asBytes)
      return { write: (chunk) => Buffer.from(write(Buffer.from(chunk).toString('latin1')), 'latin1'), end: () => Buffer.from(end(), 'latin1') }
    },
  }
}
