import { join } from 'node:path'
import type { Prepared, Refused } from '../core/ports.ts'
import { readWhole } from '../os/files.ts'
import { git, readGit } from '../os/git.ts'
import { gitStatus } from '../os/git-status.ts'
import { staleText } from './git-commit.ts'
import { changeFailed, changeGit, type ChangeOptions } from './git-run.ts'
import { watchFiles } from './git-watch.ts'
import { changeAccesses, findCommit, named, refuse, shown, sweptSecrets, type GitWork } from './git-work.ts'

const MOST_NAMES = 100

/** add: stages the paths as they are now, deletions too. */
export async function prepareAdd(work: GitWork, options: ChangeOptions): Promise<Prepared | Refused> {
  if (work.paths.length === 0) return refuse('add needs paths; "." is everything.')
  const read = await readGit(gitStatus(work.specs), work.place)
  if (!read.ok) return refuse(read.why)
  const { unstaged, untracked, conflicts } = read.value
  const all = untracked.some((path) => path.endsWith('/')) ? await readGit(gitStatus(work.specs, 'all'), work.place) : read
  const swept = sweptSecrets(work, all.ok ? all.value.untracked : [])
  if (swept !== null) return refuse(`Nothing was staged: ${swept}`)
  const paths = [...new Set([...unstaged, ...conflicts].map(({ path }) => path)), ...untracked]
  const note = paths.length === 0 ? 'Nothing new is there to stage.' : `Stages: ${paths.slice(0, MOST_NAMES).map((path) => named(work, path)).join(', ')}${paths.length > MOST_NAMES ? ` … and ${paths.length - MOST_NAMES} more` : ''}`
  return change(work, ['add', '--', ...work.paths], ['add', '--', ...work.specs], note, options, async () => {
    const now = await readGit(gitStatus(work.specs), { ...work.place, signal: undefined })
    const staged = now.ok ? now.value.staged : []
    const marked = await stillMarked(work, conflicts.map(({ path }) => path))
    if (staged.length === 0) return 'Nothing is staged there: nothing had changed.'
    return [`Staged (${staged.length}):`, ...staged.slice(0, MOST_NAMES).map(({ how, path }) => `  ${how}  ${named(work, path)}`), ...(staged.length > MOST_NAMES ? ['  …'] : []), ...marked.map((path) => `NOT solved: ${named(work, path)} still has conflict markers. Edit it, then add it again before you commit.`)].join('\n')
  })
}

/** git takes a file for solved once it is added, whatever is in it. */
async function stillMarked(work: GitWork, paths: readonly string[]): Promise<string[]> {
  const marked: string[] = []
  for (const path of paths) {
    const read = await readWhole(join(work.repository.root, path), new AbortController().signal)
    if (read.ok && /^<{7} /m.test(read.bytes.toString('latin1')) && /^>{7} /m.test(read.bytes.toString('latin1'))) marked.push(path)
  }
  return marked
}

export interface BranchInput {
  name: string
  from?: string | undefined
  switchTo?: boolean | undefined
}

/** branch with a name: makes it, at HEAD or at another commit; with `switch` goes to it, which git refuses where it would lose something. */
export async function prepareBranch(work: GitWork, { name, from, switchTo }: BranchInput, options: ChangeOptions): Promise<Prepared | Refused> {
  const { head } = work.repository
  const valid = await git({ ...work.place, purpose: 'read', args: ['check-ref-format', `refs/heads/${name}`] })
  if (name.startsWith('-') || name === '@' || name === 'HEAD' || valid.exit !== 0) return refuse(`${JSON.stringify(name)} cannot be the name of a branch.`)
  const known = await git({ ...work.place, purpose: 'read', args: ['show-ref', '--verify', '--quiet', `refs/heads/${name}`] })
  if (known.exit === 0 && !switchTo) return refuse(`There is a branch ${name} already; "switch": true goes to it.`)
  if (known.exit === 0 && from !== undefined) return refuse(`There is a branch ${name} already, so it cannot begin at ${from}.`)
  const start = from === undefined ? head : await findCommit(work, from)
  if (start !== null && typeof start !== 'string') return start
  if (start === null && !switchTo) return refuse('A branch needs a commit, and there are none yet; "switch": true renames the one to be.')
  const create = known.exit === 0 ? [] : ['-c']
  const args = switchTo ? ['switch', '--no-guess', ...create, name, ...(create.length > 0 && start !== null ? [start] : [])] : ['branch', '--no-track', name, ...(start === null ? [] : [start])]
  const said = switchTo ? (known.exit === 0 ? `Now on ${name}.` : `Made ${name} and went to it.`) : `Made ${name}${start === null ? '' : ` at ${start.slice(0, 10)}`}; the work tree stays on ${work.repository.branch ?? 'the detached commit'}.`
  return change(work, args, args, said, options, async () => said)
}

async function change(work: GitWork, told: readonly string[], args: readonly string[], note: string, options: ChangeOptions, after: () => Promise<string>): Promise<Prepared> {
  return {
    accesses: changeAccesses(work, ['git', ...told]),
    preview: { kind: 'command', command: ['git', ...told].join(' '), cwd: work.repository.root, note },
    changes: [],
    run: async (signal, emit, { sandbox }) => {
      if (sandbox && !options.wrap) return { status: 'failed', text: 'Not run: this cannot be done in the sandbox here.' }
      const changed = await watchFiles(work)
      const end = await changeGit(work, args, { ...options, signal, emit, wrap: sandbox ? options.wrap : undefined })
      const changes = await changed()
      const extra = changes && changes.length > 0 ? { changes } : {}
      const stale = staleText(work, changes)
      if (end.exit !== 0) {
        const output = await changeFailed(work, end, signal)
        return { ...output, text: shown(`${output.text}${stale}`), ...extra }
      }
      return { status: signal.aborted ? 'interrupted' : 'ok', text: shown(`${await after()}${end.said.trim() ? `\ngit said:\n${end.said.trim()}` : ''}${stale}`), exit: 0, ...extra }
    },
  }
}
