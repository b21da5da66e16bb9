import { git, PLAIN_DIFF, readGit } from '../os/git.ts'
import type { ChangeEnd } from './git-run.ts'
import type { GitWork } from './git-work.ts'

/**
 * HEAD has moved; by this commit, or by another git that was quicker and made it fail? One that was cancelled after it moved HEAD (in a post-commit
 * hook), or could not write its index then, did make its commit.
 */
export async function isOurs(work: GitWork, end: ChangeEnd, { before, after, message }: { before: string | null; after: string; message: string }): Promise<boolean> {
  if (end.exit === 0 || (end.waitedFor?.kind === 'hook' && end.waitedFor.name.startsWith('post-')) || /repository has been updated/.test(end.said)) return true
  if (end.reason === 'exited') return false
  const told = await readGit({ args: ['show', '--no-patch', '--no-show-signature', '--format=%P%x00%B', after], parse: (bytes) => bytes.toString().split('\0') }, { ...work.place, signal: undefined })
  const [parents = '', body = ''] = told.ok ? told.value : []
  return parents.split(' ')[0] === (before ?? '') && body.includes(message.trim().split('\n', 1)[0] ?? message)
}

/**
 * Paths are committed from an index of their own. What a hook stages there does not come into the repository's index, which would then
 * take it back with the next commit; so the paths of this commit are made there what they are in it.
 */
export async function takeIntoIndex(work: GitWork, head: string): Promise<void> {
  const committed = new Set(await namesIn(work, ['diff-tree', '--root', '--no-commit-id', '-r', '-z', '--name-only', '--no-renames', head]))
  const staged = await namesIn(work, ['diff', '--cached', ...PLAIN_DIFF, '--no-renames', '--name-only', '-z', head, '--'])
  const behind = staged.filter((name) => committed.has(name)).slice(0, MOST_BEHIND)
  if (behind.length === 0) return
  const entries = await namesIn(work, ['--literal-pathspecs', 'ls-tree', '-z', '--full-tree', head, '--', ...behind])
  const gone = behind.filter((name) => !entries.some((entry) => entry.endsWith(`\t${name}`))).map((name) => `0 ${'0'.repeat(head.length)}\t${name}`)
  await changeIndex(work, ['--index-info'], [...entries, ...gone])
}

const MOST_BEHIND = 2_000

/** Of files that git was told of for a commit that was not made. */
export const forget = (work: GitWork, paths: readonly string[]): Promise<void> => changeIndex(work, ['--force-remove', '--stdin'], paths)

async function namesIn(work: GitWork, args: readonly string[]): Promise<string[]> {
  const read = await readGit({ args, parse: (bytes) => bytes.toString().split('\0').filter((name) => name !== '') }, { ...work.place, signal: undefined })
  return read.ok ? read.value : []
}

/** A repair that nobody asked for: it looks at no file, so it runs no hook and no filter, in the sandbox or out of it. */
async function changeIndex(work: GitWork, how: readonly string[], lines: readonly string[]): Promise<void> {
  await git({ ...work.place, signal: undefined, config: ['core.hooksPath=/dev/null'], purpose: 'write', args: ['update-index', '-z', ...how], input: lines.map((line) => `${line}\0`).join('') })
}
