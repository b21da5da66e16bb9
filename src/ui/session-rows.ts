import type { Choice } from './picker.ts'
import type { SessionChoice } from './port.ts'
import { age, money, size } from './figures.ts'
import { columnsOf, fit, graphemes } from './graphemes.ts'

/** A session as a row of the list. */
export function sessionRow(session: SessionChoice, here: string, clock: () => number, act: () => void): Choice {
  const { key, title, unreadable } = session
  return { key, act, label: unreadable === null ? title || '(nothing was said)' : `cannot be read: ${unreadable}`, note: '', details: () => detailsOf(session, here, clock()) }
}

/** The most useful first: in a narrow window the last ones are left out. */
function detailsOf({ id, at, bytes, outcome, held, cost, branch, folder, elsewhere, unreadable }: SessionChoice, here: string, clock: number): string[] {
  if (unreadable !== null) return [folder ?? '', id]
  const state = id === here && !elsewhere ? 'this one' : held === null ? (outcome ?? '-') : 'open'
  return [folder === null ? '' : ending(folder, 24), age(clock - at), state, fit(branch ?? '', 16), cost && (cost.usd > 0 || cost.unknown) ? money(cost) : '', size(bytes)]
}

/** A path is known by its end. */
function ending(path: string, columns: number): string {
  const cells = graphemes(path)
  if (columnsOf(path) <= columns) return path
  while (cells.length > 0 && columnsOf(cells.join('')) >= columns) cells.shift()
  return `…${cells.join('')}`
}

/** This folder's first, then others of this root, then those of other roots; in each the newest first. */
export const inOrder = (sessions: Iterable<SessionChoice>): SessionChoice[] => [...sessions].sort((one, other) => rank(one) - rank(other) || other.at - one.at || (one.key < other.key ? 1 : -1))

const rank = ({ folder, elsewhere }: SessionChoice): number => (elsewhere ? 2 : folder === null ? 0 : 1)
