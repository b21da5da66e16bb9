import pty from '@lydell/node-pty'
import type { Space } from './space.ts'

/** The program in a pty, watched at its bytes: an emulator would take time of its own. */
export interface Terminal {
  pid: number
  begun: number
  /** All it wrote. */
  bytes(): string
  write(keys: string): void
  /** When, counted from the start, what it wrote from `from` on held this for the first time. */
  until(what: string | RegExp, from?: number, ms?: number): Promise<number>
  /** Leaves as a person does, so that what the program keeps for its next start is kept. */
  leave(): Promise<void>
  close(): Promise<void>
}

export function openTerminal(file: string, args: readonly string[], { cwd, env }: Pick<Space, 'cwd' | 'env'>, rows = 40): Terminal {
  const begun = performance.now()
  const child = pty.spawn(file, [...args], { cols: 100, rows, cwd, env })
  let bytes = ''
  let over = false
  const waiting = new Set<() => void>()
  child.onData((data) => {
    bytes += data
    // What a terminal answers: Ink asks for the keyboard protocol and the program for the cursor's place and colours.
    if (data.includes('\x1b[c')) child.write('\x1b[?62c')
    waiting.forEach((look) => look())
  })
  const ended = new Promise<void>((resolve) => child.onExit(() => {
    over = true
    waiting.forEach((look) => look())
    resolve()
  }))
  return {
    pid: child.pid, begun,
    bytes: () => bytes,
    write: (keys) => child.write(keys),
    until: (what, from = 0, ms = 120_000) => new Promise((resolve, reject) => {
      const fits = (): boolean => (typeof what === 'string' ? bytes.includes(what, from) : what.test(bytes.slice(from)))
      const end = (act: () => void): void => {
        clearTimeout(timer)
        waiting.delete(look)
        act()
      }
      const look = (): void => {
        const now = performance.now()
        if (fits()) end(() => resolve(now - begun))
        else if (over) end(() => reject(new Error(`it ended before ${String(what)}\n${bytes.slice(-3_000)}`)))
      }
      const timer = setTimeout(() => end(() => reject(new Error(`waited for ${String(what)}\n${JSON.stringify(bytes.slice(-3_000))}`))), ms)
      waiting.add(look)
      look()
    }),
    leave: async () => {
      if (!over) child.write('\x15\x04')
      const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(late)
    },
    close: () => {
      if (!over) child.kill('SIGKILL')
      return ended
    },
  }
}
