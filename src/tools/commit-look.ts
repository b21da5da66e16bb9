import { repository } from '../os/git-repository.ts'
import { readGit, type GitOperation } from '../os/git.ts'
import type { EnvironmentOptions } from '../os/environment.ts'

/** What is there of a commit whose end nobody saw. `other`: one was made on the same commit, but with another message, as a hook or a person may. */
export type CommitFound = { made: 'yes' | 'other'; commit: string } | { made: 'no' }

const NEWEST = 200

/** Looks for a commit with this message on top of `head` (null: the first one of all). null: nobody can say. */
export async function findCommitOn(head: string | null, message: string, where: { cwd: string; environment?: EnvironmentOptions }): Promise<CommitFound | null> {
  const found = repository(where.cwd)
  if (!found) return null
  if (found.head === null) return found.branch === null ? null : { made: 'no' }
  const place = { cwd: found.root, environment: where.environment, timeoutMs: 20_000 }
  // What HEAD was at is found even if it has moved on.
  const [history, reflog] = [await readGit(newest([]), place), await readGit(newest(['--walk-reflogs']), place)]
  if (!history.ok) return null
  const onTop = [...history.value, ...(reflog.ok ? reflog.value : [])].filter(({ parent }) => parent === head)
  const same = onTop.find((commit) => plain(commit.message) === plain(message)) ?? onTop[0]
  if (!same) return { made: 'no' }
  return { made: plain(same.message) === plain(message) ? 'yes' : 'other', commit: `${same.hash.slice(0, 10)} ${same.message.split('\n')[0] ?? ''}` }
}

interface Commit { hash: string; parent: string | null; message: string }

const newest = (how: readonly string[]): GitOperation<Commit[]> => ({
  args: ['log', ...how, `--max-count=${NEWEST}`, '-z', '--no-show-signature', '--format=%H%x1f%P%x1f%B', 'HEAD', '--'],
  parse: (bytes) => bytes.toString().split('\0').filter((entry) => entry !== '').map((entry) => {
    const [hash = '', parents = '', message = ''] = entry.split('\x1f')
    return { hash: hash.trim(), parent: parents.split(' ')[0] || null, message }
  }),
})

/** As `--cleanup=whitespace` leaves it. */
const plain = (message: string): string => message.split('\n').map((line) => line.trimEnd()).join('\n').replace(/\n{3,}/g, '\n\n').trim()
