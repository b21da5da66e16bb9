import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { forkSession } from '../../session/fork.ts'
import { addSession, noStatistics, statisticsText } from '../../report/statistics.ts'
import { completeSessions, listSessions, type SessionEntry } from '../../session/list.ts'
import { searchSessions } from '../../session/search.ts'
import { newId, removeSession, renameSession, sessionFile } from '../../session/store.ts'
import { plainSession } from '../../ui/plain.ts'
import { fileOf, SessionError, sessionToRead } from '../open-session.ts'
import { UsageError, type Options } from '../options.ts'
import { shortFolder, type Place } from '../place.ts'
import { columns, surroundings } from './surroundings.ts'

interface Here { place: Place; folder: string; flags: Record<string, unknown>; rest: readonly string[] }

const OPERATIONS: Readonly<Record<string, (here: Here) => Promise<number>>> = { list, ids, show, search, rename, remove, import: importSession, export: exportSession, stats }

export async function sessions(options: Options, [operation = 'list', ...rest]: readonly string[], flags: Record<string, unknown>): Promise<number> {
  const run = OPERATIONS[operation]
  if (!run) throw new UsageError(`sessions: "${operation}" is not known; expected ${Object.keys(OPERATIONS).filter((name) => name !== 'ids').join(', ')}`)
  const { place, folder } = await surroundings(options)
  return run({ place, folder, flags, rest })
}

const print = (text: string): void => void process.stdout.write(text.endsWith('\n') || text === '' ? text : `${text}\n`)

async function list({ place, folder }: Here): Promise<number> {
  const entries = await listSessions(folder)
  const complete = new Map(entries.map((entry) => [entry.file, entry]))
  for await (const entry of completeSessions(folder, entries)) complete.set(entry.file, entry)
  if (entries.length === 0) {
    process.stderr.write(`tiller: there are no sessions in ${folder}\n`)
    return 0
  }
  print(columns([['ID', 'LAST', 'OUTCOME', 'COST', 'SIZE', 'BRANCH', 'FOLDER', 'TITLE'], ...[...complete.values()].map((entry) => row(entry, place))]))
  return 0
}

function row(entry: SessionEntry, place: Place): string[] {
  const cost = entry.cost === null ? '' : `${entry.costUnknown ? '≥' : ''}$${entry.cost.toFixed(2)}`
  return [
    entry.id, new Date(entry.last).toISOString().slice(0, 16).replace('T', ' '), entry.outcome ?? (entry.locked ? 'open' : '-'), cost, size(entry.bytes), entry.branch ?? '',
    entry.cwd === place.cwd ? '.' : shortFolder(entry.cwd, place.home), entry.unreadable ?? entry.title ?? entry.words.slice(0, 60),
  ]
}

const size = (bytes: number): string => (bytes < 1024 ? `${bytes} B` : bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`)

async function ids({ folder }: Here): Promise<number> {
  print((await listSessions(folder)).map(({ id }) => id).join('\n'))
  return 0
}

const named = (operation: string, id: string | undefined): string => {
  if (id === undefined) throw new UsageError(`sessions ${operation}: which session? Expected an id or its beginning (tiller sessions lists them)`)
  return id
}

async function show({ folder, rest: [id] }: Here): Promise<number> {
  const log = sessionToRead(await fileOf(named('show', id), folder))
  const damage = log.damage.map(({ why }) => ({ type: 'damage' as const, why }))
  print(await plainSession([...log.records, ...damage]))
  log.close()
  return 0
}

async function search({ folder, rest }: Here): Promise<number> {
  if (rest.length === 0) throw new UsageError('sessions search: which words?')
  const entries = await listSessions(folder)
  let hits = 0
  for await (const hit of searchSessions(entries.map(({ file }) => file), rest.join(' '), { most: 5 })) {
    hits++
    print(`${entries.find(({ file }) => file === hit.file)?.id ?? hit.file}:${hit.seq}  ${hit.type}  ${hit.excerpt}`)
  }
  return hits > 0 ? 0 : 1
}

async function rename({ folder, rest: [id, ...title] }: Here): Promise<number> {
  if (title.length === 0) throw new UsageError('sessions rename: expected an id and a title')
  const fault = renameSession(await fileOf(named('rename', id), folder), title.join(' '), () => Date.now())
  if (fault) throw new SessionError(fault)
  return 0
}

async function remove({ folder, flags, rest: [id] }: Here): Promise<number> {
  const file = await fileOf(named('remove', id), folder)
  if (flags['yes'] !== true && !(await confirmed(`Remove ${file} and what belongs to it? [y/N] `))) {
    process.stderr.write('tiller: nothing was removed\n')
    return 1
  }
  const fault = removeSession(file, Date.now())
  if (fault) throw new SessionError(fault)
  return 0
}

async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError('nobody can be asked here: say --yes')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await lines.question(question)
  lines.close()
  return /^y(es)?$/i.test(answer.trim())
}

/** Another folder's session, as a copy that belongs here; what it allowed is left behind. */
async function importSession({ place, folder, rest: [file] }: Here): Promise<number> {
  if (file === undefined || !existsSync(file)) throw new UsageError(`sessions import: there is no file ${file ?? ''}`)
  const id = newId()
  const to = sessionFile(folder, id, Date.now())
  const fault = forkSession(file, to, { type: 'session', version: 1, id, cwd: place.cwd, root: place.root }, { now: () => Date.now(), imported: true })
  if (fault) throw new SessionError(fault)
  print(id)
  return 0
}

async function exportSession({ folder, flags, rest: [id] }: Here): Promise<number> {
  const format = typeof flags['format'] === 'string' ? flags['format'] : 'markdown'
  const { exportAs, FORMATS } = await import('../export-session.ts')
  if (!FORMATS.includes(format)) throw new UsageError(`sessions export: --format ${format} is not known; expected ${FORMATS.join(', ')}`)
  const log = sessionToRead(await fileOf(named('export', id), folder))
  print(exportAs(format, log))
  log.close()
  return 0
}

async function stats({ folder }: Here): Promise<number> {
  const all = noStatistics()
  for (const { file, unreadable } of await listSessions(folder)) {
    if (unreadable !== null) continue
    const log = sessionToRead(file)
    addSession(all, log.read(0, Number.MAX_SAFE_INTEGER))
    log.close()
  }
  print(statisticsText(all))
  return 0
}
