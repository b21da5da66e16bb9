import type { SimpleGit } from 'simple-git'
import { explainGit, QUIET, type GitPlace, type GitRead } from './git.ts'
import { gitEnvironment } from './git-environment.ts'

export interface GitCommit {
  hash: string
  date: string
  author: string
  /** Branches and tags that point to it. */
  refs: string
  subject: string
}

export interface GitBranch {
  name: string
  hash: string
  subject: string
  current: boolean
  /** Checked out in another work tree. */
  elsewhere: boolean
}

/** A part of the history that leads to `revisions` (hashes, or `^hash`), newest first; `paths` are pathspecs. */
export async function gitLog(place: GitPlace, revisions: readonly string[], paths: readonly string[], { limit, offset }: { limit: number; offset: number }): Promise<GitRead<GitCommit[]>> {
  return ask(place, async (git, pathspec) => {
    const { all } = await git.log({
      format: { hash: '%H', date: '%ad', author: '%aN', refs: '%D', subject: '%s' }, splitter: '\x1f',
      '--max-count': limit, '--skip': offset, '--date': 'format:%Y-%m-%d %H:%M', '--no-color': null, '--no-ext-diff': null, '--end-of-options': null,
      ...Object.fromEntries(revisions.map((revision) => [revision, null])), paths: pathspec(...paths),
    })
    return all.filter(({ hash }) => /^[0-9a-f]{40,64}$/.test(hash))
  })
}

export async function gitBranches(place: GitPlace): Promise<GitRead<GitBranch[]>> {
  return ask(place, async (git) => {
    const { branches } = await git.branch(['--verbose', '--no-abbrev', '--no-column', '--list'])
    return Object.values(branches).map(({ name, commit, label, current, linkedWorkTree }) => ({ name, hash: commit, subject: label, current, elsewhere: linkedWorkTree }))
  })
}

/** simple-git for what it reads well. Loaded on first use; its own guards stay on, but for the variables that we set to harmless values. */
async function ask<T>(place: GitPlace, read: (git: SimpleGit, pathspec: (...paths: string[]) => string) => Promise<T>): Promise<GitRead<T>> {
  const { simpleGit, pathspec } = await import('simple-git')
  const env = gitEnvironment('read', place.environment)
  const git = simpleGit({
    baseDir: place.cwd, config: [...QUIET], allowEnvironment: Object.keys(env),
    ...(place.signal ? { abort: place.signal } : {}),
    timeout: { block: place.timeoutMs ?? 60_000 },
    unsafe: { allowUnsafeEditor: true, allowUnsafePager: true, allowUnsafeAskPass: true, allowUnsafeFsMonitor: true, allowUnsafeHooksPath: true, allowUnsafeConfigPaths: true, allowUnsafeExec: true },
  }).env(env)
  try {
    return { ok: true, value: await read(git, pathspec), cut: false }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    const reason = place.signal?.aborted ? 'aborted' : /ENOENT/.test(said) ? 'missing' : /block timeout/.test(said) ? 'timeout' : 'exited'
    return { ok: false, why: explainGit({ reason, exit: null, stderr: said }, place), reason }
  }
}
