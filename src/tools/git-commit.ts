import { accessSync, constants, existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Output, Prepared, Refused } from '../core/ports.ts'
import type { FileChange } from '../core/record.ts'
import { readWhole, sha256 } from '../os/files.ts'
import { git, readGit, type GitOperation } from '../os/git.ts'
import { gitStatus, type GitChange, type GitStatus } from '../os/git-status.ts'
import { forget, isOurs, takeIntoIndex } from './git-made.ts'
import { changeFailed, changeGit, type ChangeHow, type ChangeOptions } from './git-run.ts'
import { headOf, watchFiles } from './git-watch.ts'
import { changeAccesses, named, pathspec, refuse, shown, sweptSecrets, whereItStands, type GitWork } from './git-work.ts'

/** Hooks of git that a commit runs. */
const HOOKS = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit']

/** commit: exactly the paths given, whatever else is staged; without paths the index as it is staged. Its author adds nothing to the message. */
export async function prepareCommit(work: GitWork, message: string | undefined, options: ChangeOptions): Promise<Prepared | Refused> {
  if (message === undefined || message.trim() === '') return refuse('commit needs a message.')
  if (!message.includes('\n') && /\S\\n\\n\S|\\n[-*] /.test(message)) return refuse('The message has line breaks written out as \\n. Send it with real ones: in JSON escaped once, not twice.')
  const read = await readGit(gitStatus(work.specs, work.specs.length > 0 ? 'all' : 'normal'), work.place)
  if (!read.ok) return refuse(read.why)
  const status = read.value
  const why = whyNot(work, status)
  if (why !== null) return refuse(why)
  const content = await toCommit(work, status)
  if (typeof content === 'string') return refuse(content)
  const argv = ['git', 'commit', '-m', message, ...(work.paths.length > 0 ? ['--', ...work.paths] : [])]
  return {
    accesses: changeAccesses(work, argv),
    preview: { kind: 'command', command: argv.map(quoted).join(' '), cwd: work.repository.root, note: await note(work, content) },
    changes: [],
    // A repository whose refs only git can read says neither.
    ...(work.repository.head === null && work.repository.branch === null ? {} : { head: work.repository.head }),
    run: async (signal, emit, { sandbox }) => {
      if (sandbox && !options.wrap) return { status: 'failed', text: 'Not run: a commit cannot be made in the sandbox here.' }
      return commit(work, message, content.fresh, { ...options, signal, emit, wrap: sandbox ? options.wrap : undefined })
    },
  }
}

function whyNot(work: GitWork, { conflicts, staged, unstaged, untracked }: GitStatus): string | null {
  const { under } = work.repository
  if (conflicts.length > 0) return `Conflicts must be solved first (${whereItStands(work)}): ${conflicts.map(({ path, how }) => `${named(work, path)} (${how})`).join(', ')}. Edit them, then use op "add".`
  if (work.paths.length > 0 && under === 'merge') return 'A merge is under way, and git commits it only as a whole: add what belongs to it, then commit without paths.'
  if (work.paths.length > 0 || staged.length > 0 || under === 'merge' || under === 'cherry-pick' || under === 'revert') return null
  const open = [...unstaged.map(({ path }) => path), ...untracked].slice(0, 20).map((path) => named(work, path))
  return open.length === 0 ? 'There is nothing to commit.' : `Nothing is staged. Name the paths to commit; changed are: ${open.join(', ')}.`
}

interface Content {
  changes: GitChange[]
  /** Not known to git yet; told to it first, and taken back if there is no commit. */
  fresh: string[]
}

/** What would be in the commit, or why that is nothing. */
async function toCommit(work: GitWork, status: GitStatus): Promise<Content | string> {
  if (work.paths.length === 0) return { changes: status.staged, fresh: [] }
  // A nested repository ends in `/`, and would become a submodule.
  const fresh = status.untracked.filter((path) => !path.endsWith('/'))
  const swept = sweptSecrets(work, fresh)
  if (swept !== null) return `Nothing was committed: ${swept}`
  const changes = [...new Map([...status.staged, ...status.unstaged].map((change) => [change.path, change])).values()]
  const none = work.paths.filter((wanted) => ![...changes.flatMap(({ path, from }) => [path, from ?? path]), ...fresh].some((path) => isWithin(path, wanted)))
  if (none.length === 0) return { changes: [...changes, ...fresh.map((path): GitChange => ({ path, how: 'new' }))], fresh }
  const ignored = await git({ ...work.place, purpose: 'read', args: ['check-ignore', '-z', '--stdin'], input: none.join('\0') })
  const names = new Set(ignored.stdout.toString().split('\0'))
  return none.map((path) => `${named(work, path)}: ${whyNothing(work, path, names.has(path), status)}.`).join('\n')
}

function whyNothing({ repository: { root } }: GitWork, path: string, isIgnored: boolean, { untracked }: GitStatus): string {
  if (isIgnored) return 'ignored by .gitignore, so it is not committed'
  if (untracked.includes(`${path}/`)) return 'a repository of its own; name paths in it to commit there'
  return existsSync(join(root, path)) ? 'nothing has changed there' : 'there is no such file, nor was there one'
}

const isWithin = (path: string, wanted: string): boolean => wanted === '' || path === wanted || path.startsWith(`${wanted}/`)

/** For the person who is asked: what is in it and what runs. It differs when the content does, and is then asked again. */
async function note(work: GitWork, { changes }: Content): Promise<string> {
  const hooks = await hooksOf(work)
  return [
    `${whereItStands(work)}; ${changes.length} ${changes.length === 1 ? 'file' : 'files'}, content ${await digest(work, changes)}:`,
    ...changes.slice(0, 50).map(({ how, path }) => `  ${how}  ${named(work, path)}`),
    ...(changes.length > 50 ? [`  … and ${changes.length - 50} more`] : []),
    ...(hooks.length > 0 ? [`Runs the hooks ${hooks.join(', ')}.`] : []),
    ...(work.settings.signs ? ['Signed, as this repository wants it.'] : []),
  ].join('\n')
}

/** `write`, because for reading there are no hooks. */
async function hooksOf({ place }: GitWork): Promise<string[]> {
  const read = await git({ ...place, config: [], purpose: 'write', args: ['rev-parse', '--git-path', 'hooks'] })
  const path = read.stdout.toString().replace(/\n$/, '')
  return HOOKS.filter((hook) => isProgram(resolve(place.cwd, path, hook)))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function digest(work: GitWork, changes: readonly GitChange[]): Promise<string> {
  const staged = await git({ ...work.place, purpose: 'read', args: ['diff', '--cached', '--raw', '-z', '--no-ext-diff', '--ignore-submodules=dirty', '--', ...work.specs] })
  const parts = [staged.stdout.toString()]
  if (work.paths.length > 0) {
    for (const { path } of changes.slice(0, 500)) {
      const read = await readWhole(join(work.repository.root, path), work.here.signal)
      parts.push(path, read.ok ? read.sha256 : read.why)
    }
  }
  return sha256(Buffer.from(parts.join('\0'))).slice(0, 8)
}

async function commit(work: GitWork, message: string, fresh: readonly string[], how: ChangeHow): Promise<Output> {
  const before = headOf(work)
  const changed = await watchFiles(work)
  if (fresh.length > 0) {
    const told = await changeGit(work, ['add', '--intent-to-add', '--', ...fresh.map(pathspec)], how)
    if (told.exit !== 0) return changeFailed(work, told, how.signal)
  }
  // The message as it is: lines that begin with # stay. It is UTF-8, whatever the repository says of its own.
  const end = await changeGit(work, ['-c', 'i18n.commitEncoding=UTF-8', 'commit', '--quiet', '--cleanup=whitespace', '--file=-', ...(work.specs.length > 0 ? ['--only', '--', ...work.specs] : [])], how, message)
  const after = headOf(work)
  const made = after !== null && after !== before && (await isOurs(work, end, { before, after, message }))
  if (made && work.specs.length > 0) await takeIntoIndex(work, after)
  if (!made && fresh.length > 0) await forget(work, fresh)
  const changes = await changed()
  const stale = staleText(work, changes)
  const extra = changes && changes.length > 0 ? { changes } : {}
  if (!made) {
    const output = await changeFailed(work, end, how.signal)
    return { ...output, text: shown(`${output.text}\nNo commit was made.${stale}`), ...extra }
  }
  const text = `${await committedText(work, after)}${end.said.trim() ? `\nHooks and git said:\n${end.said.trim()}` : ''}${stale}${standing(work)}`
  return { status: how.signal.aborted ? 'interrupted' : 'ok', text: shown(text), exit: end.exit, ...extra, ...(end.alive.length > 0 ? { alive: end.alive } : {}) }
}

async function committedText(work: GitWork, head: string): Promise<string> {
  const names: GitOperation<string> = { args: ['show', '--no-patch', '--no-show-signature', '--format=%h %s', head], parse: (bytes) => bytes.toString().trim() }
  const files: GitOperation<string[]> = { args: ['diff-tree', '--root', '--no-commit-id', '-r', '-z', '--name-status', '--no-renames', head], parse: (bytes) => bytes.toString().split('\0') }
  const place = { ...work.place, signal: undefined }
  const [about, list] = [await readGit(names, place), await readGit(files, place)]
  const fields = list.ok ? list.value : []
  const lines: string[] = []
  for (let index = 0; index + 1 < fields.length; index += 2) lines.push(`  ${fields[index]}  ${named(work, fields[index + 1] ?? '')}`)
  return [`Committed ${about.ok ? about.value : head} (${lines.length} ${lines.length === 1 ? 'file' : 'files'}).`, ...lines.slice(0, 100), ...(lines.length > 100 ? [`  … and ${lines.length - 100} more`] : [])].join('\n')
}

export function staleText(work: GitWork, changes: readonly FileChange[] | null): string {
  if (changes === null) return '\nToo many files were changed to say whether hooks rewrote some: read a file again before you edit it.'
  if (changes.length === 0) return ''
  return `\nChanged on disk meanwhile, so read them again before you edit them: ${changes.map(({ path }) => named(work, relative(work.repository.root, path))).join(', ')}.`
}

function standing(work: GitWork): string {
  const { detached, under } = work.repository
  if (under === 'rebase') return `\nA rebase is under way: "git rebase --continue" goes on with it.`
  return detached ? '\nHEAD is detached: no branch holds this commit. Make one with op "branch" and a name.' : ''
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
