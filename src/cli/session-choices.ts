import { homedir } from 'node:os'
import { relative, resolve } from 'node:path'
import { lockOf } from '../session/companion.ts'
import { completeSessions, sessionEntry, sessionsIn, type SessionEntry } from '../session/list.ts'
import { isHeld, readLock } from '../session/lock.ts'
import { searchSessions } from '../session/search.ts'
import type { SessionFault } from '../session/fault.ts'
import { renameSession } from '../session/store.ts'
import type { SessionChoice, Sessions } from '../ui/port.ts'
import type { Connections } from './connections.ts'
import { commandThere, foldersNear } from './elsewhere.ts'
import { fileOf, folderOf, SessionError } from './open-session.ts'
import { shortFolder, type Place } from './place.ts'
import { secretsOf } from './secrets.ts'
import { removeSessions } from './tidy.ts'

/** The sessions as the screen lists, searches and changes them. Their key is their file. */
export function sessionChoices(connections: Connections): Sessions {
  // Read anew where it may have become another one (the demo of a first run).
  const folder = (): string => folderOf(connections.place, connections.settings)
  return {
    list: (signal) => listChoices(connections.place, folder(), signal),
    async *search(keys, query, signal) {
      for await (const { file, excerpt } of searchSessions(keys, query, { most: 1, before: 20, signal })) yield { key: file, excerpt }
    },
    find: async (wanted) => toChoice(sessionEntry(await fileOf(wanted, foldersNear(connections.place, folder()))), connections.place, folder()),
    open: (key) => connections.open(key),
    fresh: () => connections.fresh(),
    fork: (key, seq) => connections.fork(seq === undefined ? key : `${key}:${seq}`),
    rename: (key, title) => done(renameSession(key, title, () => Date.now())),
    remove: (key) => done(removeSessions([key], new AbortController().signal).fault),
    exportTo: async (key, file) => {
      const { exportFile } = await import('./export-session.ts')
      const to = resolve(connections.place.cwd, file.replace(/^~(?=\/)/, homedir()))
      return exportFile(to, { file: key, id: sessionEntry(key).id }, secretsOf(process.env, connections.settings.config.providers))
    },
  }
}

const done = (fault: SessionFault | null): Promise<void> => (fault ? Promise.reject(new SessionError(fault)) : Promise.resolve())

async function* listChoices(place: Place, own: string, signal: AbortSignal): ReturnType<Sessions['list']> {
  const folders = foldersNear(place, own)
  const found = new Map<string, SessionEntry[]>()
  const choices = (entries: readonly SessionEntry[]): SessionChoice[] => entries.filter(({ hasInput, unreadable }) => hasInput || unreadable !== null).map((entry) => toChoice(entry, place, own))
  for (const folder of folders) {
    const entries: SessionEntry[] = []
    found.set(folder, entries)
    try {
      for await (const piece of sessionsIn(folder, signal)) {
        entries.push(...piece)
        yield { sessions: choices(piece) }
      }
    } catch (error) {
      // Another work tree's folder may be anything; this one's has to be readable.
      if (folder === own) throw error
    }
  }
  yield { sessions: [], isLast: true }
  for (const [folder, entries] of found) for await (const entry of completeSessions(folder, entries, signal)) yield { sessions: choices([entry]) }
}

function toChoice(entry: SessionEntry, place: Place, folder: string): SessionChoice {
  const elsewhere = entry.root !== '' && entry.root !== place.root
  return {
    key: entry.file, id: entry.id, title: entry.title ?? entry.words, words: entry.words, at: entry.last, bytes: entry.bytes,
    outcome: entry.outcome, held: entry.locked ? holderOf(entry.file) : null, cost: entry.cost === null ? null : { usd: entry.cost, unknown: entry.costUnknown },
    branch: entry.branch, folder: folderName(entry, place), elsewhere: elsewhere ? { command: commandThere(entry, place, folder) } : null, unreadable: entry.unreadable,
  }
}

/** Beside this one, by the way from here to there. */
function folderName({ cwd, root }: SessionEntry, place: Place): string | null {
  if (cwd === '' || cwd === place.cwd) return null
  return root === place.root ? relative(place.cwd, cwd) : shortFolder(cwd, place.home)
}

function holderOf(file: string): string | null {
  const lock = lockOf(file)
  const holder = isHeld(lock) ? readLock(lock) : null
  return holder && `pid ${holder.pid} on ${holder.host}`
}
