import { Fzf } from 'fzf'
import { sanitize } from '../core/sanitize.ts'
import { choiceRows, oneLine, type Said } from './choice-rows.ts'
import type { Editor } from './editor-state.ts'
import { columnsOf, fit, wrap } from './graphemes.ts'
import type { Action, ListName } from './keys.ts'
import type { Theme } from './theme.ts'

/** A list to choose from. Pure but for what its choices do. Its texts may come from anywhere: they are made safe here. */
export interface Picker {
  title: string
  /** Said above the choices. */
  about: readonly string[]
  choices: readonly Choice[]
  /** Typed text searches. Without it, digits choose. */
  search: boolean
  query: string
  index: number
  /** Choices are still on their way. */
  loading: boolean
  /** It opened by itself: only a fresh key answers it, and other text goes to the editor. Since when it is on the screen; null: not yet. */
  uninvited: { shownAt: number | null } | null
  /** Text can be written and sent while it is open: as long as there is some, keys are the editor's. */
  beside?: boolean
  /** What Esc does besides closing, and how that is called. */
  dismiss?: () => void
  escapes?: string
  /** What Ctrl+C does besides closing, where that is something else. */
  cancel?: () => void
  /** Somebody else finds what fits, and puts it into `choices`. */
  finder?: Finder
  /** Said beside the title: how many there are, what is being done. */
  status?: string
  /** What can be done with a choice besides taking it. */
  keys?: { in: ListName; all: readonly PickerKey[] }
  /** What is asked about a choice, in place of the search. */
  line?: PickerLine | null
}

export interface Choice extends Said {
  /** Two with the same one are the same choice, said anew. */
  key?: string
  act: () => void
}

/** For lists that are too long to go through at a key, and for more than the choices say of themselves. */
export interface Finder {
  /** The search is another one. */
  seek: (query: string) => void
  /** What can be found at once is there when this returns: a choice is about to be taken. */
  settle: () => void
}

export interface PickerKey {
  action: Action
  /** `Ctrl+R rename` */
  hint: string
  act: (choice: Choice) => void
}

export type PickerLine =
  | { kind: 'edit'; prompt: string; editor: Editor; done: (text: string) => void }
  | { kind: 'confirm'; question: string; hint: string; yes: () => void }

export const picker = (title: string, choices: readonly Choice[], options: Partial<Picker> = {}): Picker => ({
  about: [], choices, search: true, query: '', index: 0, loading: false, uninvited: null, ...options, title: oneLine(title),
})

/** The choices that fit the search, best first. */
export function matching({ choices, query, finder }: Picker): readonly Choice[] {
  if (finder || query.trim() === '') return choices
  const known = found.get(choices)
  if (known?.query === query) return known.fit
  const fzf = known?.fzf ?? new Fzf(choices, { selector: ({ label, note }) => `${label} ${note}`, casing: 'case-insensitive', limit: 200 })
  const fit = fzf.find(query.trim()).map(({ item }) => item)
  found.set(choices, { query, fzf, fit })
  return fit
}

/** Of the newest search: it is asked for several times at each key. */
const found = new WeakMap<readonly Choice[], { query: string; fzf: Fzf<readonly Choice[]>; fit: readonly Choice[] }>()

export function choose(picker: Picker, step: number): Picker {
  const most = matching(picker).length - 1
  return { ...picker, index: Math.max(0, Math.min(most, picker.index + step)) }
}

export const search = (picker: Picker, query: string): Picker => ({ ...picker, query, index: 0 })

/** At most `rows` rows, and which of them the search is typed in. The choice that Enter takes is named in words at the end. */
export function pickerLines(picker: Picker, columns: number, rows: number, theme: Theme): { lines: string[]; search: number | null } {
  const fits = matching(picker)
  const above = aboveLines(picker, columns, rows, theme)
  const below = belowLines(picker, fits[picker.index], columns, rows, theme)
  const list = choiceLines(picker, fits, columns, Math.max(1, rows - above.lines.length - below.length), theme)
  return { lines: [...above.lines, ...list, ...below].slice(0, rows), search: above.search }
}

function aboveLines(picker: Picker, columns: number, rows: number, theme: Theme): { lines: string[]; search: number | null } {
  const { title, status, query, line } = picker
  const about = picker.about.flatMap((text) => wrap(sanitize(text), columns)).slice(0, Math.max(0, rows - 6))
  const shown = fit(title, columns)
  const said = status ? theme.dim(fit(` · ${status}`, Math.max(0, columns - columnsOf(shown)))) : ''
  const head = [`${theme.strong(shown)}${said}`, ...about]
  const cut = (lines: string[]): string[] => lines.slice(0, Math.max(0, rows - 1))
  if (line) return { lines: cut([...head, ...wrap(sanitize(line.kind === 'edit' ? line.prompt : line.question), columns).slice(0, 3).map((row) => theme.warn(row))]), search: null }
  const search = picker.search && rows >= 4 ? head.length : null
  return { lines: cut(search === null ? head : [...head, `${theme.dim('search: ')}${fit(query, columns - 8)}`]), search }
}

function belowLines({ keys, line, escapes = 'close' }: Picker, taken: Choice | undefined, columns: number, rows: number, theme: Theme): string[] {
  if (rows < 3) return []
  if (line) return [theme.dim(fit(line.kind === 'edit' ? 'Enter: take it · Esc: back' : line.hint, columns))]
  const hint = `${taken ? `Enter: ${oneLine(taken.label)} · ` : ''}Esc: ${escapes}`
  const more = keys && taken && rows >= 8 ? [keys.all.map((key) => key.hint).join(' · ')] : []
  return [hint, ...more].map((text) => theme.dim(fit(text, columns)))
}

function choiceLines(picker: Picker, found: readonly Choice[], columns: number, room: number, theme: Theme): string[] {
  if (found.length === 0) return [theme.dim(fit(picker.loading ? '  looking…' : picker.query === '' ? '  there is none' : '  nothing fits', columns))]
  const first = Math.max(0, Math.min(picker.index - Math.floor(room / 2), found.length - room))
  const shown = found.slice(first, first + room)
  const numbers = shown.map((_, offset) => (picker.search ? '' : `${first + offset + 1}. `))
  const lead = 2 + (numbers.at(-1)?.length ?? 0)
  return choiceRows(shown, columns - lead).map((text, offset) => {
    const chosen = first + offset === picker.index
    const row = fit(`${chosen ? '› ' : '  '}${numbers[offset] ?? ''}${text}`, columns)
    return chosen ? theme.accent(row) : row
  })
}
