import * as z from 'zod/mini'
import type { Tool } from '../core/ports.ts'
import { itIs, look } from '../os/open-file.ts'
import { cancelled, failed, said } from './answer.ts'
import { listing } from './listing.ts'
import { locatedFile } from './located.ts'
import { nearby } from './nearby.ts'
import { shownPath } from './shown-path.ts'

const input = z.object({
  path: z.optional(z.string().check(z.describe('Folder (the working directory)'))),
  limit: z.optional(z.number().check(z.describe('Entries at most (500)'))),
})
type Input = z.infer<typeof input>

/** Lists a folder, hidden and ignored entries too. */
export const ls: Tool<Input> = {
  name: 'ls',
  about: 'List one folder with sizes and link targets. To look further down use `find`.',
  input,
  prepare: async ({ path = '.', limit }, here) => {
    const real = locatedFile(path, here.cwd)
    const shown = shownPath(real, here)
    const looked = await look(real)
    const { kind } = looked
    const near = kind === 'nothing' ? await nearby(real, here) : null
    const accesses = [real, ...(near ? [near.folder] : [])].map((each) => ({ kind: 'read' as const, path: each }))
    if (near) return { accesses, refused: `There is nothing at ${shown}.${near.text}` }
    if (kind !== 'folder') return { accesses, refused: kind === 'file' ? `${shown} is a file, not a folder. Read it with \`read\`.` : `${shown} cannot be listed: ${itIs(looked)}.` }
    return {
      accesses,
      changes: [],
      run: async (signal) => {
        if (signal.aborted) return cancelled()
        const listed = await listing(real, limit)
        return listed.ok ? said(listed.text) : failed(`${shown} could not be listed: ${listed.why}.`)
      },
    }
  },
}
