import type { When } from '../core/record.ts'
import { textOf } from './editor-state.ts'
import { OPENING } from './open-pickers.ts'
import { HOW_TO_GO_ON } from './opened.ts'
import { readLine } from './slash-commands.ts'
import { slash } from './slash.ts'
import { background, change, fail, hint, type Stage } from './stage.ts'
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
      if (refused(stage)) return
      return NAMES_IMAGE.test(text) ? background(stage, sendWithImages(stage, text, when)) : submitted(stage, text, when)
  }
}

/** What was refused stays where it is: no text is lost. */
function submitted(stage: Stage, text: string, when: When): void {
  if (submit(stage, text, when)) emptied(stage, text)
}

const NAMES_IMAGE = /@\S+\.(png|jpe?g|gif|webp)\b/i

/** The text stays in the editor until it has gone out; a second Enter meanwhile sends nothing. */
async function sendWithImages(stage: Stage, text: string, when: When): Promise<void> {
  if (stage.store.get().attaching) return
  change(stage, { attaching: true })
  try {
    const images = await stage.host.images.named(text)
    // Written on meanwhile: it is sent as it is now, with the next Enter.
    if (textOf(stage.store.get().editor) !== text) return
    stage.store.update((screen) => ({ ...screen, images: [...screen.images, ...images] }))
    submitted(stage, text, when)
  } finally {
    change(stage, { attaching: false })
  }
}

/** The image in the clipboard goes along with the text that is written. */
export async function pasteImage(stage: Stage): Promise<void> {
  const image = await stage.host.images.clipboard()
  stage.store.update((screen) => ({ ...screen, images: [...screen.images, image] }))
}

function refused(stage: Stage): boolean {
  const { connection: { readOnly }, switching } = stage.store.get()
  if (switching) hint(stage, `${OPENING} Your text stays: send it there.`)
  if (switching) return true
  if (readOnly !== undefined) fail(stage, new Error(`${readOnly} ${HOW_TO_GO_ON}`))
  return readOnly !== undefined
}
