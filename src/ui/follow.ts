import type { AgentEvent } from '../core/ports.ts'
import type { Image, RecordOf, SessionRecord } from '../core/record.ts'
import { reduce } from '../core/view.ts'
import { moveTo, place } from './editor-moves.ts'
import { isEmpty, newline, paste } from './editor-state.ts'
import { outputOf } from './output.ts'
import type { Connection } from './port.ts'
import { noAsk, type Screen } from './screen.ts'
import type { Stage } from './stage.ts'
import { listOf } from './todo.ts'

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
    const list = rows.map(listOf).findLast((text) => text !== null)
    if (list != null) made.push((screen) => (screen.todo.open ? { ...screen, todo: { open: true, text: list } } : screen))
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
      if (event.type === 'error') changes.push((screen) => ({ ...screen, busy: null, ...(event.active === null ? { stopping: null, ask: noAsk() } : {}) }))
      if (event.type === 'error') soon()
      else if (!scheduled) cancel ??= stage.later(GATHER, flush)
      return
    }
    if (event.type === 'input') waiting.set(event.id, event)
    changes.push(...changesOf(event, waiting))
    if (event.type === 'withdraw') waiting.delete(event.input)
    if (event.type === 'step') for (const id of event.inputs) waiting.delete(id)
    if (before.status.title !== view.status.title) terminal.title(`Tiller: ${view.status.title}`)
    if (stage.host.settings.notify && (event.type === 'ask' || event.type === 'pause' || (event.type === 'outcome' && (event.ms ?? 0) > LONG))) terminal.bell()
    soon()
  }
  if (view.status.title !== '') terminal.title(`Tiller: ${view.status.title}`)
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
