import type { When } from '../core/record.ts'
import type { View } from '../core/view.ts'
import { textOf } from './editor-state.ts'
import type { Action } from './keys.ts'
import { change, hint, type Stage } from './stage.ts'

/** Opens the choice among the waiting texts. */
export function openQueue(stage: Stage): void {
  const last = own(stage).at(-1)
  if (!last) return hint(stage, 'Nothing is waiting.')
  change(stage, { overlay: { kind: 'queue', id: last.id }, completion: null })
}

/** A key while one of the waiting texts is chosen. What was delivered meanwhile can no longer be moved. */
export function queueKey(stage: Stage, id: string, chord: string, action: Action | undefined): void {
  const waiting = own(stage)
  const index = waiting.findIndex((each) => each.id === id)
  const { connection } = stage.store.get()
  if (index < 0) return change(stage, { overlay: null })
  if (chord === 'shift+up' || chord === 'shift+down') return reorder(stage, index, chord === 'shift+up' ? -1 : 1)
  switch (action) {
    case 'up':
    case 'down':
      return change(stage, { overlay: { kind: 'queue', id: waiting[Math.max(0, Math.min(waiting.length - 1, index + (action === 'up' ? -1 : 1)))]?.id ?? id } })
    case 'send':
      change(stage, { overlay: null })
      return connection.send({ type: 'withdraw', input: id })
    case 'delete-back':
    case 'delete-forward':
      change(stage, { overlay: null, moving: new Set([id]) })
      connection.send({ type: 'withdraw', input: id })
      return hint(stage, 'Taken back. Up finds it among the earlier inputs.')
    default:
      return change(stage, { overlay: null })
  }
}

export function queueText(stage: Stage, id: string, text: string): boolean {
  const when = ({ n: 'next', a: 'after', '!': 'now' } as const)[text.toLowerCase()]
  if (when) moveTo(stage, id, when)
  return true
}

type Waiting = View['waiting'][number]

const own = (stage: Stage): Waiting[] => stage.store.get().view.waiting.filter(({ from }) => from === 'user')

function moveTo(stage: Stage, id: string, when: When): void {
  const moved = own(stage).find((each) => each.id === id)
  if (!moved || moved.when === when) return
  resend(stage, [moved], [{ ...moved, when }])
}

/** The order of the log is the order of delivery: everything from the first that moves on is sent anew. */
function reorder(stage: Stage, index: number, step: -1 | 1): void {
  const waiting = own(stage)
  const first = Math.min(index, index + step)
  const [one, other] = [waiting[first], waiting[first + 1]]
  if (!one || !other) return
  resend(stage, waiting.slice(first), [other, one, ...waiting.slice(first + 2)])
}

/**
 * Takes texts back and sends them again. Each stands in the draft until it is in the log anew, so that a crash in between
 * loses none; one that was delivered meanwhile is not taken back and so not sent twice.
 */
function resend(stage: Stage, old: readonly Waiting[], anew: readonly Waiting[]): void {
  const { connection, editor, view, inputs } = stage.store.get()
  const written = textOf(editor)
  // As it was typed: the view's own text is made safe for the screen.
  const again = anew.map(({ id, text, when, images }) => ({ id, when, images, text: inputs.get(id)?.text ?? text }))
  connection.draft.save([...again.map(({ text }) => text), written].join('\n'))
  change(stage, { moving: new Set(old.map(({ id }) => id)) })
  const back = new Set<string>()
  const stop = connection.subscribe((event) => {
    if (event.type === 'withdraw') back.add(event.input)
  })
  for (const { id } of old) connection.send({ type: 'withdraw', input: id })
  stop()
  for (const { id, text, when, images } of again) if (back.has(id)) connection.send({ type: 'input', text, when, ...(images.length > 0 ? { images: [...images] } : {}) })
  connection.draft.save(written)
  change(stage, { overlay: null })
  if (view.run && back.size < old.length) hint(stage, 'What was delivered in the meantime could not be moved.')
}
