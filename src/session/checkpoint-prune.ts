import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import type { GitEnd } from '../os/git.ts'
import type { CheckpointOptions } from './checkpoint.ts'
import { openStore, storeFolder, type CheckpointStore, type StoreCall } from './checkpoint-store.ts'
import { isHeld } from './lock.ts'
import { treesIn, type KeptTree } from './kept-trees.ts'
import { writePrivate } from './private.ts'
import { turns } from './turns.ts'

/** What is kept of a folder's states: of sessions that were used lately all that their last runs need; the rest while it is young and there is room. */
export interface Bound {
  days: number
  bytes: number
  runs: number
}

export const BOUND: Bound = { days: 30, bytes: 2 * 1024 ** 3, runs: 3 }

export interface Pruned {
  before: number
  after: number
}

export interface PruneOptions {
  now: number
  bound?: Bound
  signal: AbortSignal
  /** Also if it was done lately. */
  force?: boolean
}

const DAY_MS = 24 * 60 * 60 * 1_000
/** What is written while this goes on, by whichever program, is younger. */
const GRACE = '1.hour.ago'
const LONGEST_MS = 10 * 60_000

/** How much a folder's states take, in bytes. */
export const sizeOfCheckpoints = (options: Pick<CheckpointOptions, 'dir' | 'root'>): Promise<number> => sizeOf(join(storeFolder(options), 'git', 'objects'))

/** Whether it is time again: at most once a day, and never for what was only just begun. */
export function isDue(options: Pick<CheckpointOptions, 'dir' | 'root'>, now: number): boolean {
  const folder = storeFolder(options)
  if (!existsSync(folder)) return false
  const stamp = statSync(join(folder, 'pruned'), { throwIfNoEntry: false })
  if (stamp) return now - stamp.mtimeMs > DAY_MS
  touch(folder, now)
  return false
}

/**
 * Drops states that no session needs. Others may take states meanwhile: what is young stays in any case, unless no session is open. Null: somebody
 * else is at it, there is nothing, or it was cancelled; what is needed is then there as before.
 */
export async function pruneCheckpoints(options: CheckpointOptions, { now, bound = BOUND, signal, force }: PruneOptions): Promise<Pruned | null> {
  const folder = storeFolder(options)
  if (!existsSync(folder) || (!force && !isDue(options, now))) return null
  const lock = join(folder, 'prune.lock')
  if (!takeTurn(lock, now)) return null
  try {
    const sessions = await treesIn(dirname(options.dir), signal)
    const alone = !anyOpen(dirname(options.dir))
    const before = await sizeOf(join(folder, 'git', 'objects'))
    const { needed, optional } = wantedOf(sessions, now, bound)
    if (alone && needed.length + optional.length === 0) {
      rmSync(folder, { recursive: true, force: true })
      return { before, after: 0 }
    }
    const store = await openStore(folder, options.root, options.environment)
    const run: Run = async (args, call) => store.run(args, { ...call, signal, timeoutMs: LONGEST_MS, onSpawn: ({ pid }) => beNice(pid) })
    const kept = await fitting(run, needed, optional, lastOf(folder), bound)
    if (kept === null || !(await dropOthers(store, run, kept, alone ? 'now' : GRACE))) return null
    for (const name of readdirSync(folder)) if (/^index\.\d+\./.test(name) && isOld(join(folder, name), now)) rmSync(join(folder, name), { force: true })
    touch(folder, now)
    return { before, after: await sizeOf(join(folder, 'git', 'objects')) }
  } catch (error) {
    if (signal.aborted) return null
    throw error
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

type Run = (args: readonly string[], call?: Pick<StoreCall, 'input'>) => Promise<GitEnd>

/** What sessions need, and what may go first where there is too much, newest first. */
export function wantedOf(sessions: readonly (readonly KeptTree[])[], now: number, { days, runs: lastRuns }: Bound): { needed: string[]; optional: string[] } {
  const needed = new Set<string>()
  const optional = new Map<string, number>()
  const youngest = now - days * DAY_MS
  for (const trees of sessions) {
    const recent = (trees.at(-1)?.at ?? 0) >= youngest
    const runs = [...new Set(trees.flatMap(({ run }) => run ?? []))]
    const [first] = runs.slice(recent ? -lastRuns : -1)
    const begin = Math.max(0, trees.findIndex(({ run }) => run === first))
    for (const [index, { tree, at }] of trees.entries()) {
      if (index >= begin && recent) needed.add(tree)
      // Of one that rests only the last run is worth its room; of one in use also what is older, for a while.
      else if (index >= begin || at >= youngest) optional.set(tree, Math.max(at, optional.get(tree) ?? 0))
    }
  }
  return { needed: [...needed], optional: [...optional].filter(([tree]) => !needed.has(tree)).sort(([, a], [, b]) => b - a).map(([tree]) => tree) }
}

/** Those that are there, fewer of the optional ones until they fit. */
async function fitting(run: Run, needed: readonly string[], optional: readonly string[], last: string | null, { bytes }: Bound): Promise<string[] | null> {
  const there = await existing(run, [...needed, ...(last === null ? [] : [last]), ...optional])
  if (!there) return null
  const must = [...new Set([...needed, ...(last === null ? [] : [last])])].filter((tree) => there.has(tree))
  let more = optional.filter((tree) => there.has(tree) && !must.includes(tree))
  while (more.length > 0) {
    const size = await sizeNeeded(run, [...must, ...more])
    if (size === null || size <= bytes) break
    more = more.slice(0, Math.floor(more.length / 2))
  }
  return [...must, ...more]
}

async function existing(run: Run, trees: readonly string[]): Promise<Set<string> | null> {
  const names = trees.filter((tree) => /^[0-9a-f]{40,64}$/.test(tree))
  if (names.length === 0) return new Set()
  const end = await run(['cat-file', '--batch-check'], { input: `${names.join('\n')}\n` })
  return end.exit === 0 ? new Set(end.stdout.toString().split('\n').flatMap((line) => /^(\S+) commit /.exec(line)?.[1] ?? [])) : null
}

/** On the disk, as it lies there. null: this git does not say. */
async function sizeNeeded(run: Run, trees: readonly string[]): Promise<number | null> {
  const end = await run(['rev-list', '--objects', '--disk-usage', '--stdin'], { input: `${trees.join('\n')}\n` })
  const size = Number(end.stdout.toString().trim())
  return end.exit === 0 && Number.isFinite(size) ? size : null
}

/** What is kept is named for as long as git looks; nothing else is reachable. */
async function dropOthers({ folder }: CheckpointStore, run: Run, kept: readonly string[], until: string): Promise<boolean> {
  const refs = join(folder, 'git', 'packed-refs')
  writePrivate(refs, ['# pack-refs with: peeled fully-peeled sorted ', ...[...kept].sort().map((tree) => `${tree} refs/kept/${tree}`), ''].join('\n'), false)
  try {
    const packed = await run(['-c', 'repack.writeBitmaps=false', '-c', 'pack.threads=1', 'repack', '-A', '-d', '-q', `--unpack-unreachable=${until}`])
    if (packed.exit !== 0) return false
    return (await run(['prune', `--expire=${until}`])).exit === 0
  } finally {
    rmSync(refs, { force: true })
  }
}

/** The state that the next one is compared with. */
function lastOf(folder: string): string | null {
  try {
    const { last } = JSON.parse(readFileSync(join(folder, 'kept.json'), 'utf8')) as { last?: { name?: unknown } | null }
    return typeof last?.name === 'string' ? last.name : null
  } catch {
    return null
  }
}

/** A folder is made by one alone. One that a crash left does not stand in the way for ever. */
function takeTurn(lock: string, now: number): boolean {
  try {
    if (isOld(lock, now)) rmdirSync(lock)
    mkdirSync(lock)
    return true
  } catch {
    return false
  }
}

const isOld = (path: string, now: number): boolean => now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > 2 * 60 * 60 * 1_000

function anyOpen(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => name.endsWith('.lock') && isHeld(join(folder, name)))
  } catch {
    return true
  }
}

function touch(folder: string, now: number): void {
  try {
    writePrivate(join(folder, 'pruned'), '', false)
    utimesSync(join(folder, 'pruned'), now / 1_000, now / 1_000)
  } catch {
    // Then it is done again the next time.
  }
}

async function sizeOf(folder: string): Promise<number> {
  const turn = turns()
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  let bytes = 0
  for (const entry of entries) {
    await turn()
    const path = join(folder, entry.name)
    bytes += entry.isDirectory() ? await sizeOf(path) : (statSync(path, { throwIfNoEntry: false })?.size ?? 0)
  }
  return bytes
}

/** Whatever else this machine does comes first. */
function beNice(pid: number): void {
  try {
    setPriority(pid, 15)
  } catch {
    // It has ended already.
  }
}
