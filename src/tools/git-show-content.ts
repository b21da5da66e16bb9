import { isAbsolute, relative, resolve } from 'node:path'
import { cap } from '../core/cap.ts'
import type { Prepared, Refused } from '../core/ports.ts'
import { sanitize } from '../core/sanitize.ts'
import { git, PLAIN_DIFF, readGit, type GitOperation } from '../os/git.ts'
import { failed, reads } from './git-show-state.ts'
import { findCommit, named, NO_COMMITS, notThere, pathspec, readAccesses, refuse, shown, type GitWork } from './git-work.ts'

/** With more files than this, only their names and sizes are shown. */
const MOST_PATCHES = 300
const MOST_BYTES = 16 * 1024 * 1024

interface Counted {
  path: string
  from?: string
  /** null: binary. */
  added: number | null
  removed: number | null
}

export interface DiffInput {
  rev?: string | undefined
  staged?: boolean | undefined
  offset?: number | undefined
}

/** diff: everything that is not committed, only what is staged (`staged: true`) or not staged (`false`), or against a revision or range. */
export async function prepareDiff(work: GitWork, { rev, staged, offset }: DiffInput): Promise<Prepared | Refused> {
  const sides = await diffSides(work, rev, staged)
  if ('refused' in sides) return sides
  return patches(work, 'diff', sides, offset ?? 1)
}

/** What is compared with what. */
interface Sides {
  /** As arguments: `--cached`, and hashes. */
  args: string[]
  title: string
}

const CACHED = ['--cached', '--end-of-options']
const WORK_TREE = ['--end-of-options']

async function diffSides(work: GitWork, rev: string | undefined, staged: boolean | undefined): Promise<Sides | Refused> {
  if (rev === undefined) {
    if (staged === true) return { args: CACHED, title: 'staged' }
    if (staged === false) return { args: WORK_TREE, title: 'not staged' }
    const head = work.repository.head ?? (await emptyTree(work))
    return { args: [...WORK_TREE, head], title: work.repository.head === null ? 'not committed (there are no commits yet)' : `not committed, against HEAD ${head.slice(0, 10)}` }
  }
  const [, from = '', dots, to = ''] = /^(.*?)(\.{2,3})(.*)$/s.exec(rev) ?? []
  const first = await findCommit(work, dots ? from || 'HEAD' : rev)
  if (typeof first !== 'string') return first
  if (!dots) return { args: [...(staged ? CACHED : WORK_TREE), first], title: `${staged ? 'staged' : 'in the work tree'}, against ${first.slice(0, 10)}` }
  const last = await findCommit(work, to || 'HEAD')
  if (typeof last !== 'string') return last
  return { args: [...WORK_TREE, ...(dots === '..' ? [first, last] : [`${first}...${last}`])], title: `from ${first.slice(0, 10)} to ${last.slice(0, 10)}` }
}

async function emptyTree({ place }: GitWork): Promise<string> {
  const end = await git({ ...place, purpose: 'read', args: ['hash-object', '-t', 'tree', '--stdin'], input: '' })
  return end.stdout.toString().trim()
}

/** Names first, so that policy judges every file whose content would be shown; then the patches of these files and no others. */
async function patches(work: GitWork, op: string, { args: sides, title }: Sides, offset: number): Promise<Prepared | Refused> {
  const counts = await readGit(numstat(sides, work.specs), work.place)
  if (!counts.ok) return refuse(counts.why)
  const files = counts.value
  const all = [...new Set(files.flatMap(({ path, from }) => (from === undefined ? [path] : [from, path])))]
  const some = all.length > 0 && all.length <= MOST_PATCHES
  return reads(readAccesses(work, op, some ? all : []), async (signal) => {
    const table = summary(work, files, title)
    if (!some) return { status: 'ok', text: shown(files.length === 0 ? `Nothing changed (${title}).${notThere(work)}` : `${table}\nToo many files to show what changed in them: ask with a path.`, 'head') }
    const patch = await readGit({ args: ['diff', ...PLAIN_DIFF, '--find-renames', '--patch', ...sides, '--', ...all.map(pathspec)], parse: (bytes) => bytes.toString() }, { ...work.place, signal, maxBytes: MOST_BYTES })
    return patch.ok ? { status: 'ok', text: page(`${table}\n`, patch.value, offset, patch.cut) } : failed(patch)
  })
}

const numstat = (sides: readonly string[], specs: readonly string[]): GitOperation<Counted[]> => ({
  args: ['diff', ...PLAIN_DIFF, '--find-renames', '--numstat', '-z', ...sides, '--', ...specs],
  parse: (bytes) => parseNumstat(bytes.toString()),
})

export function parseNumstat(text: string): Counted[] {
  const fields = text.split('\0')
  const files: Counted[] = []
  for (let index = 0; index < fields.length; index++) {
    const [, added = '', removed = '', path = ''] = /^(\S+)\t(\S+)\t(.*)$/s.exec(fields[index] ?? '') ?? []
    if (added === '') continue
    const counts = { added: added === '-' ? null : Number(added), removed: removed === '-' ? null : Number(removed) }
    // A rename has an empty path here, and both names after it.
    files.push(path === '' ? { ...counts, from: fields[++index] ?? '', path: fields[++index] ?? '' } : { ...counts, path })
  }
  return files
}

function summary(work: GitWork, files: readonly Counted[], title: string): string {
  const line = ({ path, from, added, removed }: Counted): string =>
    `  ${from === undefined ? '' : `${named(work, from)} -> `}${named(work, path)}  ${added === null ? 'binary' : `+${added} -${removed ?? 0}`}`
  const shownFiles = files.slice(0, MOST_PATCHES)
  return [`${files.length} ${files.length === 1 ? 'file' : 'files'} changed (${title}):`, ...shownFiles.map(line), ...(files.length > shownFiles.length ? [`  … and ${files.length - shownFiles.length} more`] : [])].join('\n')
}

/** Lines from `offset` (1 is the first), as many as fit; the rest is named. A lone CR would hide what stands before it. */
function page(head: string, body: string, offset: number, cut: boolean): string {
  const lines = sanitize(body.replace(/\r(?!\n)/g, '␍')).split('\n')
  if (lines.at(-1) === '') lines.pop()
  const kept = cap(lines.slice(offset - 1).join('\n'), 'head', { lines: 1_800, bytes: 40 * 1024 })
  const last = offset - 1 + (kept.cut ? kept.text.split('\n').length : lines.length - offset + 1)
  const left = lines.length - last
  const more = left > 0 || cut ? `\n[… ${left}${cut ? ' or many more' : ''} lines left out: offset ${last + 1} goes on, a path shows less …]` : ''
  const title = offset > 1 ? '' : cap(sanitize(head), 'head', { lines: 150, bytes: 8 * 1024 }).text
  return shown(`${title}${offset > lines.length ? `There are only ${lines.length} lines.` : kept.text}${more}`, 'head')
}

/** show: a commit with what it changed, or a file or folder as it was (`<commit>:<path>`). */
export async function prepareShow(work: GitWork, rev: string, offset: number): Promise<Prepared | Refused> {
  const [, commit, path] = /^([^:]*):(?!\/)(.+)$/s.exec(rev) ?? []
  if (commit !== undefined && path !== undefined) return prepareObject(work, commit, path, offset)
  const hash = await findCommit(work, rev)
  if (typeof hash !== 'string') return hash
  const read = await readGit({ args: ['show', '--no-patch', '--no-show-signature', '--format=%P%x00commit %H%nAuthor: %an <%ae>%nDate:   %ad%n%n%B', '--date=iso', '--end-of-options', hash], parse: (bytes) => bytes.toString() }, { ...work.place, maxBytes: 1024 * 1024 })
  if (!read.ok) return refuse(read.why)
  const [parents = '', about = ''] = read.value.split('\0')
  const all = parents.split(' ').filter((parent) => parent !== '')
  const sides = { args: [...WORK_TREE, all[0] ?? (await emptyTree(work)), hash], title: all.length > 1 ? 'a merge, against its first parent' : 'by this commit' }
  const prepared = await patches(work, 'show', sides, offset)
  if ('refused' in prepared) return prepared
  return {
    ...prepared,
    run: async (...how) => {
      const output = await prepared.run(...how)
      return offset > 1 ? output : { ...output, text: shown(`${about.trimEnd()}\n\n${output.text}`, 'head') }
    },
  }
}

async function prepareObject(work: GitWork, commit: string, path: string, offset: number): Promise<Prepared | Refused> {
  const top = work.repository.root
  const inside = /^\.{1,2}\//.test(path) ? relative(top, resolve(work.here.cwd, path)) : isAbsolute(path) ? relative(top, path) : path.replace(/\/+$/, '')
  const hash = commit === '' ? '' : await findCommit(work, commit)
  if (typeof hash !== 'string') return hash
  const found = await git({ ...work.place, purpose: 'read', args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${hash}:${inside}`] })
  const object = found.stdout.toString().trim()
  if (!/^[0-9a-f]{40,64}$/.test(object)) return refuse(`There is no ${JSON.stringify(inside)} in ${commit === '' ? 'the index' : commit}.`)
  return reads(readAccesses(work, 'show', [inside]), async (signal) => {
    // A tree is listed by name; `cat-file` runs no filter and no textconv.
    const read = await readGit({ args: ['cat-file', '-p', object], parse: (bytes) => bytes }, { ...work.place, signal, maxBytes: MOST_BYTES })
    if (!read.ok) return failed(read)
    if (read.value.subarray(0, 8_000).includes(0)) return { status: 'ok', text: `${named(work, inside)} is a binary file of ${read.value.length}${read.cut ? ' or more' : ''} bytes there.` }
    return { status: 'ok', text: page('', read.value.toString(), offset, read.cut) }
  })
}

/** blame: who last changed each line. */
export async function prepareBlame(work: GitWork, rev: string | undefined, offset: number, limit: number): Promise<Prepared | Refused> {
  const [path] = work.paths
  if (path === undefined || work.paths.length > 1) return refuse('blame needs exactly one path.')
  if (work.repository.head === null && rev === undefined && work.repository.branch !== null) return refuse(NO_COMMITS)
  const hash = rev === undefined ? undefined : await findCommit(work, rev)
  if (hash !== undefined && typeof hash !== 'string') return hash
  return reads(readAccesses(work, 'blame', [path]), async (signal) => {
    const args = ['blame', '--no-textconv', '--porcelain', '-L', `${offset},+${limit}`, ...(hash === undefined ? [] : [hash]), '--', path]
    const read = await readGit({ args, parse: (bytes) => parseBlame(bytes.toString()) }, { ...work.place, signal, maxBytes: MOST_BYTES })
    if (!read.ok) return failed(read)
    const more = read.value.length === limit ? `\n[offset ${offset + limit} goes on]` : ''
    return { status: 'ok', text: shown(read.value.join('\n'), 'head') + more }
  })
}

/** Porcelain names a commit's author once only. */
export function parseBlame(text: string): string[] {
  const about = new Map<string, { author: string; date: string }>()
  const lines: string[] = []
  let [hash, line] = ['', '']
  for (const row of text.split('\n')) {
    const start = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(row)
    if (start) [hash, line] = [start[1] ?? '', start[2] ?? '']
    const known = about.get(hash) ?? { author: '', date: '' }
    if (row.startsWith('author ')) about.set(hash, { ...known, author: row.slice(7) })
    else if (row.startsWith('author-time ')) about.set(hash, { ...known, date: new Date(Number(row.slice(12)) * 1_000).toISOString().slice(0, 10) })
    else if (row.startsWith('\t')) lines.push(`${line}  ${/^0+$/.test(hash) ? 'not committed' : `${hash.slice(0, 10)} ${known.date} ${known.author}`}  ${row.slice(1, 2_000)}`)
  }
  return lines
}
