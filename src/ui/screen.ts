import type { View } from '../core/view.ts'
import type { Image } from '../core/record.ts'
import type { Completion } from './completion.ts'
import type { Editor } from './editor-state.ts'
import type { History } from './history.ts'
import type { Picker } from './picker.ts'
import type { Connection } from './port.ts'

/** Everything the screen shows that is not in the log. The log's part is `view`, and nobody but the fold changes it. */
export interface Screen {
  connection: Connection
  view: View
  editor: Editor
  history: History
  /** Of inputs that were taken back: they go along when the text is sent again. */
  images: readonly Image[]
  completion: Completion | null
  overlay: Overlay | null
  notice: Notice | null
  ask: AskFocus
  /** When a key last went to the editor: a question waits until typing has paused. */
  typedAt: number
  /** What this screen asked for that is no run: an interrupt reaches it as well. */
  busy: 'compact' | 'check' | null
  /** The run that was told to stop and has not ended yet. */
  stopping: string | null
  todo: { open: boolean; text: string }
  output: Shown | null
  size: Size
  /** Counts what was printed: a frame is drawn anew after each. */
  printed: number
  /** The screen is going away: nothing is left of it. */
  left: boolean
}

export interface Size {
  columns: number
  rows: number
}

export interface Notice {
  text: string
  tone: 'hint' | 'error'
}

/** Which question is on the screen, since when, and what would be answered. */
export interface AskFocus {
  call: string | null
  /** Milliseconds of the screen's clock when it was drawn; null: not drawn yet. */
  shownAt: number | null
  index: number
  /** First row of the preview that is shown. */
  scroll: number
  /** Tab led here although there is text in the editor. */
  chosen: boolean
  /** Answered, and the record of it is not there yet. */
  decided: ReadonlySet<string>
}

export type Overlay =
  | { kind: 'picker'; picker: Picker }
  | { kind: 'panel'; title: string; lines: readonly string[]; offset: number }
  | { kind: 'reason'; call: string; editor: Editor }
  | { kind: 'queue'; id: string }

/** What Ctrl+O shows: a text, or the blob with all of it. */
export interface Shown {
  title: string
  text: string
  sha256: string | null
}

export const noAsk = (decided: ReadonlySet<string> = new Set()): AskFocus => ({ call: null, shownAt: null, index: 0, scroll: 0, chosen: false, decided })
