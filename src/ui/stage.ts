import type { Row, View } from '../core/view.ts'
import type { Keymap } from './keys.ts'
import type { Connection, Said, UiHost } from './port.ts'
import type { Notice, Screen } from './screen.ts'
import type { Store } from './store.ts'
import type { Abilities } from './theme.ts'

/** What everything that acts on a key is given. Functions over it live beside what they do; it holds no state of its own. */
export interface Stage {
  host: UiHost
  store: Store<Screen>
  keys: Keymap
  terminal: TerminalControl
  draw: Draw
  abilities: Abilities
  /** Goes over to another session: its last rows are printed, its events followed. */
  attach: (connection: Connection) => void
  /** Milliseconds that only grow. */
  now: () => number
  /** UTC milliseconds. */
  clock: () => number
  /** Calls back once, unless it is cancelled before. */
  later: (ms: number, act: () => void) => () => void
}

/** The transcript's part of the picture. */
export interface Draw {
  /** Settled rows as text, with the line end after the last. `after`: the row before them. */
  rows: (rows: readonly Row[], columns: number, after: Row | undefined) => string
  /** What is under way: at most `rows` rows, none wider than `columns`. */
  live: (view: View, columns: number, rows: number, clock: number) => string[]
  /** What the host says, with the line end after the last row. */
  said: (said: Said, columns: number) => string
}

export interface TerminalControl {
  /** Text that stays: it goes above the live part, once. `apply` changes the screen in the same frame. */
  print: (text: string, apply?: () => void) => void
  /** The next frame has fewer rows: the one that is there is taken away as a whole, from the cursor up. */
  lower: () => void
  /** The terminal belongs to someone else while this runs (an editor, a stopped process). */
  release: <T>(use: () => Promise<T>) => Promise<T>
  /** A text on the alternate screen until the person closes it. */
  page: (title: string, text: string, from?: 'start' | 'end') => Promise<void>
  /** Everything visible is drawn again: `last` is the end of the transcript. */
  redraw: (last: string) => void
  /** Stops this process as Ctrl+Z does; resolves when it goes on. */
  suspend: () => Promise<void>
  /** From now on keys are reported in the kitty way. */
  kitty: () => void
  title: (text: string) => void
  bell: () => void
  /** Nothing of the screen is left on the terminal but what was printed, and all its modes are as the shell had them. */
  close: () => void
}

export const change = (stage: Stage, next: Partial<Screen>): void => stage.store.update((screen) => ({ ...screen, ...next }))

export const hint = (stage: Stage, text: string): void => change(stage, { notice: { text, tone: 'hint' } })

export const fail = (stage: Stage, error: unknown): void => change(stage, { notice: { text: error instanceof Error ? error.message : String(error), tone: 'error' } satisfies Notice })

/** For what an action starts and does not wait for: its failure is shown. */
export const background = (stage: Stage, work: Promise<unknown>): void => void work.catch((error: unknown) => fail(stage, error))
