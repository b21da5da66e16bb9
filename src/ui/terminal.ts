import { sanitize } from '../core/sanitize.ts'

/** Synchronized output: a terminal that knows it shows what comes between at once. */
export const BEGIN_UPDATE = '\x1b[?2026h'
export const END_UPDATE = '\x1b[?2026l'
export const ALTERNATE_ON = '\x1b[?1049h\x1b[H'
export const ALTERNATE_OFF = '\x1b[?1049l'
/** A wheel is no arrow key there: it would leaf through the history. */
export const WHEEL_OFF = '\x1b[?1007s\x1b[?1007l'
export const WHEEL_AS_BEFORE = '\x1b[?1007r'
/** What is on the screen, never what is in the scrollback: no ESC[2J, no ESC[3J. */
export const CLEAR_VISIBLE = '\x1b[H\x1b[J'

export const PASTE_ON = '\x1b[?2004h'
const MODES_OFF = '\x1b[?2004l\x1b[?2026l\x1b[?25h\x1b[0m'
/** Keys that a plain terminal cannot tell apart (Shift+Enter) have names of their own; asked for first, since not every terminal can. */
export const KITTY_ASK = '\x1b[?u'
export const KITTY_ON = '\x1b[>1u'
export const KITTY_OFF = '\x1b[<u'

interface Terminal {
  input: { isTTY?: boolean; setRawMode?: (on: boolean) => unknown }
  output: { isTTY?: boolean; write: (text: string) => unknown }
}

/**
 * Puts the terminal back as the shell knows it: cooked, cursor shown, no modes. Synchronous and safe to call twice, at any
 * moment, on a terminal that is gone. `alternate`: the alternate screen is on.
 */
export function restoreTerminal({ input, output }: Terminal, alternate = false): void {
  attempt(() => input.setRawMode?.(false))
  attempt(() => output.isTTY && output.write(`${alternate ? ALTERNATE_OFF : ''}${KITTY_OFF}${MODES_OFF}`))
}

function attempt(act: () => unknown): void {
  try {
    act()
  } catch {
    // The terminal is gone: nobody is left to see it.
  }
}

/** A window title, from text that may be hostile. */
export const titleSequence = (text: string): string => `\x1b]2;${sanitize(text).replace(/[\n\t]/g, ' ').slice(0, 200)}\x1b\\`
export const SAVE_TITLE = '\x1b[22;2t'
export const RESTORE_TITLE = '\x1b[23;2t'
