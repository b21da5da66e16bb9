import type { Command } from '../core/command.ts'
import type { AgentEvent } from '../core/ports.ts'
import type { Fact } from '../core/record.ts'
import { emptyView, reduce, type Row, type View } from '../core/view.ts'
import type { Connection } from './port.ts'

/** Stands for a session of which only the end is there yet. What is sent waits here, and in the draft, until it can go into the log. */
export interface Early extends Connection {
  rest: () => Promise<Connection>
  /** What waits, in the order it was sent. */
  waiting(): readonly Command[]
}

/** Null: the session is all there. */
export function early(connection: Connection): Early | null {
  const { rest } = connection
  if (!rest) return null
  const listeners = new Set<(event: AgentEvent) => void>()
  let queue: { id: string; command: Command }[] = []
  let seq = 0
  let count = 0
  let written = ''
  const tell = (fact: Fact): void => {
    const event = { seq: seq++, at: Date.now(), ...fact }
    for (const listener of listeners) listener(event)
  }
  const save = (): string | null => connection.draft.save([...queue.flatMap(({ command }) => (command.type === 'input' ? command.text : [])), written].filter((text) => text !== '').join('\n'))
  const takeBack = (ids: readonly string[], because: 'user' | 'interrupt'): void => {
    for (const input of ids) {
      queue = queue.filter(({ id }) => id !== input)
      tell({ type: 'withdraw', input, because })
    }
    void save()
  }
  const inputs = (): string[] => queue.filter(({ command }) => command.type === 'input').map(({ id }) => id)
  /** What would begin something is given up; settings are not. */
  const interrupt = (): void => {
    const begins = queue.flatMap(({ command }) => (command.type === 'shell' ? [`!${command.command}`] : command.type === 'compact' || command.type === 'check' ? [`/${command.type}`] : []))
    queue = queue.filter(({ command }) => command.type === 'input' || command.type === 'set')
    takeBack(inputs(), 'interrupt')
    if (begins.length > 0) for (const listener of listeners) listener({ type: 'error', message: `Not begun: ${begins.join(', ')}`, active: null })
  }
  const send = (command: Command): void => {
    if (command.type === 'withdraw') return takeBack(inputs().filter((id) => id === command.input).slice(-1), 'user')
    if (command.type === 'interrupt') return interrupt()
    const id = `early-${count++}`
    queue.push({ id, command })
    if (command.type !== 'input') return
    void save()
    tell({ type: 'input', id, text: command.text, from: 'user', when: command.when ?? 'next', ...(command.images ? { images: command.images } : {}) })
  }
  return {
    rest, session: connection.session, records: connection.records,
    ...(connection.readOnly === undefined ? {} : { readOnly: connection.readOnly, live: connection.live ?? false }),
    send,
    waiting: () => queue.map(({ command }) => command),
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    draft: {
      load: () => connection.draft.load(),
      save: (text) => {
        written = text
        return save()
      },
    },
    close: () => connection.close(),
  }
}

/** The last rows of a session whose beginning is not known. What cannot be said without it is left out. */
export function earlyView(records: Connection['records']): View {
  const last = records.reduce<View>(reduce, emptyView())
  const known = new Set(records.flatMap((record) => (record.type === 'step' && !('unknown' in record) && record.number === 1 ? [record.run] : [])))
  const rows = last.rows.slice().map((row): Row => (row.kind === 'outcome' && !known.has(row.run) ? withoutFigures(row) : row))
  const { session, root, cwd, branch, model } = last.status
  const nothing = emptyView()
  return { ...nothing, rows: nothing.rows.push(rows), status: { ...nothing.status, session, root, cwd, branch, model } }
}

/** Its run began before what is there. */
const withoutFigures = (row: Extract<Row, { kind: 'outcome' }>): Row => ({ ...row, steps: 0, calls: 0, tokens: { input: 0, output: 0 }, cost: { usd: 0, unknown: false }, files: [], added: 0, removed: 0 })
