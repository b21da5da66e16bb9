import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Output, Prepared } from '../core/ports.ts'
import { readGit } from '../os/git.ts'
import { gitBranches, gitLog } from '../os/git-history.ts'
import { gitStatus, type GitChange, type GitStatus } from '../os/git-status.ts'
import { findCommit, named, notThere, readAccesses, refuse, shown, whereItStands, type GitWork } from './git-work.ts'

const MOST_NAMES = 200

/** status: staged, not staged, conflicts, untracked; a folder of untracked files is one line. */
export function prepareStatus(work: GitWork): Prepared {
  return reads(readAccesses(work, 'status'), async (signal) => {
    const read = await readGit(gitStatus(work.specs), { ...work.place, signal })
    return read.ok ? { status: 'ok', text: statusText(work, read.value) } : failed(read)
  })
}

function statusText(work: GitWork, status: GitStatus): string {
  const { upstream, staged, unstaged, conflicts, untracked } = status
  const tracking = upstream ? `; ${upstream.name}: ${upstream.ahead} ahead, ${upstream.behind} behind` : ''
  const change = ({ how, path, from }: GitChange): string => `${how}  ${from === undefined ? '' : `${named(work, from)} -> `}${named(work, path)}`
  const sections = [
    section('Conflicts', conflicts.map(({ how, path }) => `${how}  ${named(work, path)}`)),
    section('Staged', staged.map(change)),
    section('Not staged', unstaged.map(change)),
    section('Untracked', untracked.map((path) => named(work, path))),
  ].filter((text) => text !== '')
  const where = whereItStands(work)
  return shown([
    `${where[0]?.toUpperCase()}${where.slice(1)}${tracking}.`,
    ...(work.repository.linked ? [`A linked work tree of ${work.repository.commonDir}.`] : []),
    ...(sections.length > 0 ? sections : [`Nothing changed, nothing untracked.${notThere(work)}`]),
    ...notes(work),
  ].join('\n'), 'head')
}

function notes({ repository: { root }, settings }: GitWork): string[] {
  return [
    ...(existsSync(join(root, '.gitmodules')) ? ['Changes inside submodules are not listed here: ask with a path in one.'] : []),
    ...(settings.ownFilters.length > 0 ? [`The repository's own filter programs (${settings.ownFilters.join(', ')}) were not run, so files that pass through them may be listed as changed.`] : []),
  ]
}

function section(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return ''
  const more = lines.length - MOST_NAMES
  return [`${title} (${lines.length}):`, ...lines.slice(0, MOST_NAMES).map((line) => `  ${line}`), ...(more > 0 ? [`  … and ${more} more: ask with a path`] : [])].join('\n')
}

/** log: one line a commit. */
export async function prepareLog(work: GitWork, revision: string | undefined, limit: number, offset: number): Promise<Prepared | ReturnType<typeof refuse>> {
  const revisions = await range(work, revision ?? 'HEAD')
  if ('refused' in revisions) return revisions
  return reads(readAccesses(work, 'log'), async (signal) => {
    const read = await gitLog({ ...work.place, signal }, revisions, work.specs, { limit: limit + 1, offset })
    if (!read.ok) return failed(read)
    const lines = read.value.slice(0, limit).map(({ hash, date, author, subject, refs }) => `${hash.slice(0, 10)}  ${date}  ${author}  ${subject}${refs ? `  (${refs})` : ''}`)
    const more = read.value.length > limit ? [`There are more: offset ${offset + limit} goes on.`] : []
    return { status: 'ok', text: shown([...(lines.length > 0 ? lines : [`No commits there.${notThere(work)}`]), ...more].join('\n'), 'head') }
  })
}

/** `a..b`, `a...b` or one revision, as hashes. */
async function range(work: GitWork, revision: string): Promise<string[] | ReturnType<typeof refuse>> {
  const [, from = '', dots, to = ''] = /^(.*?)(\.{2,3})(.*)$/s.exec(revision) ?? []
  if (!dots) {
    const only = await findCommit(work, revision)
    return typeof only === 'string' ? [only] : only
  }
  const [first, last] = [await findCommit(work, from || 'HEAD'), await findCommit(work, to || 'HEAD')]
  if (typeof first !== 'string') return first
  if (typeof last !== 'string') return last
  return dots === '..' ? [last, `^${first}`] : [`${first}...${last}`]
}

/** branch without a name: the local ones. */
export function prepareBranches(work: GitWork): Prepared {
  return reads(readAccesses(work, 'branch'), async (signal) => {
    const read = await gitBranches({ ...work.place, signal })
    if (!read.ok) return failed(read)
    const lines = read.value.map(({ name, hash, subject, current, elsewhere }) => `${current ? '*' : elsewhere ? '+' : ' '} ${name}  ${hash.slice(0, 10)}  ${subject}`)
    return { status: 'ok', text: shown([`You are ${whereItStands(work)}.`, ...lines, ...(read.value.some(({ elsewhere }) => elsewhere) ? ['(+: checked out in another work tree)'] : [])].join('\n'), 'head') }
  })
}

export const reads = (accesses: Prepared['accesses'], run: (signal: AbortSignal) => Promise<Output>): Prepared => ({ accesses, changes: [], run })

export const failed = ({ why, reason }: { why: string; reason: string }): Output => ({ status: reason === 'aborted' ? 'interrupted' : 'failed', text: shown(why) })
