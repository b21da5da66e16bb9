import { spawn } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Real pipes. Node gives its children socket pairs, and on those `> /dev/stderr`, or `tee /dev/stdout`
 * fail ("No such device or address"); a file instead would be truncated by them, and would be found by a `grep -r`
 * that writes into it. Named pipes that are opened twice and unlinked at once are the only real ones Node can make.
 */
export interface Pipe {
  /** Ours: it does not block. */
  read: number
  /** The same, but it blocks: for a program that goes on reading when Tiller leaves. */
  spare: number
  /** The child's. */
  write: number
}

const BATCH = 16
const LOW = 4
let ready: Pipe[] = []
let filling: Promise<void> | undefined
let making: string | undefined

/** undefined where there is no `mkfifo` or no place for one; then Node's own pipes must do. */
export async function takePipe(): Promise<Pipe | undefined> {
  if (ready.length === 0) await preparePipes()
  const pipe = ready.shift()
  if (ready.length < LOW) void preparePipes()
  return pipe
}

/** Makes some pipes ahead of the first command, which then need not wait. Never throws. */
export function preparePipes(): Promise<void> {
  if (ready.length >= LOW) return Promise.resolve()
  filling ??= fill([tmpdir(), '/dev/shm']).finally(() => {
    filling = undefined
  })
  return filling
}

async function fill(places: readonly string[]): Promise<void> {
  for (const place of places) {
    let folder: string
    try {
      folder = mkdtempSync(join(place, 'tiller-pipes-'))
    } catch {
      continue
    }
    making = folder
    try {
      const paths = Array.from({ length: BATCH }, (_, index) => join(folder, String(index)))
      if (await makeFifos(paths)) {
        ready = [...ready, ...paths.map(openPipe)]
        return
      }
    } catch {
      // out of descriptors, or the folder was taken away: the next place, else Node's own pipes
    } finally {
      rmSync(folder, { recursive: true, force: true })
      making = undefined
    }
  }
}

process.on('exit', () => {
  if (making !== undefined) rmSync(making, { recursive: true, force: true })
})

function makeFifos(paths: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('mkfifo', ['-m', '600', ...paths], { stdio: 'ignore' })
    child.on('error', () => { resolve(false) })
    child.on('exit', (code) => { resolve(code === 0) })
  })
}

function openPipe(path: string): Pipe {
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return { read, write: openSync(path, constants.O_WRONLY), spare: openSync(path, constants.O_RDONLY) }
}

/** Linux opens it again, though its name is gone: a pipe that nobody writes to any more serves the next command, and making new ones takes a process. */
function keepForLater({ spare }: Pipe): void {
  if (ready.length >= BATCH || process.platform !== 'linux') return closeSync(spare)
  const opened: number[] = []
  try {
    for (const how of [constants.O_RDONLY | constants.O_NONBLOCK, constants.O_WRONLY]) opened.push(openSync(`/proc/self/fd/${spare}`, how))
    const [read, write] = opened as [number, number]
    ready.push({ read, write, spare })
  } catch {
    for (const fd of [...opened, spare]) closeSync(fd)
  }
}

export function closeReading(pipe: Pipe): void {
  closeSync(pipe.read)
  closeSync(pipe.spare)
}

/** The reading end of a child's stream. It never keeps Tiller running. */
export interface Reader {
  /** Takes what was written up to now, though somebody may still hold the other end; true: nobody does. */
  drain(): Promise<boolean>
  /** Resolves when every writer is gone, or after `close`. */
  done: Promise<void>
  close(): void
  /** From now on a process of its own reads, into this file up to its limit. Not possible with Node's own pipes. */
  handOver(file: { path: string; limit: number } | undefined): void
}

/** More than any pipe holds (Linux: 64 KiB, at most 1 MiB): what was written before this moment is within it, even if somebody never stops writing. */
const PIPE_HOLDS = 1024 * 1024
/** For all pipes: it is read and taken in one go. */
const DRAINED = Buffer.alloc(64 * 1024)
const spareBuffers: Buffer<ArrayBuffer>[] = []

export function readPipe(pipe: Pipe, take: (chunk: Uint8Array) => void): Reader {
  // One buffer for all reads, and again for later pipes: gigabytes and thousands of commands pass without garbage.
  const buffer = spareBuffers.pop() ?? Buffer.alloc(64 * 1024)
  const socket = new Socket({
    fd: pipe.read, readable: true, writable: false,
    onread: { buffer, callback: (bytes) => {
      take(buffer.subarray(0, bytes))
      return true
    } },
  })
  let isOver = false
  const done = new Promise<void>((resolve) => {
    socket.on('error', () => {})
    socket.on('end', () => {
      isOver = true
    })
    socket.on('close', () => {
      if (isOver) keepForLater(pipe)
      else closeSync(pipe.spare)
      spareBuffers.push(buffer)
      resolve()
    })
  })
  socket.resume()
  socket.unref()
  return {
    done,
    async drain() {
      try {
        // `destroyed` is set before the descriptor is closed, so this never reads from a later file with the same number.
        for (let total = 0; total < PIPE_HOLDS && !socket.destroyed && !socket.readableEnded;) {
          const bytes = readSync(pipe.read, DRAINED)
          isOver = bytes === 0
          if (isOver) return true
          total += bytes
          take(DRAINED.subarray(0, bytes))
        }
      } catch {
        // EAGAIN: empty for now
      }
      return socket.destroyed || socket.readableEnded
    },
    close: () => socket.destroy(),
    handOver(file) {
      // The limit is the reader's own: it ends there (in blocks of 512), and the rest goes nowhere.
      const script = file ? '(ulimit -f "$1"; exec cat) >> "$2"; exec cat > /dev/null' : 'exec cat > /dev/null'
      const reader = spawn('/bin/sh', ['-c', script, 'tiller-output', String(Math.ceil((file?.limit ?? 0) / 512)), file?.path ?? ''], { stdio: [pipe.spare, 'ignore', 'ignore'], detached: true })
      reader.on('error', () => {})
      reader.unref()
      isOver = false
      socket.destroy()
    },
  }
}

/** The same over a stream of Node's; "up to now" is then "until nothing came for a moment". */
export function readStream(stream: Readable, take: (chunk: Uint8Array) => void): Reader {
  let heard = 0
  let isOver = false
  stream.on('data', (chunk: Buffer) => {
    heard++
    take(chunk)
  })
  const done = new Promise<void>((resolve) => {
    stream.on('error', () => {})
    stream.on('close', () => {
      isOver = true
      resolve()
    })
  })
  ;(stream as Partial<Socket>).unref?.()
  return {
    done,
    async drain() {
      for (let last = -1, rounds = 0; heard !== last && rounds < 20; rounds++) {
        last = heard
        await Promise.race([done, wait(50)])
      }
      return isOver
    },
    close: () => stream.destroy(),
    handOver: () => {},
  }
}
