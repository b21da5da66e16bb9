import { closeSync, constants, copyFileSync, existsSync, fstatSync, openSync, readFileSync, readSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { sha256 } from '../os/files.ts'
import { describeMeta, newMeta, parseMeta, printMeta, type Meta } from './checkpoint-meta.ts'
import { emptyScan, look, scan, trackedByPerson, withOtherModes, type Limits, type Scan } from './checkpoint-scan.ts'
import type { CheckpointStore } from './checkpoint-store.ts'
import { writePrivate } from './private.ts'

/** The state of the work tree, by its name in the store. null: none could be taken, and `note` says why; else it says what is left out. */
export interface Taken {
  tree: string | null
  note?: string
}

/** What is kept from one checkpoint to the next, beside the index: only a cache, which may be lost. */
interface Kept {
  /** The end of the index file, which is a hash of it: the two belong together. */
  index: string
  meta: Meta
  /** The person's index as it was when its ignored files were asked for. */
  person: string
  last: { tree: string; name: string } | null
  /** See `Scan`. */
  young: string[]
}

const KeptSchema = z.object({ index: z.string(), meta: z.unknown(), person: z.string(), young: z.array(z.string()), last: z.nullable(z.object({ tree: z.string(), name: z.string() })) })

let count = 0

/**
 * Takes a checkpoint. `extra` are ignored files that a tool is about to write, relative to the root. `hurry`: somebody waits for the next one,
 * which goes on with what is kept of this.
 */
export async function takeCheckpoint(store: CheckpointStore, extra: readonly string[], limits: Limits, signal: AbortSignal, hurry?: AbortSignal): Promise<Taken & { tooSlow?: boolean }> {
  // A copy, so that a cancel, a crash or a second Tiller never leaves a broken index or a lock.
  const index = join(store.folder, `index.${process.pid}.${++count}`)
  const time = hurry ? AbortSignal.any([AbortSignal.timeout(limits.ms), hurry]) : AbortSignal.timeout(limits.ms)
  const work: Work = { store, index, limits, person: signal, signal: AbortSignal.any([signal, time]), time }
  try {
    const kept = restore(store, index)
    const taken = (await takeFrom(work, kept, extra)) ?? (kept.last && !work.signal.aborted ? await takeFrom(work, forget(index), extra) : null)
    if (taken) return taken
    const probe = await store.run(['version'])
    if (probe.reason === 'missing') return { tree: null, note: probe.stderr }
    if (signal.aborted || !time.aborted) return { tree: null, note: signal.aborted ? 'cancelled' : 'git could not read this folder' }
    return { tree: null, note: `this folder cannot be looked through within ${limits.ms / 1_000} s, so commands cannot be undone`, tooSlow: true }
  } finally {
    for (const each of [index, `${index}.lock`]) rmSync(each, { force: true })
  }
}

interface Work {
  store: CheckpointStore
  index: string
  limits: Limits
  /** The person's cancel alone. */
  person: AbortSignal
  signal: AbortSignal
  time: AbortSignal
}

async function takeFrom(work: Work, kept: Kept, extra: readonly string[]): Promise<Taken | null> {
  const { store, index, limits, signal } = work
  const cold = kept.last === null
  const meta: Meta = { ...kept.meta, rules: sha256(Buffer.from(store.ignoreRules())).slice(0, 16) }
  const seeded = emptyScan()
  const partly = (): Promise<Taken | null> => finish(work, { ...kept, person: '', young: seeded.young }, { ...meta, ...modesOf(meta, [seeded], cold), complete: false, skipped: seeded.skipped }, true)
  if (cold) {
    // What the person's repository tracks comes first, so that the folders that are left are those it knows nothing of.
    look(store.root, await trackedByPerson(store, 'all', signal), seeded, limits)
    if (!(await add(work, seeded))) return partly()
  }
  const person = personIndex(store)
  const ignored = !cold && person !== kept.person ? await trackedByPerson(store, 'ignored', signal) : []
  meta.extra = [...new Set([...meta.extra, ...(await ignoredOf(store, extra.filter((path) => !meta.extra.includes(path))))])]
  const found = await scan(store, index, meta, [...ignored, ...Object.keys(seeded.skipped), ...withOtherModes(store.root, meta, kept.young)], limits, signal)
  if (!found) return seeded.take.length > 0 && !work.person.aborted ? partly() : null
  const complete = await add(work, found)
  const now: Meta = {
    ...meta, ...modesOf(meta, [seeded, found], cold), complete,
    skipped: found.skipped, uncovered: [...found.uncovered], nested: [...new Set([...found.nested, ...seeded.nested])], empty: found.empty,
  }
  const young = [...seeded.young, ...found.young]
  return finish(work, { ...kept, person: complete ? person : '', young: young.length > MOST_YOUNG ? [] : young }, now, cold || found.take.length + found.drop.length > 0)
}

/** Those of the paths that git ignores. */
export async function ignoredOf(store: CheckpointStore, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return []
  const end = await store.run(['check-ignore', '-z', '--no-index', '--stdin'], { input: paths.join('\0') })
  return end.stdout.toString().split('\0').filter((path) => path !== '')
}

const CHUNK_FILES = 2_000
/** More are not looked at one by one. */
const MOST_YOUNG = 5_000
const CHUNK_BYTES = 32 * 1024 * 1024

/** Brings the index up to date, in pieces, each of which is kept. false: time was up before the end. */
async function add(work: Work, found: Scan): Promise<boolean> {
  for (let at = 0; at < found.drop.length; at += CHUNK_FILES) await update(work, ['--force-remove'], found.drop.slice(at, at + CHUNK_FILES))
  for (let at = 0; at < found.take.length;) {
    if (at > 0 && work.time.aborted) return false
    let end = at
    for (let bytes = 0; end < found.take.length && end - at < CHUNK_FILES && bytes < CHUNK_BYTES; end++) bytes += found.take[end]?.bytes ?? 0
    if (!(await addSome(work, found.take.slice(at, end), found))) return false
    at = end
  }
  return true
}

/** One file that cannot be read must not cost the others: what fails is halved until it is alone. */
async function addSome(work: Work, files: Scan['take'], found: Scan): Promise<boolean> {
  if (await update(work, ['--add', '--remove', '--replace'], files.map(({ path }) => path))) return true
  if (work.person.aborted) return false
  const [file] = files
  if (files.length === 1 && file) {
    found.skipped[file.path] = [file.bytes, 0]
    await update(work, ['--force-remove'], [file.path])
    return true
  }
  const half = Math.ceil(files.length / 2)
  return (await addSome(work, files.slice(0, half), found)) && addSome(work, files.slice(half), found)
}

async function update({ store, index, person }: Work, how: readonly string[], paths: readonly string[]): Promise<boolean> {
  if (paths.length === 0) return true
  const end = await store.run(['update-index', '-z', ...how, '--stdin'], { index, signal: person, input: paths.join('\0'), bulk: paths.length > 300, timeoutMs: 300_000 })
  return end.exit === 0
}

/** Writes the tree and what belongs to it, under a name that is the same for the same state, and keeps the index for the next time. */
async function finish(work: Work, kept: Kept, meta: Meta, changed: boolean): Promise<Taken | null> {
  const { store, index, person } = work
  const written = changed || kept.last === null ? (await store.run(['write-tree'], { index, signal: person })).stdout.toString().trim() : kept.last.tree
  if (written === '') return null
  const same = kept.last?.tree === written && printMeta(kept.meta) === printMeta(meta)
  const name = same && kept.last ? kept.last.name : (await store.run(['commit-tree', '-F', '-', written], { input: printMeta(meta), signal: person })).stdout.toString().trim()
  if (name === '') return null
  const trailer = trailerOf(index)
  if (existsSync(index)) renameSync(index, join(store.folder, 'index'))
  const next = { index: trailer, meta, person: kept.person, young: kept.young, last: { tree: written, name } } satisfies Kept
  writePrivate(join(store.folder, 'kept.json'), JSON.stringify(next), false)
  const note = describeMeta(meta)
  return { tree: name, ...(note === undefined ? {} : { note }) }
}

/** Full modes of files, for git knows two. Those that nearly all have are said once. */
function modesOf(meta: Meta, scans: readonly Scan[], cold: boolean): Pick<Meta, 'usual' | 'modes'> {
  const found = scans.flatMap(({ modes }) => [...modes])
  const usual: Meta['usual'] = cold ? [commonest(found, false) ?? meta.usual[0], commonest(found, true) ?? meta.usual[1]] : meta.usual
  const modes = { ...meta.modes }
  for (const [path, mode] of found) {
    if (mode === null || mode === usual[mode & 0o100 ? 1 : 0]) delete modes[path]
    else modes[path] = mode
  }
  return { usual, modes }
}

function commonest(found: readonly [string, number | null][], executable: boolean): number | undefined {
  const counts = new Map<number, number>()
  for (const [, mode] of found) if (mode !== null && (mode & 0o100) !== 0 === executable) counts.set(mode, (counts.get(mode) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
}

const nothing = (): Kept => ({ index: '', meta: newMeta(), person: '', last: null, young: [] })

/** The index of the last time, or nothing, and then everything is looked at anew. */
function restore(store: CheckpointStore, index: string): Kept {
  try {
    const kept = KeptSchema.parse(JSON.parse(readFileSync(join(store.folder, 'kept.json'), 'utf8')))
    const meta = parseMeta(JSON.stringify(kept.meta))
    copyFileSync(join(store.folder, 'index'), index, constants.COPYFILE_FICLONE)
    // By its time git tells which files may have changed in the same second after they were looked at, and looks into them.
    const { atime, mtime } = statSync(join(store.folder, 'index'))
    utimesSync(index, atime, mtime)
    if (meta && trailerOf(index) === kept.index) return { ...kept, meta }
  } catch {
    // The first time, or damaged.
  }
  return forget(index)
}

function forget(index: string): Kept {
  rmSync(index, { force: true })
  return nothing()
}

function trailerOf(path: string): string {
  if (!existsSync(path)) return ''
  const fd = openSync(path, 'r')
  try {
    const end = Buffer.alloc(20)
    readSync(fd, end, 0, 20, Math.max(0, fstatSync(fd).size - 20))
    return end.toString('hex')
  } finally {
    closeSync(fd)
  }
}

function personIndex({ repository }: CheckpointStore): string {
  const stat = repository && statSync(join(repository.gitDir, 'index'), { throwIfNoEntry: false })
  return stat ? `${stat.size} ${stat.mtimeMs} ${stat.ino}` : ''
}
