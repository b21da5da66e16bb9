/** Earlier inputs, and where Up and Down have got to among them. */
export interface History {
  /** Oldest first. */
  entries: readonly string[]
  /** The entry that is shown; null: the text that is being written. */
  at: number | null
  /** What was being written before Up was pressed. */
  unsent: string
}

const MOST = 2_000

export const history = (entries: readonly string[]): History => ({ entries: entries.slice(-MOST), at: null, unsent: '' })

/** The next older entry; null: there is none. An entry equal to what is shown is passed over. */
export function older(history: History, shown: string): { history: History; text: string } | null {
  let at = history.at ?? history.entries.length
  do at--
  while (at >= 0 && history.entries[at] === shown)
  const text = history.entries[at]
  if (text === undefined) return null
  return { history: { ...history, at, unsent: history.at === null ? shown : history.unsent }, text }
}

/** The next newer entry, in the end what was being written; null: nothing older was shown. */
export function newer(history: History): { history: History; text: string } | null {
  if (history.at === null) return null
  const at = history.at + 1
  const text = history.entries[at]
  return text === undefined ? { history: { ...history, at: null }, text: history.unsent } : { history: { ...history, at }, text }
}

/** After a send. The same text twice in a row is kept once. */
export function added(past: History, text: string): History {
  return history(past.entries.at(-1) === text ? past.entries : [...past.entries, text])
}
