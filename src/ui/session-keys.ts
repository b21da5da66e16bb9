import { emptyEditor, insert } from './editor-state.ts'
import { size } from './figures.ts'
import { keysOf, type Action } from './keys.ts'
import type { Picker, PickerKey, PickerLine } from './picker.ts'
import type { SessionChoice } from './port.ts'
import type { SessionFinder } from './session-finder.ts'
import { background, fail, hint, type Stage } from './stage.ts'

/** What can be done with a session in the list besides going on with it. `ask` puts a line in place of the search. */
export function sessionKeys(stage: Stage, finder: SessionFinder, ask: (line: PickerLine) => void): NonNullable<Picker['keys']> {
  const key = (action: Action, name: string, act: (session: SessionChoice) => void): PickerKey[] => {
    const [pressed] = keysOf(stage.keys, action)
    const onChoice: PickerKey['act'] = (choice) => {
      const session = finder.get(choice.key)
      if (session) act(session)
    }
    return pressed === undefined ? [] : [{ action, hint: `${pressed} ${name}`, act: onChoice }]
  }
  return {
    in: 'sessions',
    all: [
      ...key('rename-session', 'rename', (session) => rename(stage, finder, session, ask)),
      ...key('delete-session', 'delete', (session) => remove(stage, finder, session, ask)),
      ...key('export-session', 'export', (session) => exportIt(stage, session, ask)),
    ],
  }
}

function rename(stage: Stage, finder: SessionFinder, session: SessionChoice, ask: (line: PickerLine) => void): void {
  const done = (text: string): void => {
    const title = text.replace(/\s+/g, ' ').trim()
    if (title === '' || title === session.title) return
    const renamed = (): void => finder.put([{ ...session, title }])
    const { connection } = stage.store.get()
    if (!isOpenHere(stage, session)) return background(stage, stage.host.sessions.rename(session.key, title).then(renamed))
    connection.send({ type: 'set', title })
    renamed()
  }
  ask({ kind: 'edit', prompt: 'Another title:', editor: insert(emptyEditor, session.title), done })
}

function remove(stage: Stage, finder: SessionFinder, session: SessionChoice, ask: (line: PickerLine) => void): void {
  const { key, id, title, held, folder, bytes } = session
  if (isOpenHere(stage, session)) return hint(stage, 'This session is open here: go to another one first.')
  if (held !== null) return fail(stage, new Error(`The session ${id} is open in another tiller (${held}): close it there first.`))
  const gone = (): void => {
    finder.drop(key)
    hint(stage, `Deleted: ${title || id}`)
  }
  const question = `Delete "${title || id}"${folder === null ? '' : ` of ${folder}`} (${size(bytes)}) and all that belongs to it? It cannot be brought back.`
  ask({ kind: 'confirm', question, hint: 'y: delete it · n or Esc: keep it', yes: () => background(stage, stage.host.sessions.remove(key).then(gone)) })
}

function exportIt(stage: Stage, { key, id }: SessionChoice, ask: (line: PickerLine) => void): void {
  const done = (file: string): void => {
    if (file !== '') background(stage, stage.host.sessions.exportTo(key, file).then((where) => hint(stage, `Written to ${where}`)))
  }
  ask({ kind: 'edit', prompt: 'Write it to this file (.html, .md or .jsonl), without secrets:', editor: insert(emptyEditor, `tiller-${id}.html`), done })
}

const isOpenHere = (stage: Stage, { id, elsewhere }: SessionChoice): boolean => !elsewhere && id === stage.store.get().connection.session
