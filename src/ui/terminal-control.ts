import type { Instance, SuspendTerminal } from 'ink'
import type { ReadStream } from 'node:tty'
import { pendingAsk } from './ask.ts'
import { columnsOf } from './graphemes.ts'
import type { GatheredOutput } from './gathered-output.ts'
import type { Keyboard } from './keyboard.ts'
import { page } from './pager.ts'
import type { Screen } from './screen.ts'
import type { TerminalControl } from './stage.ts'
import type { Store } from './store.ts'
import { ALTERNATE_OFF, ALTERNATE_ON, BEGIN_UPDATE, CLEAR_VISIBLE, END_UPDATE, KITTY_OFF, KITTY_ON, PASTE_ON, RESTORE_TITLE, restoreTerminal, SAVE_TITLE, titleSequence, WHEEL_AS_BEFORE } from './terminal.ts'
import type { Transcript } from './transcript.ts'

export interface Wiring {
  input: ReadStream
  output: GatheredOutput
  keyboard: Keyboard
  store: Store<Screen>
  /** Ink, once it is there; and how it gives the terminal away, which is known a moment later. */
  ink: () => { instance: Instance; suspend: SuspendTerminal | null } | null
}

/** The one place that writes to the terminal beside Ink: Ink's frame is taken away, text goes out, the frame comes back below it. */
export function terminalControl({ input, output: { stdout: output, hold, flush }, keyboard, store, ink }: Wiring): TerminalControl {
  /** Somebody else has the terminal; what is printed meanwhile waits. */
  let away = false
  let inPager = false
  let kitty = false
  let titled = false
  let closed = false
  let kept: string[] = []

  const touch = (): void => store.update((screen) => ({ ...screen, printed: screen.printed + 1 }))

  function print(text: string, apply: () => void = touch): void {
    if (closed) return
    const now = ink()
    const { transcript } = store.get()
    if (transcript) return show(transcript, text, apply)
    if (away || !now) {
      kept.push(text)
      return apply()
    }
    drawAnew(now.instance, () => {
      output.write(text)
      apply()
    })
  }

  /** On a screen of its own the frame holds what was printed, too. Without a text, something has happened to what the terminal shows. */
  function show(transcript: Transcript, text: string, apply: () => void): void {
    transcript.add(text)
    const now = ink()
    if (text === '' && now && !away) {
      return drawAnew(now.instance, () => {
        output.write(CLEAR_VISIBLE)
        apply()
      })
    }
    apply()
    touch()
  }

  function drawAnew(instance: Instance, between: () => void): void {
    const letGo = hold()
    output.write(BEGIN_UPDATE)
    instance.clear()
    between()
    // Ink draws in the next turn of the loop, before what is asked for after it: then all goes out as one.
    void instance.waitUntilRenderFlush()
    setImmediate(() => {
      output.write(END_UPDATE)
      letGo()
    })
  }

  async function release<T>(use: () => Promise<T>): Promise<T> {
    const now = ink()
    if (!now?.suspend || away) return use()
    away = true
    const hear = deafToInterrupts()
    if (kitty) output.write(KITTY_OFF)
    let result: { value: T } | undefined
    try {
      await now.suspend(async () => {
        // The frame is gone before anybody else writes.
        if (store.get().transcript) output.write(ALTERNATE_OFF)
        flush()
        result = { value: await use() }
        if (store.get().transcript) output.write(ALTERNATE_ON)
      })
    } finally {
      hear()
      if (kitty) output.write(KITTY_ON)
      away = false
      const missed = kept.join('')
      kept = []
      if (missed !== '') print(missed)
    }
    if (!result) throw new Error('the terminal could not be handed over')
    return result.value
  }

  /** Somebody stopped this process and let it go on: the shell has used the terminal in between. */
  const onContinue = (): void => {
    if (away || closed) return
    input.setRawMode(false)
    input.setRawMode(true)
    output.write(PASTE_ON)
    print('')
  }
  process.on('SIGCONT', onContinue)

  return {
    print,
    lower: () => {
      const now = ink()
      if (now && !away && !closed) drawAnew(now.instance, () => undefined)
    },
    release,
    page: (title, text, from = 'start') =>
      release(async () => {
        inPager = true
        input.setRawMode(true)
        input.ref()
        input.resume()
        try {
          await page({
            write: (bytes) => void output.write(bytes),
            size: () => ({ columns: output.columns, rows: output.rows }),
            onKeys: (listener) => keyboard.borrow(listener),
            onChange: (listener) => {
              const stop = store.subscribe(listener)
              output.on('resize', listener)
              return () => {
                stop()
                output.off('resize', listener)
              }
            },
            notice: () => (pendingAsk(store.get()) || store.get().view.pause ? 'Tiller waits for your answer: q goes back' : null),
          }, title, text, from)
        } finally {
          inPager = false
          input.setRawMode(false)
        }
      }),
    redraw: (last) => {
      const { columns, rows } = store.get().size
      print(CLEAR_VISIBLE + endOf(last, columns, Math.max(0, rows - 4)))
    },
    suspend: async () => {
      if (process.platform === 'win32') return
      await release(stopAndWait)
    },
    kitty: () => {
      if (kitty || closed) return
      kitty = true
      output.write(KITTY_ON)
    },
    title: (text) => {
      if (away || closed) return
      output.write(`${titled ? '' : SAVE_TITLE}${titleSequence(text)}`)
      titled = true
    },
    bell: () => void (!closed && output.write('\x07')),
    close: () => {
      if (closed) return
      closed = true
      process.off('SIGCONT', onContinue)
      const now = ink()
      // Emptied first: on its way out Ink would draw what it has not drawn yet.
      if (!inPager) now?.instance.rerender(null)
      if (!inPager) now?.instance.clear()
      now?.instance.unmount()
      keyboard.close()
      if (titled) output.write(RESTORE_TITLE)
      const { transcript, size } = store.get()
      if (transcript) output.write(WHEEL_AS_BEFORE)
      restoreTerminal({ input, output }, inPager || transcript !== null)
      // What was seen last is not gone with the screen.
      transcript?.scroll(-Infinity)
      if (transcript) output.write(transcript.window(size.columns, size.rows - 2).lines.map((line) => `${line}\n`).join(''))
      flush()
    },
  }
}

/** Ctrl+C in an editor is meant for it, but reaches every process of the terminal. Returns how to hear again. */
function deafToInterrupts(): () => void {
  const listeners = process.listeners('SIGINT')
  const nothing = (): void => undefined
  process.removeAllListeners('SIGINT')
  process.on('SIGINT', nothing)
  return () => {
    process.off('SIGINT', nothing)
    for (const listener of listeners) process.on('SIGINT', listener)
  }
}

/** As Ctrl+Z in a cooked terminal: the whole job stops. Where nobody can stop it, it goes on at once. */
async function stopAndWait(): Promise<void> {
  const goesOn = new Promise<void>((resolve) => {
    // It also keeps the process alive: nothing else holds it while the terminal is away.
    const timer = setTimeout(resolve, 500)
    process.once('SIGCONT', () => {
      clearTimeout(timer)
      resolve()
    })
  })
  process.kill(0, 'SIGTSTP')
  await goesOn
}

/** The last lines of a text that fit in so many rows of the screen. */
function endOf(text: string, columns: number, rows: number): string {
  const lines = text.replace(/\n$/, '').split('\n')
  let used = 0
  let from = lines.length
  while (from > 0) {
    const height = Math.max(1, Math.ceil(columnsOf(lines[from - 1] ?? '') / columns))
    if (used + height > rows) break
    used += height
    from--
  }
  return from === lines.length ? '' : `${lines.slice(from).join('\n')}\n`
}
