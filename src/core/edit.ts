import { find, type Match, type Several, type Span } from './edit-find.ts'
import { describeMissing, listLines } from './edit-missing.ts'
import { rebuild } from './edit-rebuild.ts'
import { lineAt, splitLines } from './lines.ts'

export interface Edit {
  old: string
  new: string
  all?: boolean | undefined
}

export type Edited =
  | { ok: true; text: string; places: Replaced[] }
  /** Nothing is to be changed. For the model: what was wrong with which edit, and what to send instead. */
  | { ok: false; why: string }

export interface Replaced {
  edit: number
  match: Match
  /** In the new text. */
  line: number
  added: number
  removed: number
}

/** All edits, matched against the text as it was read, or none of them. Bytes outside the places found stay as they are. */
export function applyEdits(text: string, edits: readonly Edit[]): Edited {
  const numberOf = lineAt(text)
  const located = edits.map((_, index) => locate(text, edits, index, numberOf))
  const wrong = located.flatMap((each, index) => (typeof each === 'string' ? [edits.length > 1 ? `edits[${index}]: ${each}` : each] : []))
  if (wrong.length > 0) return { ok: false, why: [...wrong, ...(edits.length > 1 ? ['No edit was made: it is all of them or none.'] : [])].join('\n') }
  const changes = located.flatMap((each) => (typeof each === 'string' ? [] : each)).sort((a, b) => a.start - b.start)
  const clash = clashOf(changes, numberOf)
  if (clash !== null) return { ok: false, why: clash }
  const edited = assemble(text, changes, numberOf)
  if (edited.text === text) return { ok: false, why: 'The file already reads as it would after this, so nothing would change.' }
  return { ok: true, ...edited }
}

interface Change extends Span {
  edit: number
  match: Match
  text: string
}

/** Where an edit is to be made and what stands there then; else what is wrong with it. */
function locate(text: string, edits: readonly Edit[], edit: number, numberOf: (offset: number) => number): Change[] | string {
  const { old, new: replacement, all = false } = edits[edit] ?? { old: '', new: '' }
  if (old === '') return '`old` is empty. Give the text to replace; to replace the whole file use `write`.'
  if (old === replacement) return '`old` and `new` are the same, so nothing would change.'
  const found = find(text, old, all)
  if (!found) return describeMissing(text, edits, edit)
  if ('several' in found) return describeSeveral(found, numberOf, all)
  const changes: Change[] = []
  for (const span of found.spans) {
    const made = rebuild({ text, ...span, old, new: replacement, exact: found.match === 'exact', reindent: found.reindent })
    if (made === null) return `\`old\` is at line ${numberOf(span.start)} with other indentation, and how \`new\` is to be indented cannot be told from it. Send \`old\` and \`new\` with the file's own tabs and blanks.`
    changes.push({ ...span, edit, match: found.match, text: made })
  }
  return changes
}

function describeSeveral({ several, match, overlap }: Several, numberOf: (offset: number) => number, all: boolean): string {
  const where = `${several.length} places, at lines ${listLines(several.map(({ start }) => numberOf(start)))}`
  if (overlap && all) return `\`old\` is at ${where}, and they overlap, so it is unclear which to replace. Give a longer \`old\`.`
  if (match === 'exact') return `\`old\` is at ${where}. Add lines around it until it is unique, or set \`all\` to replace every one.`
  return `\`old\` is nowhere exactly, and, overlooking ${NAMES[match]}, at ${where}. Send it exactly as in the file, with lines around it until it is unique.`
}

function clashOf(changes: readonly Change[], numberOf: (offset: number) => number): string | null {
  const index = changes.findIndex((change, at) => at > 0 && change.start < (changes[at - 1]?.end ?? 0))
  if (index < 1) return null
  const [a, b] = [changes[index - 1]?.edit ?? 0, changes[index]?.edit ?? 0]
  return `edits[${Math.min(a, b)}] and edits[${Math.max(a, b)}] both change line ${numberOf(changes[index]?.start ?? 0)}. Make them one edit. No edit was made.`
}

export const NAMES: Readonly<Record<Exclude<Match, 'exact'>, string>> = {
  endings: 'line endings',
  blanks: 'trailing blanks',
  unicode: 'quotes, dashes, blanks or accents written in another way',
  indentation: 'indentation',
}

function assemble(text: string, changes: readonly Change[], numberOf: (offset: number) => number): { text: string; places: Replaced[] } {
  const places: Replaced[] = []
  const parts: string[] = []
  let from = 0
  let shift = 0
  for (const change of changes) {
    parts.push(text.slice(from, change.start), change.text)
    from = change.end
    const [removed, added] = [text.slice(change.start, change.end), change.text].map((part) => splitLines(part).length) as [number, number]
    places.push({ edit: change.edit, match: change.match, line: numberOf(change.start) + shift, added, removed })
    shift += breaks(change.text) - breaks(text.slice(change.start, change.end))
  }
  return { text: parts.join('') + text.slice(from), places }
}

const breaks = (text: string): number => splitLines(text).filter(({ ending }) => ending !== '').length
