import * as z from 'zod/mini'
import { applyEdits, NAMES, type Replaced } from '../core/edit.ts'
import { splitLines } from '../core/lines.ts'
import type { Here, Prepared, Refused, Tool } from '../core/ports.ts'
import type { Seen } from '../core/record.ts'
import { plural } from './answer.ts'
import { bytesFor } from './cannot-hold.ts'
import { changeFile } from './change-file.ts'
import { changedSince } from './changed-since.ts'
import { fileBefore, losesSecret, type Before } from './file-before.ts'
import { locatedFile } from './located.ts'
import { nearby } from './nearby.ts'
import { shownPath } from './shown-path.ts'

const input = z.object({
  path: z.string(),
  edits: z
    .array(
      z.object({
        old: z.string().check(z.describe('Exactly as in the file, with enough around it to be unique')),
        new: z.string(),
        all: z.optional(z.boolean().check(z.describe('Replace every occurrence'))),
      }),
    )
    .check(z.minLength(1)),
})
type Input = z.infer<typeof input>

/** Replaces texts in a file that was read: all of them or none. */
export const edit: Tool<Input> = {
  name: 'edit',
  about: 'Replace text in a file that was read. All edits of a file belong in one call: each is matched against the file as it was before, and all are made or none. Encoding and line endings are kept.',
  input,
  prepare: async ({ path, edits }, here) => {
    const real = locatedFile(path, here.cwd)
    const before = await fileBefore(real, here)
    if (!before) return noSuchFile(real, here)
    if ('refused' in before) return before
    const accesses = [{ kind: 'read' as const, path: real }]
    if (!before.seen) return { accesses, refused: `${before.shown} was not changed: it was not read in this session. Read it first, at least around the place.` }
    if (before.seen.sha256 !== before.sha256) return changedSince(before, edits.map(({ old }) => old))
    // Where the file begins with a byte order mark, that is not part of its text.
    const plain = before.decoded.bom ? edits.map((each) => ({ ...each, old: withoutMark(each.old), new: withoutMark(each.new) })) : edits
    const lost = plain.find((each) => losesSecret(before, each.new))
    if (lost) return { accesses, refused: `${before.shown} was not changed: \`new\` holds a placeholder that stands for a secret, and the secret would be lost. Edit around it.` }
    const edited = applyEdits(before.decoded.text, plain)
    if (!edited.ok) return { accesses, refused: `${before.shown} was not changed. ${edited.why}` }
    return prepareEdit(before, edited.text, edited.places)
  },
}

async function noSuchFile(real: string, here: Here): Promise<Refused> {
  const { folder, text } = await nearby(real, here)
  return { accesses: [real, folder].map((each) => ({ kind: 'read' as const, path: each })), refused: `There is no file ${shownPath(real, here)}.${text} To make a new file use \`write\`.` }
}

const withoutMark = (text: string): string => text.replace(/^\ufeff/, '')

async function prepareEdit(before: Before, text: string, places: readonly Replaced[]): Promise<Prepared | Refused> {
  const { path, shown, decoded, sha256, seen } = before
  const encoded = bytesFor(text, decoded, 'new', 'convert the file first (`iconv`, with `shell`)')
  if ('why' in encoded) return { accesses: [{ kind: 'read', path }], refused: `${shown} was not changed: ${encoded.why}` }
  // Of line endings the model has been told to send plain ones.
  const loose = [...new Set(places.map(({ match }) => match))].filter((match) => match !== 'exact' && match !== 'endings')
  return changeFile({
    path, shown, before: { sha256, text: decoded.text, bytes: before.bytes }, bytes: encoded.bytes, text,
    done: `Edited ${shown}: ${describe(places)}.`,
    notes: [...loose.map((match) => `\`old\` was not in the file exactly, and was found by overlooking ${NAMES[match]}`), foreignIndentation(decoded.text, text)],
    seen: seenAfter(seen, decoded.text, text), keep: before.keep,
  })
}

/** New lines that are indented as no line of the file was. */
function foreignIndentation(before: string, after: string): string | null {
  const [tabs, blanks] = [/^\t+\S/gm, /^ {2,}[^\s*]/gm] as const
  const count = (text: string, lines: RegExp): number => text.match(lines)?.length ?? 0
  if (count(before, tabs) > 2 && count(before, blanks) === 0 && count(after, blanks) > 0) return 'The file indents with tabs; lines that you added begin with blanks: send them again with tabs'
  if (count(before, blanks) > 2 && count(before, tabs) === 0 && count(after, tabs) > 0) return 'The file indents with blanks; lines that you added begin with tabs: send them again with blanks'
  return null
}

/** `line 12 (+3 -1), line 40 (+1 -1)` */
function describe(places: readonly Replaced[]): string {
  const shown = places.slice(0, 10).map(({ line, added, removed }) => `line ${line} (+${added} -${removed})`)
  return places.length > shown.length ? `${plural(places.length, 'place')}, ${shown.join(', ')} and ${places.length - shown.length} more` : shown.join(', ')
}

/** Who saw all of it knows all of it still; of a part, as many lines more or fewer. */
function seenAfter(seen: Seen | undefined, before: string, after: string): Omit<Seen, 'path' | 'sha256'> {
  const [had, has] = [before, after].map((text) => splitLines(text).length) as [number, number]
  if (!seen?.lines || seen.whole) return { whole: seen?.whole ?? false, ...(seen?.whole ? { lines: { from: 1, to: has, of: has } } : {}) }
  return { whole: false, lines: { from: Math.min(seen.lines.from, has), to: Math.max(0, Math.min(has, seen.lines.to + has - had)), of: has } }
}
