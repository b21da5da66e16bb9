import * as z from 'zod/mini'
import { cap } from '../core/cap.ts'
import type { Output, Tool } from '../core/ports.ts'
import { visibleName } from '../core/visible.ts'
import { leadsElsewhere } from '../os/real-path.ts'
import { listFiles } from '../os/search.ts'
import { cancelled, failed, moved, plural, said, withNotes } from './answer.ts'
import { locatedFile } from './located.ts'
import { searchable } from './searchable.ts'
import { shownPath } from './shown-path.ts'

const USUAL = 500
const MOST = 1_900

const input = z.object({
  pattern: z.string().check(z.describe('Glob: `*.ts` at any depth, `src/**/*.ts`; with `/` at the end, folders')),
  path: z.optional(z.string().check(z.describe('Folder to look in'))),
  limit: z.optional(z.number().check(z.describe('Paths at most (500)'))),
})
type Input = z.infer<typeof input>

/** Finds files by name; what ignore files leave out is left out here. */
export const find: Tool<Input> = {
  name: 'find',
  about: 'Find files by name. Passes over what .gitignore leaves out, unless `path` is in it.',
  input,
  prepare: async ({ pattern, path = '.', limit = USUAL }, here) => {
    const real = locatedFile(path, here.cwd)
    const place = await searchable(real, here)
    if ('refused' in place) return place
    if (place.kind === 'file') return { accesses: place.accesses, refused: `${shownPath(real, here)} is a file. Name the folder to look in; to search the text of a file use \`grep\`.` }
    return {
      accesses: place.accesses,
      changes: [],
      run: async (signal): Promise<Output> => {
        if (leadsElsewhere(real)) return moved(shownPath(real, here))
        const walked = await listFiles({ start: real, root: here.root, glob: pattern.trim() === '' ? '**' : pattern.trim(), folders: namesFolders(pattern) }, signal)
        if ('ended' in walked) return walked.ended === 'cancelled' ? cancelled() : failed(`The search broke off${'why' in walked ? `: ${walked.why}` : ''}.`)
        const prefix = real === here.cwd ? '' : `${shownPath(real, here)}/`.replace('//', '/')
        const most = Math.max(1, Math.min(Math.trunc(limit), MOST))
        const { text, cut } = cap(walked.paths.slice(0, most).map((each) => prefix + visibleName(each)).join('\n'), 'head', { bytes: 48 * 1024 })
        const left = Math.max(0, walked.paths.length - most) + (cut?.lines ?? 0)
        const nothing = walked.paths.length === 0 && `Nothing in ${shownPath(real, here)} has a name like ${visibleName(pattern)}`
        return said(withNotes(text, [
          nothing,
          left > 0 && `${plural(left, 'path')} of ${walked.paths.length} left out: narrow pattern or path, or raise limit (at most ${MOST})`,
          walked.cut && 'There are more files than were looked through: narrow path',
          walked.unreadable > 0 && `${plural(walked.unreadable, 'folder')} could not be listed`,
        ]))
      },
    }
  },
}

/** `**` and `src/*` are about files; a name may be that of a folder. */
const namesFolders = (pattern: string): boolean => !/(?:^|\/)\*+$/.test(pattern)
