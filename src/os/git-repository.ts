import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const MAX_BYTES = 64 * 1024 * 1024

export interface Repository {
  /** The top of the work tree: a linked work tree's own, a submodule's own. Absolute and real. */
  root: string
  /** Of this work tree. Where it is another folder, `commonDir` holds what all work trees share: objects, refs, hooks, configuration. */
  gitDir: string
  commonDir: string
  /** null: detached. During a rebase: the branch that is being rebased. */
  branch: string | null
  /** null: no commits yet, or kept in a form that only git reads. */
  head: string | null
  detached: boolean
  /** A linked work tree, not the main one. */
  linked: boolean
  /** What was begun and waits for its end. */
  under: 'rebase' | 'merge' | 'cherry-pick' | 'revert' | 'bisect' | 'am' | null
}

/**
 * The repository that a folder belongs to, read from its files: a few system calls, nothing is run, and it works where git
 * refuses (dubious ownership) or is missing. null: none, or a bare one.
 */
export function repository(cwd: string): Repository | null {
  const start = real(cwd)
  for (let folder = start; folder; folder = parentOf(folder)) {
    const gitDir = gitDirOf(folder)
    if (gitDir) return describe(folder, gitDir)
  }
  return null
}

/** The `.git` of a folder: a folder, or a file that names one (linked work trees, submodules). */
function gitDirOf(folder: string): string | null {
  const path = join(folder, '.git')
  const named = /^gitdir: (.+?)\r?\n*$/s.exec(text(path) ?? '')?.[1]
  const target = named === undefined ? path : resolve(folder, named)
  return isGitDir(target) ? real(target) : null
}

const isGitDir = (path: string): boolean => existsSync(join(path, 'HEAD')) && (existsSync(join(path, 'objects')) || existsSync(join(path, 'commondir')))

function describe(root: string, gitDir: string): Repository {
  const common = text(join(gitDir, 'commondir'))?.trim()
  const commonDir = common === undefined ? gitDir : real(resolve(gitDir, common))
  const head = text(join(gitDir, 'HEAD'))?.trim() ?? ''
  const ref = /^ref: (.+)$/.exec(head)?.[1]
  const under = underway(gitDir)
  const rebased = under === 'rebase' ? branchName(text(join(gitDir, 'rebase-merge', 'head-name')) ?? text(join(gitDir, 'rebase-apply', 'head-name'))) : null
  return {
    root, gitDir, commonDir, under,
    // A repository with reftables has a HEAD that says nothing.
    branch: ref === undefined ? rebased : ref === 'refs/heads/.invalid' ? null : branchName(ref),
    head: ref === undefined ? hash(head) : resolveRef(gitDir, commonDir, ref),
    detached: ref === undefined,
    linked: commonDir !== gitDir,
  }
}

function underway(gitDir: string): Repository['under'] {
  const has = (name: string): boolean => existsSync(join(gitDir, name))
  if (has('rebase-merge') || has('rebase-apply/rebasing')) return 'rebase'
  if (has('rebase-apply')) return 'am'
  if (has('MERGE_HEAD')) return 'merge'
  if (has('CHERRY_PICK_HEAD')) return 'cherry-pick'
  if (has('REVERT_HEAD')) return 'revert'
  return has('BISECT_LOG') ? 'bisect' : null
}

const branchName = (ref: string | null): string | null => ref?.trim().replace(/^refs\/heads\//, '') ?? null

function resolveRef(gitDir: string, commonDir: string, ref: string, depth = 0): string | null {
  if (depth > 4 || ref.split('/').includes('..')) return null
  const loose = text(join(gitDir, ref)) ?? text(join(commonDir, ref))
  if (loose !== null) {
    const next = /^ref: (.+)$/.exec(loose.trim())?.[1]
    return next === undefined ? hash(loose.trim()) : resolveRef(gitDir, commonDir, next, depth + 1)
  }
  const packed = text(join(commonDir, 'packed-refs'))
  const at = packed?.indexOf(` ${ref}\n`) ?? -1
  return packed && at > 0 ? hash(packed.slice(packed.lastIndexOf('\n', at) + 1, at)) : null
}

const hash = (said: string): string | null => (/^[0-9a-f]{40,64}$/.test(said) ? said : null)

/** Only of a plain file: a pipe of that name would be waited for. */
function text(path: string): string | null {
  try {
    const stat = statSync(path)
    return stat.isFile() && stat.size < MAX_BYTES ? readFileSync(path, 'utf8') : null
  } catch {
    return null
  }
}

const parentOf = (folder: string): string => (dirname(folder) === folder ? '' : dirname(folder))

/** A folder that is gone is looked for from where it was. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}
