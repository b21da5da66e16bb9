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
    if (text !== '' || done.length > 0) terminal.write(text, () => done.forEach((each) => each()))
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
