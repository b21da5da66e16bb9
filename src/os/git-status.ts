import type { GitOperation } from './git.ts'

export interface GitStatus {
  /** null: no commits yet. */
  head: string | null
  /** null: detached. */
  branch: string | null
  upstream: { name: string; ahead: number; behind: number } | null
  staged: GitChange[]
  unstaged: GitChange[]
  conflicts: { path: string; how: string }[]
  /** A folder of untracked files is one entry that ends in `/`. */
  untracked: string[]
}

export interface GitChange {
  path: string
  how: 'new' | 'modified' | 'deleted' | 'renamed' | 'copied' | 'type changed'
  from?: string
}

/** The state of the work tree. Submodules are compared by commit only: nothing is run in them. */
export const gitStatus = (paths: readonly string[] = [], untracked: 'all' | 'normal' | 'no' = 'normal'): GitOperation<GitStatus> => ({
  args: ['status', '--porcelain=v2', '--branch', '-z', `--untracked-files=${untracked}`, '--ignore-submodules=dirty', '--find-renames', '--', ...paths],
  parse: (stdout) => parseStatus(stdout.toString()),
})

const HOW: Record<string, GitChange['how']> = { A: 'new', M: 'modified', D: 'deleted', R: 'renamed', C: 'copied', T: 'type changed' }
const CONFLICT: Record<string, string> = {
  DD: 'both deleted', AU: 'added by us', UD: 'deleted by them', UA: 'added by them', DU: 'deleted by us', AA: 'both added', UU: 'both modified',
}

export function parseStatus(text: string): GitStatus {
  const status: GitStatus = { head: null, branch: null, upstream: null, staged: [], unstaged: [], conflicts: [], untracked: [] }
  const entries = text.split('\0')
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] ?? ''
    switch (entry[0]) {
      case '#':
        readHeader(status, entry.slice(2))
        break
      case '1':
        readChange(status, entry.slice(2, 4), after(entry, 8))
        break
      case '2':
        readChange(status, entry.slice(2, 4), after(entry, 9), entries[++index])
        break
      case 'u':
        status.conflicts.push({ path: after(entry, 10), how: CONFLICT[entry.slice(2, 4)] ?? 'in conflict' })
        break
      case '?':
        status.untracked.push(entry.slice(2))
        break
      default:
    }
  }
  return status
}

function readHeader(status: GitStatus, header: string): void {
  const [name, ...rest] = header.split(' ')
  const value = rest.join(' ')
  if (name === 'branch.oid') status.head = value === '(initial)' ? null : value
  if (name === 'branch.head') status.branch = value === '(detached)' ? null : value
  if (name === 'branch.upstream') status.upstream = { name: value, ahead: 0, behind: 0 }
  const counts = name === 'branch.ab' ? /^\+(\d+) -(\d+)$/.exec(value) : null
  if (counts && status.upstream) status.upstream = { ...status.upstream, ahead: Number(counts[1]), behind: Number(counts[2]) }
}

function readChange(status: GitStatus, [x = '.', y = '.']: string, path: string, from?: string): void {
  const change = (letter: string): GitChange => ({ path, how: HOW[letter] ?? 'modified', ...(from === undefined || !/[RC]/.test(letter) ? {} : { from }) })
  if (x !== '.') status.staged.push(change(x))
  if (y !== '.') status.unstaged.push(change(y))
}

/** What stands after so many spaces; a path may hold more of them. */
function after(entry: string, spaces: number): string {
  let at = -1
  for (let count = 0; count < spaces; count++) at = entry.indexOf(' ', at + 1)
  return entry.slice(at + 1)
}
