import { Effort, Mode } from '../core/record.ts'
import { isEmpty, replaceText } from './editor-state.ts'
import { tokens } from './figures.ts'
import { picker, type Choice, type Picker } from './picker.ts'
import type { Connection } from './port.ts'
import { isActive, isStoppable, type Screen } from './screen.ts'
import { background, change, fail, hint, type Stage } from './stage.ts'
import { toEditor } from './suggest.ts'
import { THEMES, themeOf } from './theme.ts'

/** Shows a list at once and fills it when its choices are there; one that was closed meanwhile stays closed. */
export function openList(stage: Stage, empty: Picker, choices: Promise<readonly Choice[]>): void {
  change(stage, { overlay: { kind: 'picker', picker: { ...empty, loading: true } }, completion: null })
  const still = (): Picker | null => {
    const { overlay } = stage.store.get()
    return overlay?.kind === 'picker' && overlay.picker.title === empty.title ? overlay.picker : null
  }
  background(stage, choices.then(
    (found) => {
      const now = still()
      if (now) change(stage, { overlay: { kind: 'picker', picker: { ...now, choices: found, loading: false } } })
    },
    (error: unknown) => {
      if (still()) change(stage, { overlay: null })
      fail(stage, error)
    },
  ))
}

const show = (stage: Stage, list: Picker): void => change(stage, { overlay: { kind: 'picker', picker: list }, completion: null })

/** A run belongs to its session: while one is active, or a command of the person's own, there is no going away from it. */
export const whyStay = (screen: Screen): string | null =>
  isStoppable(screen) ? `${isActive(screen) ? 'A run is active: Esc interrupts it' : 'Your command runs: Esc stops it'}, then go to another session.` : null
export const OPENING = 'Another session is being opened.'

/** Says why not, if so. */
export function switchTo(stage: Stage, opening: () => Promise<Connection>, after: () => void = () => undefined): string | void {
  const before = stage.store.get()
  const why = before.switching ? OPENING : whyStay(before)
  if (why !== null) return why
  change(stage, { switching: true })
  background(stage, opening().then(
    (connection) => {
      const { editor } = stage.store.get()
      stage.attach(connection)
      change(stage, { switching: false })
      // What was written since is meant for the one that was asked for.
      if (editor.lines !== before.editor.lines && !isEmpty(editor) && isEmpty(stage.store.get().editor)) {
        before.connection.draft.save('')
        toEditor(stage, () => editor)
      }
      after()
    },
    (error: unknown) => {
      change(stage, { switching: false })
      throw error
    },
  ))
}

export function openModels(stage: Stage): void {
  openList(stage, picker('Model', []), stage.host.models().then((models) =>
    models.map(({ id, note, ready }) => ({ label: id, note: ready ? note : `${note} (no key)`, act: () => setModel(stage, id) })),
  ))
}

/** A name that is wrong, or a key that is missing, is said now and not with the next prompt; so is a window that the conversation does not fit into (J21). */
export const setModel = (stage: Stage, model: string): void =>
  background(stage, stage.host.mustBeUsable(model).then(() => {
    const { view, connection } = stage.store.get()
    const set = (): void => connection.send({ type: 'set', model })
    const [window, used] = [stage.host.contextWindow(model), view.status.context]
    if (window === null || used === null || used <= window) return set()
    const first = compactFirst(stage, set)
    show(stage, picker(`${model} takes ${tokens(window)} tokens, and this conversation has about ${tokens(used)}.`, [
      { label: 'Take it', note: 'the older part is compacted by it before the next request', act: set },
      ...(isActive(stage.store.get()) ? [] : [{ label: 'Compact first, then take it', note: 'by the model that knows it all', act: first }]),
      { label: 'Leave the model as it is', note: '', act: () => undefined },
    ], { search: false, uninvited: { shownAt: null } }))
  }))

/** Where no summary comes about, nothing else happens. */
const compactFirst = (stage: Stage, then: () => void) => (): void => {
  const { connection } = stage.store.get()
  const stop = connection.subscribe((event) => {
    if (event.type !== 'compact' && event.type !== 'error') return
    stop()
    if (event.type === 'compact') then()
  })
  change(stage, { busy: 'compact' })
  connection.send({ type: 'compact' })
}

export function openEfforts(stage: Stage): void {
  const { status } = stage.store.get().view
  const choices = Effort.options.map((effort): Choice => ({ label: effort, note: '', act: () => stage.store.get().connection.send({ type: 'set', effort }) }))
  show(stage, picker('Effort', choices, { search: false, index: at(Effort.options, status.effort) }))
}

/** A list begins where things stand: Enter alone changes nothing. */
const at = <T,>(options: readonly T[], now: T | null): number => Math.max(0, now === null ? 0 : options.indexOf(now))

const MODES: Record<Mode, string> = {
  plan: 'reads, changes nothing',
  ask: 'asks before edits and commands',
  edit: 'edits in the folder, asks before commands',
  auto: 'commands run in the sandbox unasked',
  full: 'everything is allowed',
}

export function openModes(stage: Stage): void {
  const now = stage.store.get().view.status.mode ?? stage.host.about.mode
  const choices = Mode.options.map((mode): Choice => ({ label: mode, note: MODES[mode], act: () => stage.store.get().connection.send({ type: 'set', mode }) }))
  show(stage, picker('Mode', choices, { search: false, index: at(Mode.options, now) }))
}

export function openHistory(stage: Stage): void {
  const entries = [...new Set(stage.store.get().history.entries.toReversed())]
  if (entries.length === 0) return hint(stage, 'There are no earlier inputs.')
  show(stage, picker('Earlier inputs', entries.map((text) => ({ label: text.replace(/\s+/g, ' '), note: '', act: () => toEditor(stage, (editor) => replaceText(editor, text)) }))))
}

export const openThemes = (stage: Stage): void =>
  show(stage, picker('Theme', THEMES.map((name) => ({ label: name, note: '', act: () => void setTheme(stage, name) })), { search: false, index: at<string>(THEMES, stage.host.settings.theme) }))

export function setTheme(stage: Stage, name: string): string | void {
  const known = THEMES.find((each) => each === name)
  if (!known) return `There is no theme "${name}": ${THEMES.join(', ')}.`
  change(stage, { theme: themeOf(known, stage.abilities) })
  stage.host.remember({ theme: known })
}
