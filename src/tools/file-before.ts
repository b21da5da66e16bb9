import type { Here, Refused } from '../core/ports.ts'
import type { Access, Seen } from '../core/record.ts'
import { isRedacted } from '../core/redact.ts'
import { decode, describeBinary, type Decoded } from '../os/encoding.ts'
import { MOST_BYTES, readWhole } from '../os/files.ts'
import { itIs, look } from '../os/open-file.ts'
import { size } from './listing.ts'
import { shownPath } from './shown-path.ts'

/** A text file that is to be changed, as it is now. */
export interface Before {
  path: string
  shown: string
  bytes: Buffer
  sha256: string
  decoded: Decoded
  /** What the model saw of it last, which may have been other bytes. */
  seen: Seen | undefined
  keep: Here['keep']
}

/** null: there is nothing at this path. What cannot be changed is refused with the reason, and what to do instead. */
export async function fileBefore(path: string, here: Here): Promise<Before | Refused | null> {
  const shown = shownPath(path, here)
  const accesses: Access[] = [{ kind: 'read', path }]
  const refuse = (refused: string): Refused => ({ refused, accesses })
  const looked = await look(path)
  const { kind, stat } = looked
  if (kind === 'nothing') return null
  if (kind === 'folder') return refuse(`${shown} is a folder. Name a file.`)
  if (kind === 'other') return refuse(`${shown} cannot be changed: ${itIs(looked)}.`)
  if ((stat?.size ?? 0) > MOST_BYTES) return refuse(`${shown} is ${size(stat?.size ?? 0)} large, too large to be changed here. Use a command that streams, such as \`sed -i\`, with \`shell\`.`)
  const got = await readWhole(path, here.signal)
  if (!got.ok) return refuse(`${shown} could not be read: ${got.why}.`)
  const decoded = decode(got.bytes)
  if (!decoded) return refuse(`${shown} is ${describeBinary(got.bytes)}, and as text its bytes could not be kept. Change it with a program for that, with \`shell\`; or remove it and write it anew.`)
  return { path, shown, bytes: got.bytes, sha256: got.sha256, decoded, seen: here.seen(path), keep: here.keep }
}

/** What a tool shows has placeholders for secrets: written back they would take the place of what they stand for. */
export const losesSecret = ({ decoded }: Before, text: string): boolean => isRedacted(text) && !isRedacted(decoded.text)
