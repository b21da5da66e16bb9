import type { WriteStream } from 'node:tty'

/**
 * A terminal whose writes of one turn go out as one: a frame costs one system call, and no terminal ever shows half of one.
 * `hold` keeps everything back until what it returns is called; `flush` writes now, for the way out.
 */
export interface GatheredOutput {
  stdout: WriteStream
  hold: () => () => void
  flush: () => void
}

export function gatheredOutput(terminal: WriteStream): GatheredOutput {
  let kept = ''
  let waiting: (() => void)[] = []
  let scheduled = false
  let holds = 0

  const flush = (): void => {
    scheduled = false
    const text = kept
    const done = waiting
    kept = ''
    waiting = []
    if (text !== '' || done.length > 0) terminal.write(fromCursor(text), () => done.forEach((each) => each()))
  }
  const later = (): void => {
    if (scheduled || holds > 0) return
    scheduled = true
    setImmediate(() => {
      if (holds === 0) flush()
      else scheduled = false
    })
  }
  const write = (data: string | Uint8Array, ...rest: unknown[]): boolean => {
    kept += typeof data === 'string' ? data : Buffer.from(data).toString('utf8')
    const done = rest.find((each) => typeof each === 'function')
    if (done) waiting.push(done as () => void)
    later()
    return !terminal.writableNeedDrain
  }
  const stdout = new Proxy(terminal, {
    get: (target, name) => {
      if (name === 'write') return write
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return {
    stdout,
    flush,
    hold: () => {
      holds++
      let held = true
      return () => {
        if (!held) return
        held = false
        holds--
        if (holds === 0) flush()
      }
    },
  }
}

/**
 * Ink goes down to the end of its frame and from there up to where it writes. A window that has just become lower (and has
 * not told us yet) has lost the rows below the cursor, the way down ends early, and the way up leads into the transcript.
 * Counted from the cursor itself the way is right whatever became of the rows below.
 */
function fromCursor(text: string): string {
  return text.replace(DOWN_AND_UP, (_, down: string, up: string) => {
    const rows = Number(up) - Number(down)
    return `\x1b[1G${rows > 0 ? `\x1b[${rows}A` : rows < 0 ? `\x1b[${-rows}B` : ''}`
  })
}

const DOWN_AND_UP = /\x1b\[(\d+)B\x1b\[1G\x1b\[(\d+)A/g
