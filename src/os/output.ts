import { closeSync, constants, openSync, writeSync } from 'node:fs'

/** What is left of a stream in memory. With `cut === 0`, head and tail together are all of it. */
export interface Kept {
  bytes: number
  cut: number
  head: Buffer
  tail: Buffer
}

/** The copy on disk: the beginning as it arrives, so that a crash leaves it; the end is added by `close`. */
export interface OutputFile {
  path: string
  limit: number
  /** Why the file is missing or short, though the command went on. */
  fault?: string
}

/** Changes bytes on their way to a file. */
export interface ByteFilter {
  write(chunk: Uint8Array): Uint8Array
  end(): Uint8Array
}

export interface OutputFileOptions {
  path: string
  limit?: number
  /** Made anew for each piece of the output that is written without a gap. */
  filter?: (() => ByteFilter) | undefined
}

/** Takes a stream of any size in bounded memory. Never throws: a full disk must not stop a command. */
export interface Sink {
  readonly bytes: number
  readonly file: OutputFile | undefined
  write: (chunk: Uint8Array) => void
  kept(): Kept
  /** What came after the first `offset` bytes, as far as it is still in memory. */
  since(offset: number): { data: Buffer; skipped: number }
  /** Adds the end of the stream to the file, if it did not fit, and closes it. */
  close(): void
}

export const FILE_LIMIT = 32 * 1024 * 1024

export function sink(window: { head: number; tail: number }, file?: OutputFileOptions): Sink {
  const head = growing(window.head)
  const tail = ring(window.tail)
  const copy = file && fileCopy({ path: file.path, limit: file.limit ?? FILE_LIMIT }, window.tail, file.filter ?? (() => AS_IT_IS))
  let bytes = 0
  return {
    get bytes() {
      return bytes
    },
    file: copy?.file,
    write(chunk) {
      bytes += chunk.length
      copy?.write(chunk)
      const rest = head.write(chunk)
      if (rest.length > 0) tail.write(rest)
    },
    kept() {
      const [first, last] = [head.data(), tail.data()]
      return { bytes, cut: bytes - first.length - last.length, head: first, tail: last }
    },
    since(offset) {
      const [first, last] = [head.data(), tail.data()]
      const tailFrom = bytes - last.length
      if (offset >= tailFrom) return { data: last.subarray(offset - tailFrom), skipped: 0 }
      if (tailFrom === first.length) return { data: Buffer.concat([first.subarray(offset), last]), skipped: 0 }
      return { data: last, skipped: tailFrom - offset }
    },
    close: () => copy?.close(bytes, tail.data()),
  }
}

/** Takes bytes until it is full and hands back what did not fit. */
function growing(size: number): { write(chunk: Uint8Array): Uint8Array; data(): Buffer } {
  let buffer = Buffer.alloc(0)
  let used = 0
  return {
    write(chunk) {
      const taken = Math.min(chunk.length, size - used)
      if (taken <= 0) return chunk
      buffer = roomFor(buffer, used + taken, size)
      buffer.set(chunk.subarray(0, taken), used)
      used += taken
      return chunk.subarray(taken)
    },
    data: () => Buffer.from(buffer.subarray(0, used)),
  }
}

/** Holds the last `size` bytes. */
function ring(size: number): { write(chunk: Uint8Array): void; data(): Buffer } {
  let buffer = Buffer.alloc(0)
  let used = 0
  let next = 0
  return {
    write(chunk) {
      const last = chunk.subarray(Math.max(0, chunk.length - size))
      if (used < size) buffer = roomFor(buffer, Math.min(size, used + last.length), size)
      const first = last.subarray(0, size - next)
      buffer.set(first, next)
      buffer.set(last.subarray(first.length), 0)
      next = size === 0 ? 0 : (next + last.length) % size
      used = Math.min(size, used + last.length)
    },
    data: () => (used < size ? Buffer.from(buffer.subarray(0, used)) : Buffer.concat([buffer.subarray(next), buffer.subarray(0, next)])),
  }
}

function roomFor(buffer: Buffer<ArrayBuffer>, bytes: number, most: number): Buffer<ArrayBuffer> {
  if (bytes <= buffer.length) return buffer
  const larger = Buffer.alloc(Math.min(most, Math.max(bytes, buffer.length * 2, 4096)))
  larger.set(buffer)
  return larger
}

const AS_IT_IS: ByteFilter = { write: (chunk) => chunk, end: () => new Uint8Array() }

function fileCopy(file: OutputFile, tailSize: number, newFilter: () => ByteFilter): { file: OutputFile; write(chunk: Uint8Array): void; close(bytes: number, tail: Buffer): void } {
  let fd: number | undefined
  /** Of the stream, before the filter. */
  let taken = 0
  let closed = false
  let filter = newFilter()
  const room = Math.max(0, file.limit - tailSize)
  const put = (data: Uint8Array): void => {
    if (closed || file.fault !== undefined || data.length === 0) return
    try {
      // Made with the first byte, and never through a link or over a file that somebody else put there.
      fd ??= openSync(file.path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND | constants.O_NOFOLLOW, 0o600)
      for (let done = 0; done < data.length;) done += writeSync(fd, data, done)
    } catch (error) {
      file.fault = faultOf(error, file.path)
    }
  }
  return {
    file,
    write(chunk) {
      const fits = chunk.subarray(0, Math.max(0, room - taken))
      taken += fits.length
      if (fits.length > 0) put(filter.write(fits))
    },
    close(bytes, tail) {
      const end = tail.subarray(Math.max(0, tail.length - (bytes - taken)))
      const gap = bytes - taken - end.length
      if (gap > 0) {
        put(filter.end())
        put(Buffer.from(`\n[… ${gap} bytes were not kept …]\n`))
        filter = newFilter()
      }
      put(filter.write(end))
      put(filter.end())
      closed = true
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}

function faultOf(error: unknown, path: string): string {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error'
  return code === 'ENOSPC' || code === 'EDQUOT' ? `no space left on the disk that holds ${path}` : `${path} cannot be written (${code})`
}

/** What was kept of a stream as UTF-8; a gap is named. */
export function textOf(kept: Kept): string {
  if (kept.cut === 0) return Buffer.concat([kept.head, kept.tail]).toString()
  return `${kept.head.toString()}\n[… ${kept.cut} bytes left out …]\n${kept.tail.toString()}`
}
