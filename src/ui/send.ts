import type { When } from '../core/record.ts'
import { textOf } from './editor-state.ts'
import { HOW_TO_GO_ON } from './opened.ts'
import { readLine } from './slash-commands.ts'
import { slash } from './slash.ts'
import { fail, type Stage } from './stage.ts'
import { emptied, submit } from './submit.ts'

/** What is written goes out: a prompt, a command of ours, or one for the shell. An empty editor sends nothing (C19). */
export function send(stage: Stage, when: When): void {
  const screen = stage.store.get()
  const text = textOf(screen.editor)
  const line = readLine(text)
  switch (line.type) {
    case 'empty':
      return
    case 'slash': {
      // What cannot be carried out stays in the editor, to be put right.
      const problem = slash(stage, line.name, line.argument)
      return problem === null ? emptied(stage, text) : fail(stage, new Error(problem))
    }
    case 'shell':
      if (refused(stage)) return
      emptied(stage, text)
      return screen.connection.send({ type: 'shell', command: line.command, model: line.model })
    case 'prompt':
      screen.transcript?.scroll(-Infinity)
      // What was refused stays where it is: no text is lost.
      if (!refused(stage) && submit(stage, text, when)) emptied(stage, text)
      return
  }
}

function refused(stage: Stage): boolean {
  const { readOnly } = stage.store.get().connection
  if (readOnly !== undefined) fail(stage, new Error(`${readOnly} ${HOW_TO_GO_ON}`))
  return readOnly !== undefined
}
