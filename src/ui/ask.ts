import { describe } from '../core/policy.ts'
import { sanitize } from '../core/sanitize.ts'
import type { PendingAsk } from '../core/view.ts'
import { isEmpty } from './editor-state.ts'
import { fit, wrap } from './graphemes.ts'
import type { Screen } from './screen.ts'
import type { Theme } from './theme.ts'

/** What a person can say to a question; the first is a yes for this once. */
const ANSWERS = [
  { label: 'Yes, once', key: 'y', verdict: 'allow', grant: 'once', reason: false },
  { label: 'Yes, in this session', key: null, verdict: 'allow', grant: 'session', reason: false },
  { label: 'Yes, always in this project', key: null, verdict: 'allow', grant: 'project', reason: false },
  { label: 'No', key: 'n', verdict: 'deny', grant: undefined, reason: false },
  { label: 'No, and say why', key: null, verdict: 'deny', grant: undefined, reason: true },
] as const
export type Answer = (typeof ANSWERS)[number]

/** A yes that would last is offered only where something can last. */
export const answersTo = ({ lasting }: PendingAsk): readonly Answer[] => (lasting.length > 0 ? ANSWERS : ANSWERS.filter(({ grant }) => grant === undefined || grant === 'once'))

/** What a lasting yes allows, as rules. */
export const lastingText = ({ lasting }: PendingAsk): string => lasting.map(({ kind, match }) => `${kind} ${match}`).join('; ')

/** A question that came up under the fingers of somebody who types must not take the next key as its answer (C20). */
export const GUARD = 350
/** `y` answers, `you should…` is text: a letter answers when nothing follows it. */
export const LETTER_HOLD = 250

/** Who gets the keys: the editor because it holds text, nobody's question yet because it is too fresh, or the question. */
export function askState(screen: Screen, now: number): 'none' | 'guarded' | 'editor' | 'asking' {
  const ask = pendingAsk(screen)
  if (!ask || screen.overlay) return 'none'
  const { call, shownAt, chosen } = screen.ask
  if (call !== ask.call || shownAt === null || now - shownAt < GUARD) return 'guarded'
  if (chosen) return 'asking'
  if (!isEmpty(screen.editor)) return 'editor'
  return now - screen.typedAt < GUARD ? 'guarded' : 'asking'
}

/** The oldest question that is not answered. */
export const pendingAsk = ({ view, ask }: Screen): PendingAsk | null => view.asks.find(({ call }) => !ask.decided.has(call)) ?? null

/** The question, at most `rows` rows: why it is asked gives way first, then the preview (which scrolls), the choices last. */
export function askLines(screen: Screen, ask: PendingAsk, columns: number, rows: number, theme: Theme): string[] {
  const open = screen.view.asks.filter(({ call }) => !screen.ask.decided.has(call)).length
  const keysHere = screen.ask.chosen || isEmpty(screen.editor)
  // What Enter would do, and to what: nobody answers what is not to be seen.
  const answers = answersTo(ask)
  if (rows < 2) return [theme.warn(fit(`${keysHere ? (answers[screen.ask.index]?.label ?? '') : 'Tab: answer'}? ${previewText(ask).replace(/\s+/g, ' ')}`, columns))]
  const head = theme.warn(theme.strong(fit(`Allow ${ask.name}?${open > 1 ? ` (1 of ${open})` : ''}`, columns)))
  const choices = choiceLines(ask, screen.ask.index, keysHere, columns, Math.max(1, Math.min(answers.length, rows - 4)), theme)
  const chosen = answers[screen.ask.index]?.label ?? ''
  const hint = rows > choices.length + 3 ? [theme.dim(fit(keysHere ? `Enter: ${chosen} · y: yes, once · n or Esc: no` : 'Keys go to your text. Tab: answer this', columns))] : []
  const room = Math.max(1, rows - 1 - choices.length - hint.length)
  const preview = previewLines(screen, ask, columns, room, theme)
  const because = ask.because ? wrap(ask.because, columns).slice(0, Math.min(2, room - preview.length)) : []
  return [head, ...because.map((line) => theme.dim(line)), ...preview, ...choices, ...hint].slice(-Math.max(1, rows))
}

function choiceLines(ask: PendingAsk, index: number, keysHere: boolean, columns: number, room: number, theme: Theme): string[] {
  const answers = answersTo(ask)
  const first = Math.max(0, Math.min(index - Math.floor(room / 2), answers.length - room))
  return answers.slice(first, first + room).map(({ label, grant }, offset) => {
    const here = first + offset === index
    const allows = grant === 'session' || grant === 'project' ? `: ${lastingText(ask)}` : ''
    const row = fit(`${here ? '› ' : '  '}${first + offset + 1}. ${label}${allows}`, columns)
    return keysHere && here ? theme.accent(row) : row
  })
}

/** All of what would happen, as the person is asked about it. */
export function previewText({ preview, summary, accesses }: PendingAsk): string {
  if (!preview) return sanitize([summary, ...accesses.map(describe)].filter(Boolean).join('\n'))
  switch (preview.kind) {
    case 'command':
      return sanitize([`$ ${preview.command}`, `in ${preview.cwd}`, preview.note ?? ''].filter(Boolean).join('\n'))
    case 'diff':
      return sanitize([preview.note ?? '', preview.diff].filter(Boolean).join('\n'))
    case 'text':
      return sanitize(preview.text)
  }
}

/** How many rows the whole preview takes: the end of scrolling. */
export const previewRows = (ask: PendingAsk, columns: number): number => wrap(previewText(ask), Math.max(1, columns - 4)).length

function previewLines(screen: Screen, ask: PendingAsk, columns: number, room: number, theme: Theme): string[] {
  const all = wrap(previewText(ask), Math.max(1, columns - 4))
  if (all.length <= room) return all.map((line) => `    ${paint(line, theme)}`)
  const first = Math.max(0, Math.min(screen.ask.scroll, all.length - room + 1))
  const shown = all.slice(first, first + Math.max(1, room - 1))
  if (room === 1) return shown.map((line) => `    ${paint(line, theme)}`)
  const left = all.length - first - shown.length
  return [...shown.map((line) => `    ${paint(line, theme)}`), theme.dim(fit(`    … rows ${first + 1} to ${first + shown.length} of ${all.length}${left > 0 ? ', PageDown: on' : ''}, Ctrl+O: all`, columns))]
}

const paint = (line: string, theme: Theme): string => (line.startsWith('+') ? theme.good(line) : line.startsWith('-') ? theme.bad(line) : line)
