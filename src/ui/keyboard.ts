import { EventEmitter } from 'node:events'
import type { ReadStream } from 'node:tty'
import { pasteGuard } from './paste.ts'

/** Stands between the terminal and Ink: keys typed before Ink was there come first, and pastes come whole. */
export interface Keyboard {
  /** For Ink. */
  stdin: ReadStream
  /** Takes all input from now on (a pager, say) until the function it returns is called. */
  borrow: (listener: (chunk: string) => void) => () => void
  /** Stops reading; the terminal's mode is Ink's to put back. */
  close: () => void
}

/** An answer comes alone; inside of a paste it is text. Ink drops it. */
const KITTY_ANSWER = /^\x1b\[\?\d+u/

export interface Heard {
  /** Once, when the terminal is gone. */
  closed: () => void
  /** The terminal answered that it can report keys in the kitty way. */
  kitty: () => void
}

export function openKeyboard(terminal: ReadStream, early: readonly string[], { closed, kitty }: Heard): Keyboard {
  const guard = pasteGuard()
  const events = new EventEmitter()
  const chunks: string[] = []
  let borrower: ((chunk: string) => void) | null = null
  let timer: NodeJS.Timeout | undefined
  let ended = false

  const give = (ready: readonly string[]): void => {
    if (ready.length === 0) return
    if (borrower) return ready.forEach(borrower)
    chunks.push(...ready)
    events.emit('readable')
  }
  const wait = (): void => {
    clearTimeout(timer)
    const patience = guard.patience()
    if (patience !== null) timer = setTimeout(() => give(guard.flush()), patience)
  }
  const onData = (chunk: string): void => {
    if (KITTY_ANSWER.test(chunk)) kitty()
    give(guard.push(chunk))
    wait()
  }
  const onEnd = (): void => {
    if (ended) return
    ended = true
    closed()
  }

  const facade = {
    isTTY: true,
    setEncoding: () => facade,
    setRawMode: (on: boolean) => {
      // A terminal that is gone cannot be set, and that is no reason to fall over.
      try {
        terminal.setRawMode(on)
      } catch {
        onEnd()
      }
      return facade
    },
    read: (): string | null => chunks.shift() ?? null,
    addListener: (name: string, listener: () => void) => {
      events.addListener(name, listener)
      if (name === 'readable' && chunks.length > 0) queueMicrotask(() => events.emit('readable'))
      return facade
    },
    removeListener: (name: string, listener: () => void) => {
      events.removeListener(name, listener)
      return facade
    },
    // Ink lets go of the terminal for a child process: then nothing of ours may read the child's keys.
    ref: () => {
      terminal.ref()
      terminal.resume()
      return facade
    },
    unref: () => {
      terminal.pause()
      terminal.unref()
      return facade
    },
  }

  // The first frame has set it: to do so again would forget the bytes of half a character.
  if (terminal.readableEncoding !== 'utf8') terminal.setEncoding('utf8')
  for (const chunk of early) onData(chunk)
  terminal.on('data', onData)
  terminal.on('end', onEnd)
  terminal.on('error', onEnd)
  return {
    stdin: facade as unknown as ReadStream,
    borrow: (listener) => {
      borrower = listener
      return () => {
        borrower = null
      }
    },
    close: () => {
      clearTimeout(timer)
      terminal.off('data', onData)
      terminal.pause()
    },
  }
}
