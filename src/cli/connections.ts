import { isKnownRecord } from '../core/path.ts'
import { readDraft, takeLeftDraft, writeDraft } from '../session/draft.ts'
import { lockOf } from '../session/companion.ts'
import { inWords } from '../session/fault.ts'
import { isHeld } from '../session/lock.ts'
import type { SessionLog } from '../session/log.ts'
import type { Connection } from '../ui/port.ts'
import { configure, type Settings } from './configure.ts'
import { connect, type Connected } from './connect.ts'
import { folderOf, forkOf, freshSession, sessionNamed } from './open-session.ts'
import type { Options } from './options.ts'
import type { Place } from './place.ts'
import { warmForChange, warmForRequest } from './warm.ts'

/** The session that the screen shows, and how to get to another one. */
export interface Connections {
  place: Place
  settings: Settings
  options: Options
  current(): Connected
  begin(log: SessionLog): Promise<Connection>
  open(id: string): Promise<Connection>
  fresh(): Promise<Connection>
  fork(wanted: string): Promise<Connection>
  /** Sets the model of the current session and goes on with it. */
  useModel(model: string): Promise<Connection>
  /** After the folder was trusted: what it brings holds from the next call on. */
  reconfigure(): Promise<void>
}

export function openConnections(place: Place, settings: Settings, options: Options, msPerDelta?: number): Connections {
  let current: Connected | null = null
  const folder = folderOf(place, settings)
  const begin = async (log: SessionLog): Promise<Connection> => {
    try {
      current = await connect({ log, place, settings, options, canAsk: () => true, canPause: true, mustHaveModel: false, ...(msPerDelta === undefined ? {} : { msPerDelta }) })
    } catch (error) {
      // Else this program would stand in its own way when it is tried again.
      log.close()
      throw error
    }
    return connectionOf(current, folder)
  }
  return {
    place, settings, options, begin,
    current: () => {
      if (!current) throw new Error('no session is connected yet')
      return current
    },
    open: async (id) => begin(await sessionNamed(id, place, folder, true)),
    fresh: () => begin(freshSession(place, folder)),
    fork: async (wanted) => begin(await forkOf(wanted, place, folder)),
    useModel: async (model) => {
      options.model = model
      settings.config.model = model
      return begin(freshSession(place, folder))
    },
    reconfigure: async () => {
      Object.assign(settings, await configure(options, place))
    },
  }
}

function connectionOf(connected: Connected, folder: string): Connection {
  const { agent, log, jobs, checkpoints, rest, close } = connected
  let isWarm = false
  const live = log.readOnly !== null && isHeld(lockOf(log.file))
  return {
    session: log.id,
    get records() {
      return log.records
    },
    damage: log.damage,
    ...(rest ? { rest: () => rest().then((whole) => connectionOf(whole, folder)) } : {}),
    subscribe: (listener) => {
      // Whoever follows it is on the screen: nobody waits for what is loaded from now on.
      if (!isWarm) warmForRequest(connected.models, connected.model, connected.tools)
      isWarm = true
      return live ? watch(log, listener) : agent.subscribe(listener)
    },
    send: (command) => agent.send(command),
    draft: {
      load: () => readDraft(log.file) || (hasInput(log) ? '' : takeLeftDraft(folder)),
      save: (text) => {
        try {
          writeDraft(log.file, text)
          if (log.readOnly === null && /^\s*[^\s/]/.test(text)) warmForChange(agent, checkpoints)
          return null
        } catch (error) {
          return inWords(error)
        }
      },
    },
    ...(log.readOnly === null ? {} : { readOnly: log.readOnly, live }),
    close: () => {
      void agent.stop('the session was left').then(() => jobs.leave()).finally(close)
    },
  }
}

const LOOK_MS = 500

/** What somebody else appends, as it comes, until nobody does any more. */
function watch(log: SessionLog, listener: Parameters<Connection['subscribe']>[0]): () => void {
  const timer = setInterval(() => {
    // Looked at first: what was written before the end is read after it.
    const goesOn = isHeld(lockOf(log.file))
    for (const record of log.refresh()) if (isKnownRecord(record)) listener(record)
    if (goesOn) return
    clearInterval(timer)
    listener({ type: 'error', message: `The tiller that had this session open has ended. /resume ${log.id} takes it over.`, active: null })
  }, LOOK_MS)
  return () => clearInterval(timer)
}

const hasInput = (log: SessionLog): boolean => log.partial || log.records.some((record) => isKnownRecord(record) && (record.type === 'input' || record.type === 'compact'))
