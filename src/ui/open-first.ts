import { replaceText } from './editor-state.ts'
import { leave } from './leave.ts'
import { openList } from './open-pickers.ts'
import { openSessions } from './open-sessions.ts'
import { picker, type Choice } from './picker.ts'
import type { Connection, FirstRun, TrustQuestion } from './port.ts'
import { background, change, type Stage } from './stage.ts'
import { submit } from './submit.ts'
import { toEditor } from './suggest.ts'

/** What was asked for on the command line. */
export interface Begin {
  /** `-r` without an id: choose a session. */
  sessions?: boolean
  /** Sent as soon as nothing stands in its way. */
  prompt?: string
}

/** What the screen begins with: whether to trust the folder, then how to get a model, then what was asked for. */
export function openFirst(stage: Stage, begin: Begin): void {
  const { trust, firstRun } = stage.host
  const go = (): void => {
    if (begin.sessions) openSessions(stage, '')
    if (begin.prompt && submit(stage, begin.prompt, 'next')) stage.host.history.append(begin.prompt)
  }
  const model = (): void => (firstRun ? askModel(stage, firstRun, begin.prompt, go) : go())
  if (trust) askTrust(stage, trust, model)
  else model()
}

/** Before anything of the folder is used. Esc is a no; Ctrl+C leaves, so that nothing is sent. */
function askTrust(stage: Stage, trust: TrustQuestion, then: () => void): void {
  const answer = (trusted: boolean) => () => {
    trust.answer(trusted)
    then()
  }
  const list = picker(`Do you trust ${trust.folder}?`, [
    { label: 'No', note: 'go on without what it brings', act: answer(false) },
    { label: 'Yes', note: 'use what it brings, now and later', act: answer(true) },
  ], { search: false, uninvited: { shownAt: null }, dismiss: answer(false), escapes: 'no', cancel: () => leave(stage, 'quit'), about: ['It brings settings that run programs or change what is allowed:', ...trust.brings.map((line) => `  ${line}`)] })
  change(stage, { overlay: { kind: 'picker', picker: list } })
}

/** No model is configured: what to do about it. What was to be sent waits in the editor. */
function askModel(stage: Stage, firstRun: FirstRun, prompt: string | undefined, then: () => void): void {
  const start = (opening: () => Promise<Connection>) => () => background(stage, opening().then((connection) => {
    stage.attach(connection)
    then()
  }))
  const demo: Choice = { label: 'Try the demo', note: 'a sample repository and a scripted model: no key, no network', act: start(firstRun.demo) }
  const list = picker('No model is configured yet.', [demo], {
    search: false, uninvited: { shownAt: null },
    dismiss: () => prompt !== undefined && toEditor(stage, (editor) => replaceText(editor, prompt)),
    about: ['Set a key and start again:', ...firstRun.keys.map(({ variable, provider }) => `  export ${variable}=…   (${provider})`), 'or use a server on this machine, or look around:'],
  })
  openList(stage, list, firstRun.discover(new AbortController().signal).then((servers) => [
    // What is found later goes below: a digit means the same from the first moment on.
    demo,
    ...servers.flatMap(({ name, url, models }) => models.map((model) => ({ label: model, note: `${name} at ${url}`, act: start(() => firstRun.use(model)) }))),
  ]))
}
