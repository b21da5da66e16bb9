import type { ChildProcess, StdioOptions } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { closeReading, readPipe, readStream, takePipe, type Pipe, type Reader } from './pipes.ts'

/** What is wanted of a child: the bytes that it writes to these descriptors, in the order written. */
export interface Wish {
  fds: readonly number[]
  take: (chunk: Uint8Array) => void
}

export interface Streams {
  /** For `spawn`. */
  stdio: StdioOptions
  /** Reads from now on. Without a child (it never began) all ends are closed. */
  begin(child: ChildProcess | undefined): void
  /** Takes what was written up to now; true: and every writer is gone. */
  drain(): Promise<boolean>
  /** Every writer is gone. */
  done: Promise<unknown>
  close(): void
  /** From now on a process of its own reads the first wish's bytes, into this file up to its limit: Tiller can leave. */
  handOver(file: { path: string; limit: number } | undefined): void
}

/** Streams of a child over real pipes, or where they cannot be made over Node's own. stdin without `input` is at its end. */
export async function openStreams(wishes: readonly Wish[], input?: string | Uint8Array): Promise<Streams> {
  const pipes: (Pipe | undefined)[] = []
  for (let count = 0; count < wishes.length; count++) pipes.push(await takePipe())
  const stdin = input === undefined ? undefined : inputFile(input)
  const stdio: (number | 'pipe' | 'ignore')[] = [input === undefined ? 'ignore' : (stdin ?? 'pipe')]
  const last = Math.max(2, ...wishes.flatMap((wish) => wish.fds))
  for (let fd = 1; fd <= last; fd++) {
    const index = wishes.findIndex((wish) => wish.fds.includes(fd))
    stdio.push(index < 0 ? 'ignore' : (pipes[index]?.write ?? 'pipe'))
  }
  let readers: Reader[] = []
  let settle: (value: unknown) => void = () => {}
  const done = new Promise((resolve) => { settle = resolve })
  return {
    stdio, done,
    begin(child) {
      for (const pipe of pipes) if (pipe) closeSync(pipe.write)
      if (stdin !== undefined) closeSync(stdin)
      if (child === undefined) {
        for (const pipe of pipes) if (pipe) closeReading(pipe)
        return
      }
      readers = wishes.flatMap((wish, index) => readersOf(wish, pipes[index], child))
      child.stdin?.on('error', () => {}) // what a child does not read of its input is no error
      child.stdin?.end(input)
      settle(Promise.all(readers.map((reader) => reader.done)))
    },
    drain: async () => (await Promise.all(readers.map((reader) => reader.drain()))).every(Boolean),
    close: () => { for (const reader of readers) reader.close() },
    handOver: (file) => { readers[0]?.handOver(file) },
  }
}

function readersOf(wish: Wish, pipe: Pipe | undefined, child: ChildProcess): Reader[] {
  if (pipe) return [readPipe(pipe, wish.take)]
  return wish.fds.flatMap((fd) => (child.stdio[fd] ? [readStream(child.stdio[fd] as Readable, wish.take)] : []))
}

/** A file without a name: also `cat /dev/stdin` can open it again. A named pipe would wait there for a writer that is done. */
function inputFile(input: string | Uint8Array): number | undefined {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'tiller-input-'))
    try {
      writeFileSync(join(folder, 'input'), input, { mode: 0o600 })
      return openSync(join(folder, 'input'), 'r')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  } catch {
    return undefined // no room: Node's own pipe
  }
}
