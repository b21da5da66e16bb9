import type { Key } from 'ink'
import { wrap } from './graphemes.ts'

export type Action = (typeof BINDINGS)[number]['action']

interface BindingLike {
  action: string
  keys: readonly string[]
  /** For the help page; a binding without one is another key for what a reader knows. */
  about?: string
  /** It holds in this list only, and goes before what the key does elsewhere. */
  in?: ListName
}

export type ListName = 'sessions'

/** Every key that does something in the editor and around it, in the order of the help page. `keys` in `.agentrc` replaces the keys of an action. */
export const BINDINGS = [
  { action: 'send', keys: ['enter'], about: 'send; while a run is active: steer, before the next request' },
  { action: 'follow-up', keys: ['alt+enter'], about: 'send when the run has its outcome' },
  { action: 'cut-in', keys: ['ctrl+enter'], about: 'send now: stop what runs (also /now)' },
  { action: 'newline', keys: ['shift+enter', 'ctrl+j'], about: 'a new line (also \\ and Enter)' },
  { action: 'take-back', keys: ['alt+up'], about: 'the last waiting text back into the editor (also Up at the top)' },
  { action: 'queue', keys: ['ctrl+q'], about: 'choose among the waiting texts: edit, move, take back' },
  { action: 'escape', keys: ['esc'], about: 'close what is open, else interrupt; twice when idle: go back to an earlier input' },
  { action: 'cancel', keys: ['ctrl+c'], about: 'interrupt, or clear the editor; twice: leave' },
  { action: 'leave', keys: ['ctrl+d'], about: 'leave, on an empty editor' },
  { action: 'mode', keys: ['shift+tab'], about: 'the next mode' },
  { action: 'output', keys: ['ctrl+o'], about: 'the last output in a pager' },
  { action: 'background', keys: ['ctrl+b'], about: 'put the running command into the background' },
  { action: 'todo', keys: ['ctrl+t'], about: 'show or hide the todo list' },
  { action: 'search', keys: ['ctrl+r'], about: 'search earlier inputs' },
  { action: 'paste-image', keys: ['ctrl+v'], about: 'the image in the clipboard goes along with the text' },
  { action: 'external-editor', keys: ['ctrl+g'], about: 'write in $EDITOR' },
  { action: 'suspend', keys: ['ctrl+z'], about: 'suspend; `fg` comes back' },
  { action: 'redraw', keys: ['ctrl+l'], about: 'draw the screen again' },
  { action: 'keys', keys: ['?'], about: 'these keys, on an empty editor' },
  { action: 'complete', keys: ['tab'], about: 'complete a command or a file; choose an answer' },
  { action: 'up', keys: ['up', 'ctrl+p'], about: 'a row up; at the top: waiting texts, then earlier inputs' },
  { action: 'down', keys: ['down', 'ctrl+n'], about: 'a row down; at the bottom: later inputs' },
  { action: 'left', keys: ['left'] },
  { action: 'right', keys: ['right', 'ctrl+f'] },
  { action: 'word-left', keys: ['alt+left', 'alt+b', 'ctrl+left'], about: 'a word to the left' },
  { action: 'word-right', keys: ['alt+right', 'alt+f', 'ctrl+right'], about: 'a word to the right' },
  { action: 'line-start', keys: ['ctrl+a', 'home'], about: 'the beginning of the line' },
  { action: 'line-end', keys: ['ctrl+e', 'end'], about: 'the end of the line' },
  { action: 'text-start', keys: ['ctrl+home', 'alt+<'] },
  { action: 'text-end', keys: ['ctrl+end', 'alt+>'] },
  { action: 'delete-back', keys: ['backspace', 'shift+backspace', 'ctrl+h'] },
  { action: 'delete-forward', keys: ['delete'] },
  { action: 'kill-end', keys: ['ctrl+k'], about: 'cut to the end of the line' },
  { action: 'kill-start', keys: ['ctrl+u'], about: 'cut to the beginning of the line' },
  { action: 'kill-word-back', keys: ['ctrl+w', 'alt+backspace', 'ctrl+backspace'], about: 'cut the word before' },
  { action: 'kill-word', keys: ['alt+d', 'alt+delete', 'ctrl+delete'], about: 'cut the word after' },
  { action: 'yank', keys: ['ctrl+y'], about: 'put back what was cut' },
  { action: 'undo', keys: ['ctrl+_', 'ctrl+-', 'ctrl+/', 'ctrl+shift+_'], about: 'undo' },
  { action: 'page-up', keys: ['pageup'], about: 'back in the transcript (--fullscreen)' },
  { action: 'page-down', keys: ['pagedown'], about: 'forward in it' },
  { action: 'rename-session', keys: ['ctrl+r'], in: 'sessions', about: 'in the list of sessions: another title' },
  { action: 'delete-session', keys: ['ctrl+x'], in: 'sessions', about: 'in the list of sessions: delete, after a question' },
  { action: 'export-session', keys: ['ctrl+e'], in: 'sessions', about: 'in the list of sessions: write as a page, Markdown or JSON lines' },
] as const satisfies readonly BindingLike[]

/** By the key; where it holds in one list only, by the list's name and the key: see `keyIn`. */
export type Keymap = ReadonlyMap<string, Action>

/** As a binding stands in the key map. */
export const keyIn = (list: ListName | undefined, chord: string): string => (list === undefined ? chord : `${list} ${chord}`)

/** The keys of an action, as a person reads them. */
export const keysOf = (keys: Keymap, wanted: Action): string[] => [...keys].filter(([, action]) => action === wanted).map(([key]) => keyName(key.replace(/^.* /, '')))

/** Unknown actions and keys taken twice are named in `problems`; the rest holds. */
export function keymap(overrides: Readonly<Record<string, string | readonly string[]>>): { keys: Keymap; problems: string[] } {
  const keys = new Map<string, Action>()
  const problems = Object.keys(overrides).flatMap((name) => (isAction(name) ? [] : [`keys: there is no action "${name}"; the actions are ${BINDINGS.map(({ action }) => action).join(', ')}`]))
  const bindings: readonly (BindingLike & { action: Action })[] = BINDINGS
  for (const { action, keys: own, in: list } of bindings) {
    const given = overrides[action]
    for (const key of given === undefined ? own : [given].flat()) keys.set(keyIn(list, normalize(key)), action)
  }
  // What the person chose wins over the default of another action.
  for (const { action, in: list } of bindings) for (const key of [overrides[action] ?? []].flat()) keys.set(keyIn(list, normalize(key)), action)
  return { keys, problems }
}

const isAction = (name: string): name is Action => BINDINGS.some(({ action }) => action === name)

/** `Option+Ctrl+o` and `ctrl+alt+o` are one key. */
export function normalize(key: string): string {
  const parts = key.trim().toLowerCase().split(/\+(?=.)/)
  const last = parts.pop() ?? ''
  const has = (...names: string[]): boolean => parts.some((part) => names.includes(part))
  return chord(NAMES[last] ?? last, { ctrl: has('ctrl', 'control'), alt: has('alt', 'option', 'meta'), shift: has('shift') })
}

const NAMES: Readonly<Record<string, string>> = { return: 'enter', escape: 'esc', del: 'delete', pgup: 'pageup', pgdn: 'pagedown', spacebar: 'space' }

const chord = (name: string, { ctrl, alt, shift }: { ctrl: boolean; alt: boolean; shift: boolean }): string => `${ctrl ? 'ctrl+' : ''}${alt ? 'alt+' : ''}${shift ? 'shift+' : ''}${name}`

/** The name of a pressed key as the table writes it; null: it is text. */
export function chordOf(input: string, key: Key): string | null {
  const modifiers = { ctrl: key.ctrl, alt: key.meta && !key.escape, shift: key.shift }
  const named = specialName(key)
  if (named) return chord(named, modifiers)
  if (input === '\n') return 'ctrl+j'
  if (key.ctrl && input !== '') return chord(input.toLowerCase(), { ...modifiers, shift: key.shift && !/[A-Z]/.test(input) })
  if (key.meta && /^.$/u.test(input)) return chord(input.toLowerCase(), { ...modifiers, shift: false })
  return input === '' ? '' : null
}

function specialName(key: Key): string | null {
  if (key.return) return 'enter'
  if (key.escape) return 'esc'
  if (key.tab) return 'tab'
  if (key.backspace) return 'backspace'
  if (key.delete) return 'delete'
  if (key.upArrow) return 'up'
  if (key.downArrow) return 'down'
  if (key.leftArrow) return 'left'
  if (key.rightArrow) return 'right'
  if (key.pageUp) return 'pageup'
  if (key.pageDown) return 'pagedown'
  if (key.home) return 'home'
  if (key.end) return 'end'
  return null
}

/** `ctrl+o` as a person reads it. */
export const keyName = (key: string): string =>
  key
    .split(/\+(?=.)/)
    .map((part) => (part.length === 1 ? part.toUpperCase() : part.charAt(0).toUpperCase() + part.slice(1)))
    .join('+')

/** Every key with what it does, for the panel and /keys; where there is little room one below the other. */
export const keyLines = (keys: Keymap, columns = 80): string[] =>
  BINDINGS.flatMap((binding) => {
    const own = keysOf(keys, binding.action).join(', ')
    if (!('about' in binding) || own === '') return []
    return columns < 60 ? [...wrap(own, columns), ...wrap(binding.about, columns - 2).map((line) => `  ${line}`)] : [`${own.padEnd(26)} ${binding.about}`]
  })
