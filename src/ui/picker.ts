import { Fzf } from 'fzf'
import { sanitize } from '../core/sanitize.ts'
import { columnsOf, fit, pad, wrap } from './graphemes.ts'
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
  /** What Esc does besides closing. */
  dismiss?: () => void
}

export interface Choice {
  label: string
  note: string
  act: () => void
}

export const picker = (title: string, choices: readonly Choice[], options: Partial<Picker> = {}): Picker => ({
  about: [], choices, search: true, query: '', index: 0, loading: false, uninvited: null, ...options, title: oneLine(title),
})

/** The choices that fit the search, best first. */
export function matching({ choices, query }: Picker): readonly Choice[] {
  if (query.trim() === '') return choices
  return new Fzf(choices, { selector: ({ label, note }) => `${label} ${note}`, casing: 'case-insensitive', limit: 200 }).find(query.trim()).map(({ item }) => item)
}

export function choose(picker: Picker, step: number): Picker {
  const most = matching(picker).length - 1
  return { ...picker, index: Math.max(0, Math.min(most, picker.index + step)) }
}

export const search = (picker: Picker, query: string): Picker => ({ ...picker, query, index: 0 })

/** At most `rows` rows, and which of them the search is typed in. The choice that Enter takes is named in words at the end. */
export function pickerLines(picker: Picker, columns: number, rows: number, theme: Theme): { lines: string[]; search: number | null } {
  const found = matching(picker)
  const about = picker.about.flatMap((text) => wrap(sanitize(text), columns)).slice(0, Math.max(0, rows - 6))
  const search = picker.search && rows >= 4 ? about.length + 1 : null
  const head = [theme.strong(fit(picker.title, columns)), ...about, ...(search === null ? [] : [`${theme.dim('search: ')}${fit(picker.query, columns - 8)}`])].slice(0, Math.max(0, rows - 1))
  const taken = found[picker.index]
  const hint = rows >= 3 ? [theme.dim(fit(`${taken ? `Enter: ${oneLine(taken.label)} · ` : ''}Esc: close`, columns))] : []
  const list = choiceLines(picker, found, columns, Math.max(1, rows - head.length - hint.length), theme)
  return { lines: [...head, ...list, ...hint].slice(0, rows), search }
}

function choiceLines(picker: Picker, found: readonly Choice[], columns: number, room: number, theme: Theme): string[] {
  if (found.length === 0) return [theme.dim(fit(picker.loading ? '  looking…' : picker.query === '' ? '  there is none' : '  nothing fits', columns))]
  const first = Math.max(0, Math.min(picker.index - Math.floor(room / 2), found.length - room))
  const shown = found.slice(first, first + room).map(({ label, note }) => ({ label: oneLine(label), note: oneLine(note) }))
  const width = Math.min(Math.max(...shown.map(({ label }) => columnsOf(label))), Math.max(10, Math.floor(columns * 0.6)))
  return shown.map(({ label, note }, offset) => {
    const number = picker.search ? '' : `${first + offset + 1}. `
    const chosen = first + offset === picker.index
    const row = fit(`${chosen ? '› ' : '  '}${number}${note === '' ? label : `${pad(label, width)}  ${note}`}`, columns)
    return chosen ? theme.accent(row) : row
  })
}

/** Of what a choice says, as it may be shown. */
export const oneLine = (text: string): string => sanitize(text.slice(0, 1_000)).replace(/\s+/g, ' ').trim()
