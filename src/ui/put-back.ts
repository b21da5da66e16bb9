import { sanitize } from '../core/sanitize.ts'
import { oneLine } from './choice-rows.ts'
import { count } from './figures.ts'
import { columnsOf, fit, wrap } from './graphemes.ts'
import { picker, type Choice, type Picker } from './picker.ts'
import type { FileEntry, FilePlan, PutBack } from './port.ts'
import { say } from './say.ts'
import { background, change, fail, hint, type Stage } from './stage.ts'

export interface Asked {
  title: string
  what: PutBack
  /** There is nothing to put back. */
  none: () => void
  /** After it was done, all of it or some. */
  after?: () => void
}

/** What the last run that changed files did to them. */
export const openUndo = (stage: Stage): void =>
  openPutBack(stage, { title: 'Put back what the last run changed', what: 'last', none: () => hint(stage, 'No run of this session has changed files that are not put back already.') })

/** Says which files would be put back, and asks. Nothing is touched before the answer. */
export function openPutBack(stage: Stage, asked: Asked): void {
  if (stage.store.get().connection.rest) return hint(stage, 'The session is still being read.')
  const looking = new AbortController()
  const waiting = picker(asked.title, [], { search: false, loading: true, dismiss: () => looking.abort() })
  show(stage, waiting)
  const isOpen = (): boolean => isShown(stage, waiting.title)
  background(stage, stage.host.putBack(asked.what, looking.signal).then(
    (plan) => {
      if (looking.signal.aborted || !isOpen()) return
      change(stage, { overlay: null })
      if (!plan || plan.entries.length === 0) return asked.none()
      ask(stage, { ...asked, title: asked.what === 'last' && plan.about !== null ? `Put back what "${fit(oneLine(plan.about), MOST_ABOUT)}" changed` : asked.title, plan })
    },
    (error: unknown) => {
      if (looking.signal.aborted) return
      if (isOpen()) change(stage, { overlay: null })
      fail(stage, error)
    },
  ))
}

/** Of what a run was about. */
const MOST_ABOUT = 50

interface Planned extends Asked {
  plan: FilePlan
}

const show = (stage: Stage, list: Picker): void => change(stage, { overlay: { kind: 'picker', picker: list }, completion: null })

function isShown(stage: Stage, title: string): boolean {
  const { overlay } = stage.store.get()
  return overlay?.kind === 'picker' && overlay.picker.title === title
}

const those = (plan: FilePlan, ...verdicts: FileEntry['verdict'][]): FileEntry[] => plan.entries.filter(({ verdict }) => verdicts.includes(verdict))

function ask(stage: Stage, planned: Planned): void {
  const { plan, title } = planned
  const [sure, unsure] = [those(plan, 'yes'), those(plan, 'ask')]
  const again = (): void => ask(stage, planned)
  const put = (entries: readonly FileEntry[]) => (): void => carryOut(stage, planned, new Set(entries.map(({ id }) => id)))
  const choices: Choice[] = [
    ...(sure.length > 0 ? [{ label: doing(sure), note: '', act: put(sure) }] : []),
    ...(unsure.length > 0 ? [{ label: sure.length > 0 ? `${doing([...sure, ...unsure])}: also what changed while a command ran` : doing(unsure), note: '', act: put([...sure, ...unsure]) }] : []),
    ...(those(plan, 'yes', 'ask', 'refuse').length > 0 ? [{ label: 'Choose file by file', note: '', act: () => chooseFiles(stage, planned, new Set(sure.map(({ id }) => id)), 0) }] : []),
    { label: 'Show the diff', note: 'from the files as they are to what they would be', act: () => background(stage, showDiff(stage, plan).then(again)) },
    ...(planned.after ? [{ label: 'Only the conversation', note: 'all files stay as they are', act: planned.after }] : []),
    { label: 'Cancel', note: 'nothing is changed', act: () => undefined },
  ]
  const about = aboutLines(stage, plan, choices.length)
  if (about.left > 0) choices.splice(-1, 0, { label: 'List all files', note: '', act: () => background(stage, stage.terminal.page(title, plan.entries.map(fileLine).join('\n')).then(again)) })
  // It came when it was ready: a key that was on its way must not answer it.
  show(stage, picker(title, choices, { search: false, about: about.lines, uninvited: { shownAt: null } }))
}

/** `Put 2 files back, remove 1` */
function doing(entries: readonly FileEntry[]): string {
  const removed = entries.filter(({ action }) => action === 'delete').length
  const back = entries.length - removed
  if (back === 0) return `Remove ${count(removed, 'file')}`
  return `Put ${count(back, 'file')} back${removed > 0 ? `, remove ${removed}` : ''}`
}

/** So many of the files as leave room for the choices, and what is not undone. */
function aboutLines(stage: Stage, { entries, notes }: FilePlan, choices: number): { lines: string[]; left: number } {
  const { columns, rows } = stage.store.get().size
  const said = notes.map((note) => sanitize(note)).filter((note) => note !== '')
  const noteRows = said.reduce((sum, note) => sum + Math.min(2, wrap(note, columns).length), 0)
  const room = Math.max(2, Math.min(24, rows - 6) - 4 - choices - noteRows)
  const most = entries.length > room ? room - 1 : entries.length
  const left = entries.length - most
  return { lines: [...entries.slice(0, most).map(fileLine), ...(left > 0 ? [`  … and ${left} more`] : []), ...said.map((note) => short(note, columns))], left }
}

/** Two rows are enough for what only has to be known. */
const short = (note: string, columns: number): string => (Number.isFinite(columns) && columnsOf(note) > 2 * columns ? `${note.slice(0, Math.max(0, 2 * columns - 2))}…` : note)

const fileLine = ({ path, action, verdict, why }: FileEntry): string => {
  const does = action === 'delete' ? 'remove  ' : 'put back'
  switch (verdict) {
    case 'yes':
      return `  ${does}  ${oneLine(path)}`
    case 'ask':
      return `? ${does}  ${oneLine(path)} (${oneLine(why)})`
    case 'refuse':
    case 'lost':
      return `  stays     ${oneLine(path)} (${oneLine(why)})`
  }
}

/** Enter changes whether a file is among them; the first row does it. */
function chooseFiles(stage: Stage, planned: Planned, chosen: ReadonlySet<string>, index: number): void {
  const { plan } = planned
  const possible = those(plan, 'yes', 'ask', 'refuse')
  const taken = possible.filter(({ id }) => chosen.has(id))
  const toggle = (id: string, at: number) => (): void => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    chooseFiles(stage, planned, next, at)
  }
  const files = possible.map(({ id, path, action, verdict, why }, at): Choice => ({
    label: `[${chosen.has(id) ? 'x' : ' '}] ${action === 'delete' ? 'remove' : 'put back'} ${tail(stage, path)}`, note: verdict === 'yes' ? '' : why, act: toggle(id, at + 1),
  }))
  const first: Choice = taken.length > 0 ? { label: doing(taken), note: '', act: () => carryOut(stage, planned, chosen) } : { label: 'None is chosen', note: '', act: () => ask(stage, planned) }
  show(stage, picker('Which files?', [first, ...files], { search: false, index, about: ['Enter on a file takes it in or leaves it out.'], dismiss: () => ask(stage, planned) }))
}

/** The end of a path says more than its beginning. */
function tail(stage: Stage, path: string): string {
  const { columns } = stage.store.get().size
  const room = Math.max(16, Math.floor(columns * 0.6) - 18)
  return path.length <= room ? path : `…${path.slice(1 - room)}`
}

async function showDiff(stage: Stage, plan: FilePlan): Promise<void> {
  const { columns } = stage.store.get().size
  await stage.terminal.page('What would change', stage.draw.said({ text: await plan.diff(), as: 'diff' }, columns))
}

function carryOut(stage: Stage, { plan, after }: Planned, chosen: ReadonlySet<string>): void {
  change(stage, { busy: 'undo' })
  background(stage, plan.carryOut(chosen).finally(() => change(stage, { busy: null })).then(async ({ done, left }) => {
    if (left.length > 0) await say(stage, { as: 'text', text: left.map(({ path, why }) => `left as it is: ${path} (${why})`).join('\n') })
    hint(stage, done === 0 ? 'No file was changed.' : `Done: ${count(done, 'file')} put back.${plan.redoable ? ' /undo redo takes this back.' : ''}`)
    if (done > 0 || left.length === 0) after?.()
  }))
}
