import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { FileChange } from '../core/record.ts'
import { readWhole, sha256 } from '../os/files.ts'
import { git, PLAIN_DIFF, readGit, type GitPlace } from '../os/git.ts'
import { repository } from '../os/git-repository.ts'
import { gitStatus } from '../os/git-status.ts'
import type { GitWork } from './git-work.ts'

/** With more changed files than this, what hooks did to them is not looked at. */
const MOST_FILES = 2_000

interface Before {
  head: string | null
  /** Content of the tracked files that differed from what is committed. */
  dirty: Map<string, string | null>
}

/**
 * What a command of git, its hooks and filters do to tracked files while it runs: call once before, and the returned function
 * once after. A file that changed is stale for whoever has read it. `null`: too many files to say.
 */
export async function watchFiles(work: GitWork): Promise<() => Promise<FileChange[] | null>> {
  const began = Date.now()
  const before = await look(work)
  return async () => {
    const now = before && (await look(work))
    if (!before || !now) return null
    const moved = await namesBetween(work, before.head, now.head)
    const changes: FileChange[] = []
    for (const path of new Set([...before.dirty.keys(), ...now.dirty.keys(), ...moved])) {
      const after = now.dirty.has(path) ? (now.dirty.get(path) ?? null) : await hashAt(work, path)
      const known = before.dirty.has(path) ? (before.dirty.get(path) ?? null) : await committed(work, before.head, path)
      // One that git did not know was not looked at: it is new to git now, but written only if its time says so.
      const earlier = known === null && !before.dirty.has(path) && after !== null && !isWrittenSince(join(work.repository.root, path), began) ? after : known
      if (earlier !== after) changes.push({ path: join(work.repository.root, path), before: earlier, after })
    }
    return changes
  }
}

async function look(work: GitWork): Promise<Before | null> {
  const status = await readGit(gitStatus([], 'no'), afterwards(work))
  if (!status.ok) return null
  const { staged, unstaged, conflicts, head } = status.value
  const paths = [...new Set([...[...staged, ...unstaged].flatMap(({ path, from }) => (from === undefined ? [path] : [from, path])), ...conflicts.map(({ path }) => path)])]
  if (paths.length > MOST_FILES) return null
  const dirty = new Map<string, string | null>()
  for (const path of paths) dirty.set(path, await hashAt(work, path))
  return { head, dirty }
}

async function namesBetween(work: GitWork, from: string | null, to: string | null): Promise<string[]> {
  if (from === to || from === null || to === null) return []
  const names = await readGit({ args: ['diff', ...PLAIN_DIFF, '--no-renames', '--name-only', '-z', from, to, '--'], parse: (bytes) => bytes.toString().split('\0').filter((name) => name !== '') }, afterwards(work))
  return names.ok ? names.value.slice(0, MOST_FILES) : []
}

function isWrittenSince(path: string, time: number): boolean {
  try {
    // Times of files are a few milliseconds behind.
    return statSync(path).mtimeMs >= time - 10
  } catch {
    return true
  }
}

async function hashAt({ repository: { root } }: GitWork, path: string): Promise<string | null> {
  const read = await readWhole(join(root, path), new AbortController().signal)
  return read.ok ? read.sha256 : null
}

/** Of a file that was as committed. What the model read is better known than what filters and line endings would make of the commit. */
async function committed(work: GitWork, head: string | null, path: string): Promise<string | null> {
  const seen = work.here.seen(join(work.repository.root, path))
  if (seen) return seen.sha256
  if (head === null) return null
  const end = await git({ ...afterwards(work), purpose: 'read', args: ['cat-file', 'blob', `${head}:${path}`] })
  return end.exit === 0 && !end.cut ? sha256(end.stdout) : null
}

/** A look at how things stand must also work after a cancel. */
const afterwards = ({ place }: GitWork): GitPlace => ({ ...place, signal: undefined, timeoutMs: 20_000 })

export const headOf = (work: GitWork): string | null => repository(work.repository.root)?.head ?? null
