import * as z from 'zod/mini'
import type { Blobs, Here, Output, Tool } from '../core/ports.ts'
import { describeBinary } from '../os/encoding.ts'
import { readLines } from '../os/file-window.ts'
import { MOST_BYTES, readWhole } from '../os/files.ts'
import { itIs, look, openFile } from '../os/open-file.ts'
import { cancelled, failed, said } from './answer.ts'
import { listing, size } from './listing.ts'
import { locatedFile } from './located.ts'
import { nearby } from './nearby.ts'
import { readImage } from './read-image.ts'
import { PAGE_LINES } from './read-page.ts'
import { readText, readWindow } from './read-text.ts'
import { shownPath } from './shown-path.ts'

const input = z.object({
  path: z.string().check(z.describe('File, or a folder to list')),
  offset: z.optional(z.number().check(z.describe('First line, from 1; negative: from the end'))),
  limit: z.optional(z.number().check(z.describe('Lines at most'))),
  column: z.optional(z.number().check(z.describe('First character, to go on in a line that was cut'))),
  numbers: z.optional(z.boolean().check(z.describe('Show line numbers'))),
})
type Input = z.infer<typeof input>

/** Reads a page of a text file, an image or a folder; what it shows of a text file is remembered as seen. */
export const read = ({ blobs }: { blobs: Blobs }): Tool<Input> => ({
  name: 'read',
  about: 'Read a text file, an image or a folder. Needed before `edit` or `write` of a file that exists. Long files come in pages; remarks in [brackets] below the text are not part of it.',
  input,
  prepare: async ({ path, ...page }, here) => {
    const real = locatedFile(path, here.cwd)
    const shown = shownPath(real, here)
    const looked = await look(real)
    const { kind, stat } = looked
    const near = kind === 'nothing' ? await nearby(real, here) : null
    const accesses = [real, ...(near ? [near.folder] : [])].map((each) => ({ kind: 'read' as const, path: each }))
    if (near) return { accesses, refused: `There is no file ${shown}.${near.text}` }
    if (kind === 'other') return { accesses, refused: `${shown} cannot be read: ${itIs(looked)}.` }
    return {
      accesses,
      changes: [],
      run: async (signal) => {
        if (signal.aborted) return cancelled()
        if (kind === 'folder') return readFolder(real, shown, page.limit)
        if ((stat?.size ?? 0) > MOST_BYTES) return readHuge(real, shown, stat?.size ?? 0, page, signal)
        return readFile(real, shown, page, here, blobs, signal)
      },
    }
  },
})

async function readFolder(real: string, shown: string, limit?: number): Promise<Output> {
  const listed = await listing(real, limit)
  return listed.ok ? said(`${shown} is a folder with:\n${listed.text}`) : failed(`${shown} could not be listed: ${listed.why}.`)
}

async function readFile(real: string, shown: string, page: Omit<Input, 'path'>, here: Here, blobs: Blobs, signal: AbortSignal): Promise<Output> {
  const got = await readWhole(real, signal)
  if (!got.ok) return signal.aborted ? cancelled() : failed(`${shown} could not be read: ${got.why}.`)
  const image = await readImage(got.bytes, shown, here, blobs, signal)
  if (image) return image
  const text = isPdf(got.bytes) ? null : readText({ path: real, shown, bytes: got.bytes, sha256: got.sha256 }, withoutUndefined(page))
  if (!text) return said(`${shown} is ${describeBinary(got.bytes)} of ${size(got.bytes.length)}, so it is not shown as text. ${instead(got.bytes, shown)}`)
  return shown.endsWith('.ipynb') ? { ...text, text: `${text.text}\n[A notebook is JSON; for its code alone use \`shell\`: jq -r '.cells[] | select(.cell_type == "code") | .source | join("")' ${quoted(shown)}]` } : text
}

async function readHuge(real: string, shown: string, bytes: number, page: Omit<Input, 'path'>, signal: AbortSignal): Promise<Output> {
  const head = await beginning(real)
  if (head.includes(0)) return said(`${shown} is ${describeBinary(head)} of ${size(bytes)}, so it is not shown as text. ${instead(head, shown)}`)
  const { offset = 1, column = 1, limit = PAGE_LINES } = page
  const got = await readLines(real, { offset: Math.max(1, Math.trunc(offset)), column: Math.max(1, Math.trunc(column)), count: Math.max(1, Math.min(limit, PAGE_LINES)) + 1 }, signal)
  if (!got.ok) return signal.aborted ? cancelled() : failed(`${shown} could not be read: ${got.why}.`)
  return readWindow(got, shown, Math.round(bytes / 1024 / 1024), withoutUndefined(page))
}

async function beginning(path: string): Promise<Buffer> {
  const opened = await openFile(path)
  if (!opened.ok) return Buffer.alloc(0)
  const { buffer, bytesRead } = await opened.handle.read(Buffer.alloc(8_192), 0, 8_192, 0)
  await opened.handle.close()
  return buffer.subarray(0, bytesRead)
}

const isPdf = (bytes: Buffer): boolean => bytes.subarray(0, 5).toString('latin1') === '%PDF-'

function instead(bytes: Uint8Array, shown: string): string {
  const what = describeBinary(bytes)
  if (what.includes('PDF')) return `For its text use \`shell\`: pdftotext -layout ${quoted(shown)} - | head -n 300`
  if (what.includes('ZIP')) return `To see what is in it use \`shell\`: unzip -l ${quoted(shown)}`
  if (what.includes('tar') || what.includes('archive')) return `To see what is in it use \`shell\`: tar -tf ${quoted(shown)} | head`
  if (what.includes('UTF-32')) return `To see its text use \`shell\`: iconv -f UTF-32 -t UTF-8 ${quoted(shown)}`
  if (what.includes('UTF-16')) return `To see its text use \`shell\`: iconv -f UTF-16LE -t UTF-8 ${quoted(shown)}`
  return `For its bytes use \`shell\`: xxd ${quoted(shown)} | head`
}

const quoted = (path: string): string => (/^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`)

/** Optional in the schema means that it may be undefined, which a page takes for left out. */
const withoutUndefined = <T extends object>(page: T): { [K in keyof T]?: Exclude<T[K], undefined> } => Object.fromEntries(Object.entries(page).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> }
