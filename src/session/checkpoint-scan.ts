import { existsSync, lstatSync, readdirSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { git } from '../os/git.ts'
import { codeOf } from '../os/open-file.ts'
import { modeOf, type Meta } from './checkpoint-meta.ts'
import type { CheckpointStore } from './checkpoint-store.ts'

export interface Limits {
  /** A larger file is not taken. */
  fileBytes: number
  /** Bytes that one checkpoint takes at most, of files that may have changed. */
  newBytes: number
  /** Of a folder with more new files than this, the new ones are not taken. */
  folderFiles: number
  /** How long one checkpoint may last; the next one goes on where it ended. */
  ms: number
}

export const LIMITS: Limits = { fileBytes: 16 * 1024 * 1024, newBytes: 512 * 1024 * 1024, folderFiles: 20_000, ms: 10_000 }

/** What may differ from the index. Paths are relative to the root. */
export interface Scan {
  /** To be taken as they are on disk, which may be not at all. */
  take: { path: string; bytes: number }[]
  /** Not to be in the index. */
  drop: string[]
  skipped: Meta['skipped']
  uncovered: Set<string>
  nested: Set<string>
  empty: string[]
  /** Of all that were looked at; null: there is no such file. */
  modes: Map<string, number | null>
  /** Changed so lately that a change of their modes alone would not be seen the next time: git looks at whole seconds. */
  young: string[]
}

const YOUNG_MS = 1_100

/** All that differs from what the index has, with the work bounded by what is new. null: cancelled, or git could not. */
export async function scan(store: CheckpointStore, index: string, meta: Meta, also: Iterable<string>, limits: Limits, signal: AbortSignal): Promise<Scan | null> {
  const [dirty, listed] = await Promise.all([
    names(store, index, ['diff-files', '-z', '--name-only'], signal),
    names(store, index, ['ls-files', '-z', '--others', '--directory', '--exclude-standard'], signal),
  ])
  if (!dirty || !listed) return null
  const found = emptyScan()
  const isFolder = (name: string): boolean => name.endsWith('/')
  const loose = listed.filter((name) => !isFolder(name))
  // Where a file became a folder, git lists what is in it only when asked for it.
  const became = dirty.filter((name) => statOf(join(store.root, name))?.isDirectory()).map((name) => `${name}/`)
  const inFolders = await expand(store, index, meta, [...listed.filter(isFolder), ...became], found, limits, signal)
  if (!inFolders) return null
  const fresh = withoutCrowds([...loose, ...inFolders], found, limits)
  look(store.root, new Set([...dirty, ...also, ...meta.extra, ...Object.keys(meta.skipped), ...fresh]), found, limits)
  return found
}

export const emptyScan = (): Scan => ({ take: [], drop: [], skipped: {}, uncovered: new Set(), nested: new Set(), empty: [], modes: new Map(), young: [] })

/** Files that the person's own repository tracks: all, or only those that it ignores nevertheless. */
export async function trackedByPerson(store: CheckpointStore, which: 'all' | 'ignored', signal: AbortSignal): Promise<string[]> {
  if (!store.repository) return []
  const end = await git({ cwd: store.root, purpose: 'read', args: ['ls-files', '-z', '--cached', ...(which === 'all' ? [] : ['--ignored', '--exclude-standard'])], signal })
  return end.exit === 0 ? split(end.stdout) : []
}

async function names(store: CheckpointStore, index: string, args: readonly string[], signal: AbortSignal): Promise<string[] | null> {
  const end = await store.run(args, { index, signal, maxBytes: 256 * 1024 * 1024 })
  return end.exit === 0 && !end.cut ? split(end.stdout) : null
}

const split = (bytes: Buffer): string[] => bytes.toString().split('\0').filter((name) => name !== '')

const FOLDER_MS = 3_000
const FOLDER_LIST_BYTES = 8 * 1024 * 1024

/** The files in folders that the index knows nothing of: a folder at a time where together they are too many. */
async function expand(store: CheckpointStore, index: string, meta: Meta, folders: readonly string[], found: Scan, limits: Limits, signal: AbortSignal): Promise<string[] | null> {
  const unknown: string[] = []
  for (const folder of folders) {
    if (existsSync(join(store.root, folder, '.git'))) found.nested.add(folder)
    else if (meta.uncovered.includes(folder)) found.uncovered.add(folder)
    else if (meta.empty.includes(folder) && isBare(join(store.root, folder))) found.empty.push(folder)
    else unknown.push(folder)
  }
  if (unknown.length === 0) return []
  const list = async (some: readonly string[]): Promise<string[] | 'too many' | null> => {
    const args = ['ls-files', '-z', '--others', '--exclude-standard', '--', ...some.map((folder) => `:(top,literal)${folder}`)]
    const end = await store.run(args, { index, signal, timeoutMs: FOLDER_MS, maxBytes: FOLDER_LIST_BYTES })
    if (end.cut || end.reason === 'timeout') return 'too many'
    return end.exit === 0 ? split(end.stdout) : null
  }
  const together = unknown.length > 200 ? 'too many' : await list(unknown)
  const files: string[] = []
  for (const folder of unknown) {
    const all = together === 'too many' ? await list([folder]) : together
    if (all === null) return null
    const inside = all === 'too many' ? [] : all.filter((name) => name.startsWith(folder))
    if (all === 'too many' || inside.length > limits.folderFiles) found.uncovered.add(folder)
    else if (inside.length === 0) found.empty.push(folder)
    for (const name of inside) {
      if (name.endsWith('/')) found.nested.add(name)
      else if (inside.length <= limits.folderFiles) files.push(name)
    }
  }
  return files
}

/** No file and no link anywhere in it, as far as a short look says. */
function isBare(folder: string, left = { entries: 200 }): boolean {
  try {
    return readdirSync(folder, { withFileTypes: true }).every((entry) => --left.entries > 0 && entry.isDirectory() && isBare(join(folder, entry.name), left))
  } catch {
    return false
  }
}

/** New files that lie by the thousand beside tracked ones: their folder is not covered, but for what is known of it. */
function withoutCrowds(files: readonly string[], found: Scan, limits: Limits): string[] {
  const crowds = new Map<string, number>()
  for (const name of files) crowds.set(dirname(name), (crowds.get(dirname(name)) ?? 0) + 1)
  const isCrowd = (name: string): boolean => (crowds.get(dirname(name)) ?? 0) > limits.folderFiles
  for (const [folder, count] of crowds) if (count > limits.folderFiles) found.uncovered.add(folder === '.' ? '' : `${folder}/`)
  return files.filter((name) => !isCrowd(name))
}

/** Sorts names by what stands there now. */
export function look(root: string, paths: Iterable<string>, found: Scan, limits: Limits): void {
  let bytes = 0
  for (const path of paths) {
    // Git takes nothing of such a name, and it is never ours to put back.
    if (/(?:^|\/)\.git(?:\/|$)/i.test(path)) continue
    const stat = statOf(join(root, path))
    found.modes.set(path, stat?.isFile() ? stat.mode & 0o7777 : null)
    if (stat && stat.ctimeMs > Date.now() - YOUNG_MS) found.young.push(path)
    if (stat === undefined || stat?.isSymbolicLink()) found.take.push({ path, bytes: 0 })
    else if (stat === null) {
      found.skipped[path] = [0, 0]
      found.drop.push(path)
    }
    else if (stat.isFile()) {
      if (stat.size <= limits.fileBytes && (bytes += stat.size) <= limits.newBytes) found.take.push({ path, bytes: stat.size })
      else {
        found.skipped[path] = [stat.size, Math.trunc(stat.mtimeMs)]
        found.drop.push(path)
      }
    } else {
      found.drop.push(path)
      if (stat.isDirectory() && existsSync(join(root, path, '.git'))) found.nested.add(`${path}/`)
    }
  }
}

/** Of these, whose modes are not as they were. */
export const withOtherModes = (root: string, meta: Meta, paths: readonly string[]): string[] =>
  paths.filter((path) => {
    const stat = statOf(join(root, path))
    return stat?.isFile() && (stat.mode & 0o7777) !== modeOf(meta, path, (stat.mode & 0o100) !== 0)
  })

/** undefined: there is none; null: nobody can tell. */
function statOf(path: string): Stats | undefined | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    return codeOf(error) === 'ENOTDIR' ? undefined : null
  }
}
