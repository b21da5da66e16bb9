import * as z from 'zod/mini'
import { rebuild } from '../core/edit-rebuild.ts'
import { splitLines } from '../core/lines.ts'
import type { Here, Prepared, Refused, Tool } from '../core/ports.ts'
import { plural, said } from './answer.ts'
import { bytesFor } from './cannot-hold.ts'
import { changeFile } from './change-file.ts'
import { changedSince } from './changed-since.ts'
import { fileBefore, losesSecret, type Before } from './file-before.ts'
import { size } from './listing.ts'
import { located } from './located.ts'
import { LONGEST_LINE } from './read-page.ts'
import { shownPath } from './shown-path.ts'

const input = z.object({
  path: z.string().check(z.describe('Missing folders are made')),
  content: z.string(),
})
type Input = z.infer<typeof input>

/** Makes a file, or replaces all of one that was read to its end. */
export const write: Tool<Input> = {
  name: 'write',
  about: 'Write a whole file: a new one, or one that was read completely. To change a part use `edit`.',
  input,
  prepare: async ({ path, content }, here) => {
    const real = located(path, here.cwd)
    if (path.endsWith('/')) return { accesses: [], refused: `${shownPath(real, here)}/ names a folder. Name a file in it.` }
    const before = await fileBefore(real, here)
    if (!before) return newFile(real, content, here)
    return 'refused' in before ? before : overwrite(before, content)
  },
}

async function newFile(path: string, content: string, here: Here): Promise<Prepared | Refused> {
  const shown = shownPath(path, here)
  const encoded = bytesFor(content, { encoding: 'utf-8', bom: false, text: '' }, 'content', '')
  if ('why' in encoded) return { accesses: [], refused: `${shown} was not written: ${encoded.why}` }
  const lines = splitLines(content).length
  return changeFile({
    path, shown, before: null, bytes: encoded.bytes, text: content,
    done: `Made ${shown}: ${plural(lines, 'line')}, ${size(encoded.bytes.length)}.`, notes: [writtenOut(content)],
    seen: { whole: true, lines: { from: 1, to: lines, of: lines } }, keep: here.keep,
  })
}

async function overwrite(before: Before, content: string): Promise<Prepared | Refused> {
  const { path, shown, sha256, decoded, bytes } = before
  const accesses = [{ kind: 'read' as const, path }]
  const text = asBefore(before, decoded.bom ? content.replace(/^\ufeff/, '') : content)
  const encoded = bytesFor(text, decoded, 'content', 'remove the file first, and write it anew as UTF-8')
  if ('why' in encoded) return { accesses, refused: `${shown} was not written: ${encoded.why}` }
  if (encoded.bytes.equals(bytes)) return { accesses, changes: [], run: async () => said(`${shown} already holds exactly this; nothing was changed.`) }
  if (decoded.stray) return { accesses, refused: `${shown} was not written: it has ${plural(decoded.stray, 'byte')} that ${decoded.stray === 1 ? 'is' : 'are'} not UTF-8 and would be lost. Change what is around them with \`edit\`; or, if they should go, remove the file and write it anew.` }
  if (losesSecret(before, text)) return { accesses, refused: `${shown} was not written: \`content\` holds a placeholder that stands for a secret in the file, and the secret would be lost. Change what is around it with \`edit\`.` }
  const unseen = bytes.length === 0 ? null : whyUnseen(before)
  if (unseen !== null) return unseen === 'changed' ? changedSince(before, []) : { accesses, refused: `${shown} was not written: ${unseen}` }
  const lines = splitLines(text).length
  return changeFile({
    path, shown, before: { sha256, text: decoded.text, bytes }, bytes: encoded.bytes, text,
    done: `Wrote ${shown}: ${plural(lines, 'line')}, ${size(encoded.bytes.length)}.`,
    notes: [kept(before, text !== content), writtenOut(content)],
    seen: { whole: true, lines: { from: 1, to: lines, of: lines } }, keep: before.keep,
  })
}

/** Nothing is overwritten that the model has not seen, nor what somebody else changed since. */
function whyUnseen({ seen, sha256, decoded }: Before): string | null {
  const all = splitLines(decoded.text)
  const lines = all.length
  if (!seen) return `it exists (${plural(lines, 'line')}) and was not read in this session. Read it first, then write it or change a part with \`edit\`.`
  if (seen.sha256 !== sha256) return 'changed'
  if (seen.whole) return null
  const shown = seen.lines ? Math.max(0, seen.lines.to - seen.lines.from + 1) : 0
  const next = all[seen.lines?.to ?? 0]?.text.length ?? 0
  if (next > LONGEST_LINE) return `its line ${(seen.lines?.to ?? 0) + 1} has ${next} characters, too many to be shown whole, and what you have not seen would be lost. Change a part with \`edit\`.`
  return `you have seen ${shown} of ${plural(lines, 'line')}, and the rest would be lost. Change a part with \`edit\`; or read the rest first${seen.lines && seen.lines.to < seen.lines.of ? ` (offset ${seen.lines.to + 1})` : ''}.`
}

/** Line breaks as the file had them, line by line; a CR in the content is taken as it is. */
function asBefore({ decoded: { text } }: Before, content: string): string {
  if (content.includes('\r') || !text.includes('\r')) return content
  const old = splitLines(text).map(({ text, ending }) => text + (ending === '' ? '' : '\n')).join('')
  return rebuild({ text, start: 0, end: text.length, old, new: content, exact: false }) ?? content
}

/** What a model that escapes twice makes of a text of several lines. */
const writtenOut = (content: string): string | false =>
  !/\n(?!$)/.test(content) && (content.match(/\\n/g)?.length ?? 0) > 2 && 'It is one line with \\n written out in it. If line breaks were meant, send it again with them escaped once, not twice'

function kept({ decoded: { encoding, bom } }: Before, endings: boolean): string | false {
  const things = [encoding !== 'utf-8' && `encoding (${encoding})`, bom && 'byte order mark', endings && 'line endings'].filter((thing) => typeof thing === 'string')
  return things.length > 0 && `Kept as they were: ${things.join(', ')}`
}
