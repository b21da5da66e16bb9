import { beforeCursor, completeFrom, type Editor, lineAt } from './editor-state.ts'
import { graphemes } from './graphemes.ts'
import type { SlashCommand } from './slash-commands.ts'

/** What stands before the cursor and could be completed. */
export interface Wanted {
  kind: 'command' | 'value' | 'file'
  query: string
  /** Cells of the line before what a completion replaces. */
  from: number
  /** For `value`: of which command. */
  command: string
}

export interface Offer {
  text: string
  about: string
  /** Nothing has to follow: a blank is put behind it. */
  whole: boolean
}

export interface Completion {
  wanted: Wanted
  offers: readonly Offer[]
  /** Chosen with the arrow keys; null: none, and Enter sends what is written. */
  index: number | null
}

export function wantedAt(editor: Editor): Wanted | null {
  const before = beforeCursor(editor)
  const first = editor.row === 0
  const command = first ? /^\/([\p{L}\d:_.-]*)$/u.exec(before) : null
  if (command) return { kind: 'command', query: command[1] ?? '', from: 1, command: '' }
  const value = first ? /^\/([\p{L}\d:_.-]+) +(\S*)$/u.exec(before) : null
  if (value) return { kind: 'value', query: value[2] ?? '', from: editor.col - graphemes(value[2] ?? '').length, command: value[1] ?? '' }
  // `a@b` is an address; `(@src/a.ts` is a file.
  const file = /(?:^|[\s("'[])@([^\s"'()[\]]*)$/u.exec(before)
  return file ? { kind: 'file', query: file[1] ?? '', from: editor.col - graphemes(file[1] ?? '').length, command: '' } : null
}

/** Offers for a command or its value; those of a file come from the host. */
export function offersFor(wanted: Wanted, commands: readonly SlashCommand[]): Offer[] {
  switch (wanted.kind) {
    case 'command':
      return commands
        .filter(({ name }) => name.startsWith(wanted.query))
        .map(({ name, about, argument }) => ({ text: name, about: argument ? `${argument}  ${about}` : about, whole: true }))
    case 'value': {
      const values = commands.find(({ name }) => name === wanted.command)?.values ?? []
      return values.filter((value) => value.startsWith(wanted.query) && value !== wanted.query).map((text) => ({ text, about: '', whole: true }))
    }
    case 'file':
      return []
  }
}

/** The editor with the chosen offer, or the first one, written out. */
export function accept(editor: Editor, { wanted, offers, index }: Completion): Editor {
  const offer = offers[index ?? 0]
  if (!offer) return editor
  const blank = offer.whole && lineAt(editor, editor.row)[editor.col] !== ' ' ? ' ' : ''
  return completeFrom(editor, wanted.from, offer.text + blank)
}

/** Another offer: -1 is up. */
export const chooseOffer = (completion: Completion, step: -1 | 1): Completion => {
  const { offers, index } = completion
  if (offers.length === 0) return completion
  const from = index ?? (step === 1 ? -1 : offers.length)
  return { ...completion, index: (from + step + offers.length) % offers.length }
}
