import * as z from 'zod/mini'
import { coarsePattern } from '../core/coarse-pattern.ts'
import { compilePattern, type LinePattern } from '../core/pattern.ts'
import type { Here, Output, Tool } from '../core/ports.ts'
import { isSecret } from '../core/sensitive.ts'
import { visibleName } from '../core/visible.ts'
import { leadsElsewhere } from '../os/real-path.ts'
import { findRipgrep } from '../os/ripgrep.ts'
import { searchLines, type Ended, type Found } from '../os/search.ts'
import { cancelled, failed, moved, plural, said, withNotes } from './answer.ts'
import { grepText } from './grep-text.ts'
import { locatedFile } from './located.ts'
import { searchable } from './searchable.ts'
import { shownPath } from './shown-path.ts'

const USUAL = 200
const MOST = 1_000
const MOST_CONTEXT = 20

const input = z.object({
  pattern: z.string(),
  path: z.optional(z.string().check(z.describe('Folder or file'))),
  glob: z.optional(z.string().check(z.describe('Only files like `*.ts`, `src/**` or `!*.test.ts`'))),
  ignoreCase: z.optional(z.boolean()),
  context: z.optional(z.number().check(z.describe('Lines around each match'))),
  limit: z.optional(z.number().check(z.describe('Matching lines at most (200)'))),
})
type Input = z.infer<typeof input>

/** Searches the lines of files; with ripgrep where it is installed, and with the same answers where it is not. */
export const grep: Tool<Input> = {
  name: 'grep',
  about: 'Search file contents for a regular expression, line by line; gives matching lines with their numbers. Passes over what .gitignore leaves out, unless `path` is in it.',
  input,
  prepare: async ({ pattern, path = '.', ...how }, here) => {
    const real = locatedFile(path, here.cwd)
    const place = await searchable(real, here)
    if ('refused' in place) return place
    const compiled = compilePattern(pattern, how.ignoreCase ?? false)
    if (!compiled.ok) return { accesses: [], refused: compiled.why }
    return { accesses: place.accesses, changes: [], run: (signal) => search(real, place.kind, compiled.pattern, how, here, signal) }
  },
}

async function search(real: string, kind: 'file' | 'folder', pattern: LinePattern, { glob, context = 0, limit = USUAL }: Omit<Input, 'pattern' | 'path'>, here: Here, signal: AbortSignal): Promise<Output> {
  if (leadsElsewhere(real)) return moved(shownPath(real, here))
  let kept = 0
  // A folder that had to be asked for was approved with what is in it, but for secrets.
  const approved = here.mayRead?.(real) === 'ask'
  const select = (path: string): boolean => {
    const verdict = here.mayRead?.(path) ?? 'ask'
    const may = verdict === 'allow' || (verdict === 'ask' && (approved || !here.mayRead) && !isSecret(path))
    if (!may) kept++
    return may
  }
  const program = findRipgrep(here.root)
  const coarse = program === null ? null : coarsePattern(pattern)
  const found = await searchLines({
    within: kind === 'file' ? { files: [real] } : { start: real, root: here.root, glob, select },
    ...pattern, context: Math.max(0, Math.min(Math.trunc(context), MOST_CONTEXT)), limit: Math.max(1, Math.min(Math.trunc(limit), MOST)),
    ...(program !== null && coarse !== null ? { ripgrep: { program, pattern: coarse } } : {}),
  }, signal)
  if ('ended' in found) return brokenOff(found, here)
  const { text, matches, cut } = grepText(found.files, here)
  return said(withNotes(text, [
    pattern.note, matches === 0 && !cut && nothing(real, glob, found, here), cut, found.more && more(matches, limit),
    found.binary > 0 && `${plural(found.binary, 'binary file')} not searched`,
    found.unreadable > 0 && `${plural(found.unreadable, 'file')} could not be read`,
    kept > 0 && `${plural(kept, 'file')} not searched, because reading there is not allowed unasked: to search one, name it as path`,
    found.walked.cut && 'There are more files than were looked through: narrow path',
    found.walked.unreadable > 0 && `${plural(found.walked.unreadable, 'folder')} could not be listed`,
  ]))
}

const more = (matches: number, limit: number): string => `There are more matching lines than these ${matches}: narrow pattern, path or glob${limit < MOST ? `, or raise limit (at most ${MOST})` : ''}`

const nothing = (real: string, glob: string | undefined, { searched }: Found, here: Here): string =>
  `No line matches in ${shownPath(real, here)}${glob === undefined ? '' : ` in files like ${visibleName(glob)}`} (${plural(searched, 'file')} searched)`

function brokenOff(ended: Ended, here: Here): Output {
  switch (ended.ended) {
    case 'cancelled':
      return cancelled()
    case 'broken':
      return failed(`The search broke off: ${ended.why}.`)
    case 'stalled': {
      const { text } = grepText(ended.rows, here)
      return failed(withNotes(text, [`The search was ended in ${shownPath(ended.path, here)}: the pattern takes too long there. The files after it were not searched. Write the pattern so that no repetition stands inside another one, such as (a+)+, or leave this file out with glob`]))
    }
  }
}
