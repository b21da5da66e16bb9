import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join, relative } from 'node:path'
import type { EnvironmentOptions } from '../os/environment.ts'
import { exclusively } from '../os/files.ts'
import { changedUncovered, isAbsent, modeOf, type Meta } from './checkpoint-meta.ts'
import { readBlobs, readEntries, readMeta, type Entry } from './checkpoint-read.ts'
import { LIMITS, type Limits } from './checkpoint-scan.ts'
import { openStore, storeFolder, type CheckpointStore } from './checkpoint-store.ts'
import { ignoredOf, takeCheckpoint, type Taken } from './checkpoint-take.ts'

export interface CheckpointOptions {
  /** The folder of all checkpoints, such as `<root>/.agent/checkpoints`; the sessions of a root share what is in it. */
  dir: string
  /** Absolute and real. */
  root: string
  environment?: EnvironmentOptions | undefined
  limits?: Partial<Limits> | undefined
}

/** A file or a link as it was. */
export interface FileState {
  /** Of the bytes; of a link: of where it leads. */
  sha256: string
  bytes: number
  mode: number
  link: boolean
}

export interface TreeChange {
  /** Absolute. */
  path: string
  before: FileState | null
  after: FileState | null
  /** false: it came into view, and may have been there before (the rules of what is ignored changed). */
  certain: boolean
}

export interface TreeDiff {
  changes: TreeChange[]
  /** Changed too, but not kept (too large). Absolute. */
  uncovered: string[]
  /** Folders that were empty and are no more there. Absolute. */
  emptied: string[]
}

/** The states of a work tree, kept byte for byte where nothing of the person's is touched. Nothing throws for an expected end. */
export interface Checkpoints {
  /** `extra`: absolute paths that a tool is about to write; they are covered though they are ignored. Never waits longer than the limits say. */
  take: (why: string, signal: AbortSignal, extra?: readonly string[]) => Promise<Taken>
  /** Begins to look at the files while nobody waits: the next `take` has less to do. */
  warm: () => void
  /** What is covered in both states and differs. null: one of them is not there. */
  diff: (before: string, after: string, signal?: AbortSignal) => Promise<TreeDiff | null>
  /** By absolute path: how it was; null: it was not there; left out: not covered. */
  states: (tree: string, paths: readonly string[], signal?: AbortSignal) => Promise<Map<string, FileState | null>>
  /** The bytes of a file, or where a link leads. */
  file: (tree: string, path: string) => Promise<Buffer | null>
  /** Whether there was such a folder. Also true where it cannot be told. */
  holds: (tree: string, folder: string) => Promise<boolean>
  meta: (tree: string) => Promise<Meta | null>
}

const WARM_MS = 60_000
const NEVER = new AbortController().signal

export function checkpoints(options: CheckpointOptions): Checkpoints {
  const { root } = options
  const folder = storeFolder(options)
  const limits = { ...LIMITS, ...options.limits }
  let opened: Promise<CheckpointStore> | undefined
  /** A folder that was too large once is not looked through again and again, around every command. */
  let gaveUp: Taken | undefined
  const store = (): Promise<CheckpointStore> => {
    // Somebody may have thrown it away.
    if (!existsSync(join(folder, 'git', 'HEAD'))) opened = undefined
    return (opened ??= openStore(folder, root, options.environment))
  }
  let warming: AbortController | undefined
  const isTooWide = root === homedir() || root === '/'
  const local = (paths: readonly string[]): string[] => paths.map((path) => relative(root, path)).filter((path) => path !== '' && !path.startsWith('../') && path !== '..' && !isAbsolute(path))
  const metas = new Map<string, Meta>()
  const meta = async (tree: string): Promise<Meta | null> => {
    const known = metas.get(tree) ?? (await readMeta(await store(), tree))
    if (known) metas.set(tree, known)
    return known
  }
  const describe = async (which: Map<string, Entry>, of: Meta): Promise<Map<string, FileState>> => {
    const contents = await readBlobs(await store(), [...which.values()].map(({ blob }) => blob))
    return new Map([...which].flatMap(([path, { blob, kind }]): [string, FileState][] => {
      const content = contents.get(blob)
      return content ? [[path, { ...content, mode: kind === 'link' ? 0o777 : modeOf(of, path, kind === 'program'), link: kind === 'link' }]] : []
    }))
  }
  return {
    async take(_why, signal, extra = []) {
      if (isTooWide) return { tree: null, note: `no checkpoint is taken of ${root}` }
      if (gaveUp) return gaveUp
      warming?.abort()
      try {
        const open = await store()
        const taken = await exclusively(folder, () => takeCheckpoint(open, local(extra), limits, signal))
        if (taken.tooSlow) gaveUp = { tree: null, ...(taken.note === undefined ? {} : { note: taken.note }) }
        return gaveUp ?? taken
      } catch (error) {
        opened = undefined
        return { tree: null, note: `no checkpoint could be kept: ${error instanceof Error ? error.message : String(error)}` }
      }
    },
    warm() {
      if (isTooWide || warming) return
      const hurry = new AbortController()
      warming = hurry
      void exclusively(folder, async () => hurry.signal.aborted || takeCheckpoint(await store(), [], { ...limits, ms: WARM_MS }, NEVER, hurry.signal)).catch(() => {
        opened = undefined
      })
    },
    async diff(before, after, signal) {
      const [a, b] = [await meta(before), await meta(after)]
      if (!a || !b) return null
      return compare(await store(), { tree: before, meta: a }, { tree: after, meta: b }, describe, signal)
    },
    async states(tree, paths, signal) {
      const of = await meta(tree)
      if (!of) return new Map()
      const wanted = local(paths)
      const found = await describe(await readEntries(await store(), tree, wanted, signal), of)
      const missing = wanted.filter((path) => !found.has(path))
      const ignored = new Set(await ignoredOf(await store(), missing))
      const known = wanted.filter((path) => found.has(path) || isAbsent(of, path, ignored.has(path)))
      return new Map(known.map((path) => [join(root, path), found.get(path) ?? null]))
    },
    async file(tree, path) {
      const [name] = local([path])
      if (name === undefined) return null
      const end = await (await store()).run(['cat-file', 'blob', `${tree}:${name}`])
      return end.exit === 0 && !end.cut ? end.stdout : null
    },
    async holds(tree, path) {
      const [of, [name]] = [await meta(tree), local([path])]
      if (!of || name === undefined) return true
      const near = [...of.empty, ...of.nested, ...of.uncovered, ...Object.keys(of.skipped)].some((other) => `${name}/`.startsWith(other) || other.startsWith(`${name}/`))
      return near || (await (await store()).run(['cat-file', '-e', `${tree}:${name}`])).exit === 0
    },
    meta,
  }
}

interface State {
  tree: string
  meta: Meta
}

async function compare(store: CheckpointStore, a: State, b: State, describe: (which: Map<string, Entry>, of: Meta) => Promise<Map<string, FileState>>, signal?: AbortSignal): Promise<TreeDiff | null> {
  const end = await store.run(['diff-tree', '-r', '-z', '--no-renames', '--no-ext-diff', '--name-only', '--end-of-options', a.tree, b.tree], { signal, maxBytes: 256 * 1024 * 1024 })
  if (end.exit !== 0 || end.cut) return null
  const modes = [...new Set([...Object.keys(a.meta.modes), ...Object.keys(b.meta.modes)])].filter((path) => a.meta.modes[path] !== b.meta.modes[path])
  const names = end.stdout.toString().split('\0').filter((name) => name !== '')
  const paths = [...new Set([...names, ...modes])]
  const [before, after] = [await describe(await readEntries(store, a.tree, paths, signal), a.meta), await describe(await readEntries(store, b.tree, paths, signal), b.meta)]
  const sameRules = a.meta.rules === b.meta.rules && !names.some((name) => /(?:^|\/)\.gitignore$/.test(name))
  const changes = paths.flatMap((path): TreeChange[] => {
    const [was, is] = [before.get(path) ?? null, after.get(path) ?? null]
    if (sameState(was, is)) return []
    const ignored = (of: Meta): boolean => of.extra.includes(path)
    if (was === null && !isAbsent(a.meta, path, ignored(b.meta))) return []
    if (is === null && !isAbsent(b.meta, path, ignored(a.meta))) return []
    return [{ path: join(store.root, path), before: was, after: is, certain: was !== null || sameRules }]
  })
  const held = (folder: string): boolean => b.meta.empty.includes(folder) || paths.some((path) => path.startsWith(folder))
  return {
    changes: changes.sort((x, y) => (x.path < y.path ? -1 : 1)),
    uncovered: changedUncovered(a.meta, b.meta).map((path) => join(store.root, path)),
    emptied: a.meta.empty.filter((folder) => !held(folder)).map((folder) => join(store.root, folder)),
  }
}

/** With and without a mode that is known. */
export const sameState = (a: FileState | null, b: FileState | null): boolean => (a === null || b === null ? a === b : a.sha256 === b.sha256 && a.link === b.link && a.mode === b.mode)
