import { lineAt, splitLines } from '../core/lines.ts'
import type { Prepared } from '../core/ports.ts'
import { byteLength } from '../core/cap.ts'
import { failed, withNotes } from './answer.ts'
import type { Before } from './file-before.ts'
import { readText } from './read-text.ts'

const SMALL_LINES = 300
const SMALL_BYTES = 12 * 1024
const AROUND = 15

/**
 * The file is no longer what the model saw. Nothing is changed; the answer shows what it is now (all of a small file, else the part that
 * the change is about), and counts as seen: so that the next try needs no other call, and does not go round in circles.
 */
export function changedSince({ path, shown, bytes, sha256, decoded }: Before, about: readonly string[]): Prepared {
  const lines = splitLines(decoded.text)
  const small = lines.length <= SMALL_LINES && byteLength(decoded.text) <= SMALL_BYTES
  const page = small ? {} : { offset: Math.max(1, lineOf(decoded.text, about) - AROUND), limit: 2 * AROUND + 1 }
  return {
    accesses: [{ kind: 'read', path }],
    changes: [],
    run: async () => {
      const fresh = readText({ path, shown, bytes, sha256 }, page)
      const what = small ? 'It now reads:' : 'Here it now reads:'
      return {
        ...failed(withNotes(`${shown} was not changed: it has changed since it was read, by a command or by somebody else. ${what}\n${fresh?.text ?? ''}`, ['You have now seen this: send the change again, made for it'])),
        ...(fresh?.seen ? { seen: fresh.seen } : {}),
      }
    },
  }
}

/** Where the first of the texts is, or its first telling line; else the beginning. */
function lineOf(text: string, about: readonly string[]): number {
  for (const wanted of about.flatMap((each) => [each, ...each.split('\n').filter((line) => line.trim().length > 3)])) {
    const at = text.indexOf(wanted)
    if (wanted !== '' && at !== -1) return lineAt(text)(at)
  }
  return 1
}
