import type { View } from '../core/view.ts'
import type { Image, RecordOf } from '../core/record.ts'
import type { Completion } from './completion.ts'
import { isEmpty, type Editor } from './editor-state.ts'
import type { History } from './history.ts'
import type { Picker } from './picker.ts'
import type { Connection, CustomCommand } from './port.ts'
import type { Theme } from './theme.ts'
import type { Transcript } from './transcript.ts'

/** Everything the screen shows that is not in the log. The log's part is `view`, and nobody but the fold changes it. */
export interface Screen {
  connection: Connection
  view: View
  editor: Editor
  history: History
  /** They go along when the text is sent: pasted, or of inputs that were taken back. */
  images: readonly Image[]
  /** A text is being sent whose images are not read yet. */
  attaching: boolean
  /** Lines at the top of the editor that came back in this stroke: the next one that does goes below them. */
  returned: number
  completion: Completion | null
  /** The search for files that is under way. */
  looking: AbortController | null
  /** Commands that the project and the person wrote. */
  custom: readonly CustomCommand[]
  overlay: Overlay | null
  /** Waiting inputs as they were typed. The fold keeps it; it is one map for the whole session. */
  inputs: Map<string, RecordOf<'input'>>
  /** Taken back in order to be sent anew, or for good: they do not go to the editor. */
  moving: ReadonlySet<string>
  notice: Notice | null
  ask: AskFocus
  /** When a key last went to the editor: a question waits until typing has paused. */
  typedAt: number
  /** When Esc and Ctrl+C were last pressed: a second one soon after means more. */
  escapedAt: number
  cancelledAt: number
  /** What was asked for and is not to be seen in the view yet (a run before its first step), or never is; an interrupt reaches it. */
  busy: 'run' | 'compact' | 'check' | 'undo' | null
  /** The run that was told to stop and has not ended yet. */
  stopping: string | null
  /** Another session is on its way onto the screen: until then nothing is sent. */
  switching: boolean
  todo: { open: boolean; text: string }
  output: Shown | null
  /** What was printed, on a screen of its own; null: the terminal has it. */
  transcript: Transcript | null
  theme: Theme
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
  /** A letter was pressed that answers unless text follows. */
  letter: { index: number; text: string } | null
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

export const noAsk = (decided: ReadonlySet<string> = new Set()): AskFocus => ({ call: null, shownAt: null, index: 0, scroll: 0, chosen: false, letter: null, decided })

/** A text is being written beside a question that leaves room for one. */
export const isWritingBeside = ({ overlay, editor }: Screen): boolean => overlay?.kind === 'picker' && overlay.picker.beside === true && !isEmpty(editor)

/** A run is active, or something that must not happen beside one. */
export const isActive = ({ view, busy }: Screen): boolean => view.run !== null || busy !== null

/** Something can be interrupted: that, or a command of the person's own. */
export const isStoppable = (screen: Screen): boolean => isActive(screen) || screen.view.live.shells.length > 0
