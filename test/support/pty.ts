import pty from '@lydell/node-pty'
// oxlint-disable-next-line import/default -- CommonJS: Node gives it a default export
import unicode from '@xterm/addon-unicode11'
import xterm from '@xterm/headless'

/** A real terminal: a program in a pty, and an emulator that shows what a person would see. */
export interface Pty {
  pid: number
  /** What is visible, without blanks at the end. */
  screen: () => string
  /** The scrollback and what is visible. */
  all: () => string
  /** Every byte the program wrote. */
  bytes: () => string
  cursor: () => { x: number; y: number; row: string }
  /** Waits until the screen fits, and fails with the screen when it does not in time. */
  waitFor: (what: RegExp | ((screen: string) => boolean), ms?: number) => Promise<string>
  /** One write for each: a person's keys. */
  type: (...keys: string[]) => Promise<void>
  write: (bytes: string) => void
  paste: (text: string) => void
  resize: (columns: number, rows: number) => void
  /** Closes the terminal as a closed window does. */
  hangUp: () => void
  kill: (signal?: string) => void
  exit: (ms?: number) => Promise<{ exitCode: number; signal?: number | undefined }>
  /** Ends the program, if it still runs. */
  close: () => void
}

export interface Launch {
  columns?: number
  rows?: number
  cwd?: string
  env?: Record<string, string>
}

const KEYS: Record<string, string> = {
  enter: '\r', esc: '\x1b', tab: '\t', 'shift+tab': '\x1b[Z', up: '\x1b[A', down: '\x1b[B', right: '\x1b[C', left: '\x1b[D', home: '\x1b[H', end: '\x1b[F',
  backspace: '\x7f', delete: '\x1b[3~', pageup: '\x1b[5~', pagedown: '\x1b[6~', 'alt+enter': '\x1b\r', 'alt+up': '\x1b[1;3A', 'ctrl+enter': '\x1b[13;5u', 'shift+enter': '\x1b[13;2u',
  'shift+up': '\x1b[1;2A', 'shift+down': '\x1b[1;2B', space: ' ',
}

/** `ctrl+c`, `enter`, or the text itself. */
export const keyBytes = (key: string): string => KEYS[key] ?? (/^ctrl\+[a-z_]$/.test(key) ? String.fromCharCode(key.charCodeAt(5) & 0x1f) : /^alt\+[a-z]$/.test(key) ? `\x1b${key[4]}` : key)

export function launch(file: string, args: readonly string[], { columns = 80, rows = 24, cwd, env = {} }: Launch = {}): Pty {
  // CI would make Ink silent, NO_COLOR and FORCE_COLOR are the test runner's affair.
  const { CI: _ci, NO_COLOR: _noColor, FORCE_COLOR: _force, ...own } = process.env
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
  terminal.loadAddon(new unicode.Unicode11Addon())
  terminal.unicode.activeVersion = '11'
  const child = pty.spawn(file, [...args], { cols: columns, rows, ...(cwd === undefined ? {} : { cwd }), env: { ...own, TERM: 'xterm-256color', COLORTERM: 'truecolor', ...env } })
  let bytes = ''
  let ended: { exitCode: number; signal?: number | undefined } | undefined
  child.onData((data) => {
    bytes += data
    terminal.write(data)
  })
  terminal.onData((data) => child.write(data))
  const over = new Promise<{ exitCode: number; signal?: number | undefined }>((resolve) => {
    child.onExit((exit) => {
      ended = exit
      resolve(exit)
    })
  })
  const line = (y: number): string => terminal.buffer.active.getLine(y)?.translateToString(true).trimEnd() ?? ''
  const lines = (from: number, count: number): string => Array.from({ length: count }, (_, y) => line(from + y)).join('\n').trimEnd()
  const screen = (): string => lines(terminal.buffer.active.viewportY, terminal.rows)
  const drawn = (): Promise<void> => new Promise((resolve) => terminal.write('', resolve))

  async function waitFor(what: RegExp | ((screen: string) => boolean), ms = 10_000): Promise<string> {
    const fits = (text: string): boolean => (typeof what === 'function' ? what(text) : what.test(text))
    for (const end = Date.now() + ms; ; ) {
      await drawn()
      const text = screen()
      if (fits(text)) return text
      if (Date.now() > end || ended) throw new Error(`waited for ${String(what)}${ended ? `, but it ended with ${ended.exitCode}` : ''}\n---\n${text}\n---`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  return {
    pid: child.pid,
    screen,
    all: () => lines(0, terminal.buffer.active.length),
    bytes: () => bytes,
    cursor: () => {
      const { cursorX: x, cursorY: y, baseY } = terminal.buffer.active
      return { x, y, row: line(baseY + y) }
    },
    waitFor,
    type: async (...keys) => {
      for (const key of keys) {
        child.write(keyBytes(key))
        // One key a read: what a person types never comes in one chunk.
        await new Promise((resolve) => setTimeout(resolve, 12))
      }
    },
    write: (data) => child.write(data),
    paste: (text) => child.write(`\x1b[200~${text}\x1b[201~`),
    resize: (next, height) => {
      terminal.resize(next, height)
      child.resize(next, height)
    },
    hangUp: () => child.kill('SIGHUP'),
    kill: (signal = 'SIGTERM') => child.kill(signal),
    exit: async (ms = 10_000) => {
      const late = new Promise<never>((_, reject) => {
        setTimeout(() => reject(new Error(`it has not ended\n---\n${screen()}\n---`)), ms).unref()
      })
      return Promise.race([over, late])
    },
    close: () => {
      if (!ended) child.kill('SIGKILL')
      terminal.dispose()
    },
  }
}
