import { emptyView } from '../core/view.ts'
import { emptyEditor } from './editor-state.ts'
import { history } from './history.ts'
import type { Connection } from './port.ts'
import { noAsk, type Screen, type Size } from './screen.ts'
import type { Theme } from './theme.ts'
import type { Transcript } from './transcript.ts'

/** A screen on which nothing has happened yet. */
export const blankScreen = (connection: Connection, theme: Theme, size: Size, transcript: Transcript | null = null): Screen => ({
  connection, theme, size, transcript,
  view: emptyView(), editor: emptyEditor, history: history([]), images: [], attaching: false, returned: 0, completion: null, looking: null, custom: [],
  overlay: null, inputs: new Map(), moving: new Set(), notice: null, ask: noAsk(), typedAt: -Infinity, escapedAt: -Infinity, cancelledAt: -Infinity,
  busy: null, stopping: null, switching: false, todo: { open: false, text: '' }, output: null, printed: 0, left: false,
})
