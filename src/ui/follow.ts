import type { AgentEvent } from '../core/ports.ts'
import type { Image, RecordOf, SessionRecord } from '../core/record.ts'
import { emptyView, reduce, withNote, type Row, type View } from '../core/view.ts'
import { emptyEditor, isEmpty, newline, paste, textOf } from './editor-state.ts'
import { place, moveTo } from './editor-moves.ts'
import type { Connection } from './port.ts'
import { noAsk, type Screen, type Shown } from './screen.ts'
import { change, type Stage } from './stage.ts'

/** How long pieces of a reply are gathered before they are drawn. */
const GATHER = 33
/** A run that took longer rings the bell when it ends. */
const LONG = 10_000

/** Folds the events of a connection into the screen, and prints rows as they settle, once. Returns how to stop. */
export function follow(stage: Stage, connection: Connection): () => void {
  const { store, terminal, draw } = stage
  let view = store.get().view
  let printed = view.rows.length
  let changes: ((screen: Screen) => Screen)[] = []
  let cancel: (() => void) | null = null
  let scheduled = false
  const waiting = store.get().inputs

  const flush = (): void => {
    cancel?.()
    cancel = null
    scheduled = false
    const made = changes
    changes = []
    const shown = view
    const apply = (): void => store.update((screen) => made.reduce((next, each) => each(next), { ...screen, view: shown, printed: screen.printed + 1, returned: 0 }))
    const rows = shown.rows.slice(printed)
    const before = shown.rows.at(printed - 1)
    printed = shown.rows.length
    if (rows.length === 0) return apply()
    terminal.print(draw.rows(rows, store.get().size.columns, before), apply)
  }
  const soon = (): void => {
    if (scheduled) return
    scheduled = true
    queueMicrotask(flush)
  }
  const take = (event: AgentEvent): void => {
    const before = view
    view = reduce(view, event)
    if (!('seq' in event)) {
      if (event.type === 'error') changes.push((screen) => ({ ...screen, busy: null }))
      if (event.type === 'error') soon()
      else if (!scheduled) cancel ??= stage.later(GATHER, flush)
      return
    }
    if (event.type === 'input') waiting.set(event.id, event)
    changes.push(...changesOf(event, waiting))
    if (event.type === 'withdraw') waiting.delete(event.input)
    if (event.type === 'step') for (const id of event.inputs) waiting.delete(id)
    if (before.status.title !== view.status.title) terminal.title(`Tiller: ${view.status.title}`)
    if (stage.host.settings.notify && (event.type === 'ask' || (event.type === 'outcome' && (event.ms ?? 0) > LONG))) terminal.bell()
    soon()
  }
  const unsubscribe = connection.subscribe(take)
  return () => {
    cancel?.()
    unsubscribe()
  }
}

/** What a record changes on the screen beside the view. */
function changesOf(record: SessionRecord, waiting: ReadonlyMap<string, RecordOf<'input'>>): ((screen: Screen) => Screen)[] {
  switch (record.type) {
    case 'withdraw': {
      const input = waiting.get(record.input)
      return input ? [(screen) => (screen.moving.has(input.id) ? screen : takenBack(screen, input.text, input.images ?? []))] : []
    }
    case 'step':
    case 'compact':
      return [(screen) => ({ ...screen, busy: null })]
    case 'outcome':
      return [(screen) => ({ ...screen, busy: null, stopping: null, ask: noAsk() })]
    case 'result':
    case 'shell':
    case 'check': {
      const output = outputOf(record)
      return output ? [(screen) => ({ ...screen, output })] : []
    }
    default:
      return []
  }
}

/** Before what is being written, after what came back before it in the same stroke. */
export function takenBack(screen: Screen, text: string, images: readonly Image[]): Screen {
  const { editor, returned } = screen
  const alone = isEmpty(editor)
  const at = returned === 0 ? moveTo(editor, place.start()) : newline(moveTo(editor, { row: returned - 1, col: editor.lines[returned - 1]?.length ?? 0 }))
  const put = paste(at, text)
  const whole = alone || returned > 0 ? put : newline(put)
  return { ...screen, editor: moveTo(whole, place.end(whole)), images: [...screen.images, ...images], returned: put.row + 1 }
}

/** The screen's state for a session that has just been opened. */
export function opened(connection: Connection, base: Screen): Screen {
  let view: View = emptyView()
  let output: Shown | null = null
  const inputs: Screen['inputs'] = new Map()
  for (const record of connection.records) {
    view = reduce(view, record)
    if ('unknown' in record) continue
    output = outputOf(record) ?? output
    if (record.type === 'input') inputs.set(record.id, record)
  }
  const waiting = new Set(view.waiting.map(({ id }) => id))
  for (const id of inputs.keys()) if (!waiting.has(id)) inputs.delete(id)
  const outcome = view.last
  if (connection.records.length > 1) view = withNote(view, { kind: 'resume', id: connection.session, title: view.status.title, outcome: outcome?.status ?? null, reason: outcome?.reason ?? '' })
  const draft = connection.draft.load()
  return {
    ...base, connection, view, output, inputs, moving: new Set(), editor: draft === '' ? emptyEditor : { ...paste(emptyEditor, draft), undo: [] },
    completion: null, overlay: null, ask: noAsk(), busy: null, stopping: null, images: [], returned: 0, todo: { ...base.todo, text: '' },
  }
}

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

/** The draft is written when typing pauses, and by `flush` on the way out. */
export function keepDraft(stage: Stage): { flush: () => void; stop: () => void } {
  let saved = stage.store.get().editor.lines
  let cancel: (() => void) | null = null
  const flush = (): void => {
    cancel?.()
    cancel = null
    const { editor, connection } = stage.store.get()
    if (editor.lines === saved) return
    saved = editor.lines
    connection.draft.save(textOf(editor))
  }
  const unsubscribe = stage.store.subscribe(() => {
    if (stage.store.get().editor.lines === saved) return
    cancel ??= stage.later(300, flush)
  })
  return { flush, stop: unsubscribe }
}

function outputOf(record: SessionRecord): Shown | null {
  switch (record.type) {
    case 'result':
      return record.text === '' && !record.output ? null : { title: 'Last output', text: record.diff ?? record.text, sha256: record.diff ? null : (record.output?.sha256 ?? null) }
    case 'shell':
    case 'check':
      return { title: record.command, text: record.text ?? '', sha256: record.output?.sha256 ?? null }
    default:
      return null
  }
}

export const todoRow = (row: Row): string | null => (row.kind === 'call' && row.name === 'todo' && row.output.text !== '' ? row.output.text : null)

/** Shows or hides what the todo list says now. */
export function toggleTodo(stage: Stage): void {
  const { todo, view } = stage.store.get()
  if (todo.open) return change(stage, { todo: { ...todo, open: false } })
  let text = ''
  for (let index = view.rows.length - 1; index >= 0 && text === ''; index--) text = todoRow(view.rows.at(index) ?? { kind: 'error', message: '' }) ?? ''
  change(stage, { todo: { open: true, text } })
}
