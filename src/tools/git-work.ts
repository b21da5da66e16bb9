import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { cap } from '../core/cap.ts'
import type { Here, Refused } from '../core/ports.ts'
import type { Access } from '../core/record.ts'
import { sanitize } from '../core/sanitize.ts'
import { isSecret } from '../core/sensitive.ts'
import type { EnvironmentOptions } from '../os/environment.ts'
import { readGit, type GitPlace } from '../os/git.ts'
import { repository, type Repository } from '../os/git-repository.ts'
import { gitSettings, withoutFilters, type GitSettings } from '../os/git-settings.ts'

/** What every operation of the git tool starts from. */
export interface GitWork {
  here: Here
  repository: Repository
  settings: GitSettings
  /** The repository's top; reading under this place runs nothing that the repository names. */
  place: GitPlace
  /** As asked for: relative to the repository's top. Empty: all of it. */
  paths: string[]
  /** The same as pathspecs, taken literally. */
  specs: string[]
}

export const refuse = (why: string, accesses: Access[] = []): Refused => ({ refused: sanitize(why), accesses })

/** The repository of the folder that the session works in, or the one that the first path lies in (a submodule, a nested repository). */
export async function openRepository(here: Here, paths: readonly string[], environment: EnvironmentOptions | undefined): Promise<GitWork | Refused> {
  const absolute = paths.map((path) => resolve(here.cwd, path))
  const found = repository(absolute[0] === undefined ? here.cwd : nearestFolder(absolute[0], here.cwd)) ?? repository(here.cwd)
  if (!found) return refuse(`${here.cwd} is not in a git repository. A person can make one with: git init`)
  const outside = absolute.find((path) => isOutside(relative(found.root, path)))
  if (outside !== undefined) return refuse(`${outside} is outside the repository ${found.root}. Name paths of one repository.`)
  const place: GitPlace = { cwd: found.root, environment, signal: here.signal }
  const settings = await gitSettings(found, place)
  if (settings.elsewhere !== null) return refuse(`The configuration of this repository says that its files are in ${settings.elsewhere} (core.worktree), not in ${found.root}. Use git in the shell.`)
  const inside = absolute.map((path) => relative(found.root, path))
  return { here, repository: found, settings, place: { ...place, config: withoutFilters(settings) }, paths: inside, specs: inside.map(pathspec) }
}

/** A path taken literally, whatever characters it has, from the repository's top. */
export const pathspec = (path: string): string => `:(top,literal)${path}`

const isOutside = (path: string): boolean => path === '..' || path.startsWith('../') || isAbsolute(path)

/** A deleted file belongs to the repository of what is left of its path. A submodule's own folder belongs to the repository above it. */
function nearestFolder(path: string, cwd: string): string {
  let folder = path === cwd ? path : dirname(path)
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

/** For reading: the command, and each path whose content or name is shown. */
export function readAccesses(work: GitWork, op: string, contents: readonly string[] = []): Access[] {
  const { repository: { root }, here, settings } = work
  return [
    { kind: 'exec', argv: ['git', op], reads: true },
    ...(isOutside(relative(here.root, root)) ? [{ kind: 'read' as const, path: root }] : []),
    ...contents.map((path) => ({ kind: 'read' as const, path: join(root, path) })),
    ...(settings.unsafeFilter ? [{ kind: 'unknown' as const, why: 'the repository names a filter program that cannot be switched off for reading' }] : []),
  ]
}

/** For changing: the command, and where, if that is not the session's own root. */
export function changeAccesses({ repository: { root }, here }: GitWork, argv: string[]): Access[] {
  return [{ kind: 'exec', argv }, ...(isOutside(relative(here.root, root)) ? [{ kind: 'write' as const, path: root, command: true }] : [])]
}

export const NO_COMMITS = 'This repository has no commits yet.'

/** A commit by its full hash. What is looked up never becomes an option. */
export async function findCommit({ place, repository: { head } }: GitWork, revision: string): Promise<string | Refused> {
  if (/^-|[\x00-\x1f\x7f]/.test(revision)) return refuse(`${JSON.stringify(revision)} is no revision: one never begins with "-". Options cannot be passed.`)
  if (/^(HEAD|@)$/.test(revision) && head) return head
  const found = await readGit({ args: ['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`], parse: (bytes) => bytes.toString().trim() }, place)
  if (found.ok) return found.value
  if (!/single revision|unknown revision|bad revision|ambiguous/i.test(found.why)) return refuse(found.why)
  if (head === null && /^(HEAD|@)/.test(revision)) return refuse(NO_COMMITS)
  return refuse(`There is no commit ${JSON.stringify(revision)} here. Look with op "log" or "branch"; a file of a commit is "<commit>:<path>" with op "show".`)
}

/** A name as text: as it is, or as a JSON string where it could be misread. Relative to where the other tools look from. */
export function named({ here, repository: { root } }: GitWork, path: string): string {
  const local = relative(here.cwd, join(root, path)) + (path.endsWith('/') ? '/' : '')
  return /[\x00-\x1f\x7f]|^[\s"]|\s$/.test(local) ? JSON.stringify(local) : local || '.'
}

/** Secrets among files that git does not know yet and that nobody named, but a folder that they are in: what is in the history once, stays there. */
export function sweptSecrets({ paths, repository: { root }, here }: GitWork, fresh: readonly string[]): string | null {
  const swept = fresh.filter((path) => !paths.includes(path) && isSecret(join(root, path)) && !/\.(?:example|sample|template|dist)$/.test(path))
  if (swept.length === 0) return null
  const names = swept.slice(0, 10).map((path) => relative(here.cwd, join(root, path))).join(', ')
  return `${names}${swept.length > 10 ? ` and ${swept.length - 10} more` : ''} may hold secrets, and would come into the repository with the folder. Put them into .gitignore; or, if they do belong there, name each as a path of its own.`
}

/** For an empty answer about paths: those of them that are not there, which may be the reason. */
export function notThere(work: GitWork): string {
  const missing = work.paths.filter((path) => !existsSync(join(work.repository.root, path)))
  return missing.length === 0 ? '' : ` There is no ${missing.map((path) => named(work, path)).join(', nor ')} in the work tree.`
}

/** Text for the model: without control sequences, and not longer than it may be. */
export function shown(text: string, keep: 'head' | 'tail' | 'ends' = 'ends'): string {
  return cap(sanitize(text), keep).text
}

/** What a person or the model must know before it goes on, such as a rebase that waits. */
export function whereItStands({ repository: { branch, head, detached, under } }: GitWork): string {
  const short = head?.slice(0, 10)
  const at = detached ? `detached at ${short ?? 'an unknown commit'}` : head === null && branch ? `on branch ${branch}, no commits yet` : `on branch ${branch ?? 'unknown'}`
  return under === null ? at : `${at}, in the middle of a ${under}${under === 'rebase' && branch ? ` of ${branch}` : ''}`
}
