import * as z from 'zod/mini'
import type { Tool } from '../core/ports.ts'
import type { EnvironmentOptions } from '../os/environment.ts'
import { prepareAdd, prepareBranch } from './git-change.ts'
import { prepareCommit } from './git-commit.ts'
import type { ChangeOptions } from './git-run.ts'
import { prepareBlame, prepareDiff, prepareShow } from './git-show-content.ts'
import { prepareBranches, prepareLog, prepareStatus } from './git-show-state.ts'
import { openRepository, refuse } from './git-work.ts'

const text = (about: string): z.ZodMiniString => z.string().check(z.describe(about))

const input = z.strictObject({
  op: z.enum(['status', 'diff', 'log', 'show', 'blame', 'add', 'commit', 'branch']),
  path: z.optional(text('One path: a file or folder.')),
  paths: z.optional(z.array(z.string()).check(z.describe('Paths, taken literally. commit: exactly these; without them what is staged.'))),
  rev: z.optional(text('diff, log, show, blame: a commit, branch or tag; diff, log: a..b too; show: <commit>:<path> is a file as it was.')),
  staged: z.optional(z.boolean().check(z.describe('diff: true only what is staged, false only what is not. Neither: all that is not committed.'))),
  message: z.optional(text('commit: the message.')),
  name: z.optional(text('branch: make this one; without it they are listed.')),
  from: z.optional(text('branch: the commit to begin at, if not HEAD.')),
  switch: z.optional(z.boolean().check(z.describe('branch: also go to it.'))),
  offset: z.optional(z.int().check(z.minimum(0), z.describe('log: commits to pass over; diff, show, blame: the first line.'))),
  limit: z.optional(z.int().check(z.minimum(1), z.maximum(2_000), z.describe('log: commits (20); blame: lines (500).'))),
})
type Input = z.infer<typeof input>

export interface GitToolOptions extends ChangeOptions {
  /** What hooks and git itself get of the environment. */
  environment?: EnvironmentOptions | undefined
}

/** The repository without surprises: nothing that it configures runs for reading; a commit holds what it is told to and asks nobody. */
export const git = (options: GitToolOptions = {}): Tool<Input> => ({
  name: 'git',
  about: 'Look at and record changes in the git repository: status, diff, log, show, blame, add, commit, branch (list; make with name). Never uses the network. Commits run the hooks and sign where that is configured.',
  input,
  prepare: async (wanted, here) => {
    const { op, rev, offset, limit, message, name } = wanted
    const work = await openRepository(here, [...(wanted.paths ?? []), ...(wanted.path === undefined ? [] : [wanted.path])], options.environment)
    if ('refused' in work) return work
    const first = Math.max(1, offset ?? 1)
    switch (op) {
      case 'status': return prepareStatus(work)
      case 'diff': return prepareDiff(work, { rev, staged: wanted.staged, offset: first })
      case 'log': return prepareLog(work, rev, limit ?? 20, offset ?? 0)
      case 'show': return prepareShow(work, rev ?? 'HEAD', first)
      case 'blame': return prepareBlame(work, rev, first, limit ?? 500)
      case 'add': return prepareAdd(work, options)
      case 'commit': return prepareCommit(work, message, options)
      case 'branch':
        if (name !== undefined) return prepareBranch(work, { name, from: wanted.from, switchTo: wanted.switch }, options)
        return wanted.from === undefined && !wanted.switch ? prepareBranches(work) : refuse('branch needs a name.')
    }
  },
})
