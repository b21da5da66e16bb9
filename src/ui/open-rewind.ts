import type { TreePoint } from '../core/tree.ts'
import { oneLine } from './choice-rows.ts'
import { isEmpty, newline, paste, replaceText, textOf } from './editor-state.ts'
import { moveTo, place } from './editor-moves.ts'
import { age } from './figures.ts'
import { picker, type Choice, type Picker } from './picker.ts'
import { switchTo } from './open-pickers.ts'
import { openPutBack } from './put-back.ts'
import { background, change, fail, hint, type Stage } from './stage.ts'
import { toEditor } from './suggest.ts'

const TITLE = 'Go back'

/** Every input of the session as a tree, newest first: on the live path, and on the paths that were left. */
export function openRewind(stage: Stage): void {
  if (stage.store.get().connection.rest) return hint(stage, 'The session is still being read.')
  const looking = new AbortController()
  show(stage, picker(TITLE, [], { loading: true, dismiss: () => looking.abort() }))
  const opened = (): Picker | null => {
    const { overlay } = stage.store.get()
    return !looking.signal.aborted && overlay?.kind === 'picker' && overlay.picker.title === TITLE ? overlay.picker : null
  }
  background(stage, stage.host.tree.points(looking.signal).then(
    (points) => {
      const list = opened()
      if (!list) return
      if (points.every(({ kind }) => kind === 'head')) {
        change(stage, { overlay: null })
        return hint(stage, 'There is no earlier input to go back to.')
      }
      // The newest input of the live path: what is most often meant.
      const index = list.query === '' ? Math.max(0, points.findIndex(({ kind, depth }) => kind === 'input' && depth === 0)) : 0
      show(stage, { ...list, loading: false, index, choices: points.map((point) => choiceOf(stage, point)), about: aboutOf(points) })
    },
    (error: unknown) => {
      if (!opened()) return
      change(stage, { overlay: null })
      fail(stage, error)
    },
  ))
}

const show = (stage: Stage, list: Picker): void => change(stage, { overlay: { kind: 'picker', picker: list }, completion: null })

function aboutOf(points: readonly TreePoint[]): string[] {
  const left = points.filter(({ kind, depth }) => kind === 'end' && depth > 0).length
  return [left === 0 ? 'To before an input. What follows stays in the log, and can be brought back here.' : `To before an input, or to the end of a path that was left (${left}). Nothing of it is lost.`]
}

const MARKS = { head: '◆', live: '●', left: '○', end: '◇', line: '│ ' }
const ASCII_MARKS = { head: '@', live: '*', left: 'o', end: '+', line: '| ' }

function choiceOf(stage: Stage, point: TreePoint): Choice {
  const { theme, size } = stage.store.get()
  const marks = theme.ascii ? ASCII_MARKS : MARKS
  const { kind, depth, outcome } = point
  const mark = kind === 'input' ? (depth === 0 ? marks.live : marks.left) : marks[kind]
  const lines = marks.line.repeat(Math.min(depth, size.columns < 60 ? 2 : 6))
  const said = kind === 'head' ? (point.text === '' ? 'now, at the beginning' : `now, after: ${words(point)}`) : kind === 'end' ? `the end, after: ${words(point)}` : words(point)
  const when = kind === 'head' ? '' : age(stage.clock() - point.at)
  const facts = [when, depth > 0 ? 'left' : '', outcome ?? '']
  return { label: `${lines}${mark} ${said}`, note: facts.filter(Boolean).join(' · '), details: () => facts, act: () => (kind === 'head' ? undefined : askWhat(stage, point)) }
}

const words = ({ text }: TreePoint): string => oneLine(text.slice(0, 300))

/** What goes back: the conversation, the files, or both. */
function askWhat(stage: Stage, point: TreePoint): void {
  const { host } = stage
  const unreadable = host.tree.unreadable(point.to)
  const anyway = unreadable === null ? '' : ', all the same'
  const conversation = (to: number) => (): void => goBack(stage, point, to, unreadable !== null)
  const isInput = point.kind === 'input'
  const where = isInput ? `before "${words(point)}"` : `the end of a left path, after "${words(point)}"`
  const files = (title: string, none: () => void, after?: () => void): void => openPutBack(stage, { title, what: { to: point.withFiles }, none, ...(after ? { after } : {}) })
  show(stage, picker(`Go back to ${where}`, [
    { label: `Conversation${anyway}`, note: isInput ? 'its text comes back to the editor; files stay as they are' : 'it goes on from there; files stay as they are', act: conversation(point.to) },
    {
      label: `Conversation and files${anyway}`, note: 'shows first which files would be put back',
      act: () => files('Put files back, and the conversation with them', conversation(point.withFiles), conversation(point.withFiles)),
    },
    {
      label: 'Files', note: 'the conversation goes on from here, and the model is told',
      act: () => files('Put files back', () => hint(stage, 'The session changed no file since then, or all is put back.')),
    },
    { label: `A copy of the session${anyway}`, note: 'goes on from there; this one stays as it is', act: () => copy(stage, point) },
  ], { search: false, about: unreadable === null ? [] : [unreadable] }))
}

function goBack(stage: Stage, point: TreePoint, to: number, anyway: boolean): void {
  const { connection } = stage.store.get()
  const before = connection.records.at(-1)?.seq
  connection.send({ type: 'rewind', to, ...(anyway ? { anyway } : {}) })
  if (connection.records.at(-1)?.seq !== before) takeText(stage, point)
}

function copy(stage: Stage, point: TreePoint): void {
  const why = switchTo(stage, () => stage.host.sessions.fork(stage.store.get().connection.session, point.to), () => takeText(stage, point))
  if (why) hint(stage, why)
}

/** What was sent there comes back to be sent again, before anything that is being written. */
function takeText(stage: Stage, { kind, text, images }: TreePoint): void {
  if (kind !== 'input') return
  stage.store.update((screen) => ({ ...screen, images: [...images, ...screen.images] }))
  toEditor(stage, (editor) => {
    if (isEmpty(editor) || textOf(editor).trim() === '') return replaceText(editor, text)
    const both = newline(paste(moveTo(editor, place.start()), text))
    return moveTo(both, place.end(both))
  })
}
