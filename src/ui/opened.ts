import { beginView, carriedInputs, inPlace } from '../core/view-open.ts'
import { reduce, withNote, type View } from '../core/view.ts'
import { early, earlyView } from './early.ts'
import { emptyEditor, paste } from './editor-state.ts'
import { outputOf } from './output.ts'
import type { Connection } from './port.ts'
import { noAsk, type Screen, type Shown } from './screen.ts'
import type { Stage } from './stage.ts'

/** The screen's state for a session that has just been opened. */
export function opened(connection: Connection, base: Screen): Screen {
  const first = early(connection)
  const draft = connection.draft.load()
  return {
    ...base, ...(first ? { connection: first, view: earlyView(first.records), output: null, inputs: new Map() } : { connection, ...folded(connection) }), moving: new Set(), editor: draft === '' ? emptyEditor : { ...paste(emptyEditor, draft), undo: [] },
    notice: connection.readOnly === undefined ? base.notice : { text: `${connection.readOnly} ${HOW_TO_GO_ON}`, tone: 'hint' },
    completion: null, overlay: null, ask: noAsk(), busy: null, stopping: null, switching: false, images: [], returned: 0, todo: { ...base.todo, text: '' },
  }
}

/** In a session that can only be read. */
export const HOW_TO_GO_ON = '/fork goes on in a copy.'

type Folded = Pick<Screen, 'view' | 'output' | 'inputs'>

function folded(connection: Connection): Folded {
  for (const fold = folding(connection); ; ) {
    const next = fold.next()
    if (next.done) return next.value
  }
}

/** In pieces: it can pause after each record. */
export function* folding(connection: Connection): Generator<View, Folded> {
  const { session, records, damage = [], readOnly, live } = connection
  let view = beginView(records)
  let output: Shown | null = null
  const inputs: Screen['inputs'] = new Map(carriedInputs(records).map((input) => [input.id, input]))
  for (const record of inPlace(records, damage)) {
    view = reduce(view, record)
    yield view
    if (!('seq' in record) || 'unknown' in record) continue
    output = outputOf(record) ?? output
    if (record.type === 'input') inputs.set(record.id, record)
  }
  // Whoever can write to it settles such a run; here it is only not to look as if it went on.
  if (readOnly !== undefined && live !== true && view.run) view = reduce(view, { type: 'error', message: 'This run was cut off: the tiller that ran it has ended.', active: null })
  const { last } = view
  if (hasBegun(connection)) view = withNote(view, { kind: 'resume', id: session, title: view.status.title, outcome: last?.status ?? null, reason: last?.reason ?? '' })
  const waiting = new Set(view.waiting.map(({ id }) => id))
  for (const id of inputs.keys()) if (!waiting.has(id)) inputs.delete(id)
  return { view, output, inputs }
}

/** Something was said in it, if only before what is in memory. Until then a session is empty, whatever its log says of settings. */
export const hasBegun = ({ records, rest }: Connection): boolean => rest !== undefined || records.some(({ type }) => type === 'input' || type === 'compact')

/** What was under way is put back where it can be decided on: nothing is sent behind a person's back. */
export function takeBackWaiting(screen: Screen): void {
  if (screen.connection.readOnly !== undefined || screen.view.run) return
  for (const { id, from } of screen.view.waiting) if (from === 'user') screen.connection.send({ type: 'withdraw', input: id })
}

/** The end of the transcript, at most `most` rows of the screen, and what came before in words. */
export function lastRows(stage: Stage, view: View, columns: number, most: number): string {
  let from = view.rows.length
  let text = ''
  while (from > 0) {
    const start = Math.max(0, from - 20)
    const more = stage.draw.rows(view.rows.slice(start, from), columns, view.rows.at(start - 1))
    if (text !== '' && more.split('\n').length + text.split('\n').length > most) break
    text = more + text
    from = start
  }
  return from === 0 ? text : `${stage.store.get().theme.dim(`… ${from} earlier rows: /fullscreen`)}\n${text}`
}
