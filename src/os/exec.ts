import { spawn } from 'node:child_process'
import { environment } from './environment.ts'

/** A program with its arguments, or a line for the shell, which gets it byte for byte. */
export type What = { argv: readonly string[] } | { command: string; shell?: string | undefined }

export type ExecOptions = What & {
  /** Absolute. A folder that is gone is a `spawn-failed`, never another folder. */
  cwd: string
  /** The whole environment; without it the harmless one of `environment()`. */
  env?: Record<string, string> | undefined
  /** Without it, stdin is at its end from the start. */
  input?: string | Uint8Array | undefined
  timeoutMs?: number | undefined
  /** From TERM to KILL. */
  graceMs?: number | undefined
  signal?: AbortSignal | undefined
  /** One stream for both, in the order written (`stdout` then holds it all); otherwise each has its own. */
  combine?: boolean | undefined
  /** How many bytes of the beginning and of the end of each stream stay in memory. 1 MiB each where nothing is said. */
  window?: { head: number; tail: number } | undefined
  /** As it arrives. The bytes are valid during the call only. */
  onOutput?: ((chunk: Uint8Array, stream: 'stdout' | 'stderr') => void) | undefined
  onSpawn?: ((process: Spawned) => void) | undefined
  /** All output streams there too, up to a limit. */
  outputFile?: { path: string; limit?: number } | undefined
  /** A prefix of the sandbox. */
  wrap?: ((argv: readonly string[]) => readonly string[]) | undefined
}

export interface Spawned {
  pid: number
  /** Tells this process from a later one with the same pid. */
  started?: string
}

/** What is left of a stream in memory. With `cut === 0`, head and tail together are all of it. */
export interface Kept {
  bytes: number
  cut: number
  head: Buffer
  tail: Buffer
}

export interface ProcessName {
  pid: number
  command: string
}

export interface Ended {
  /** The first reason of an end wins: a clean exit after the timeout's TERM is still `timeout`. */
  reason: 'exited' | 'timeout' | 'aborted' | 'spawn-failed'
  /** null: ended by a signal, never began, or its end was not seen. */
  exit: number | null
  signal: string | null
  /** Only with `spawn-failed`: what was missing, and where. */
  error?: string
  stdout: Kept
  stderr: Kept
  /** Exit codes of the parts of the last pipe (bash only, more than one part). */
  stages?: number[]
  /** Left running: named now, ended with Tiller at the latest. */
  alive: ProcessName[]
  /** Ended by us, because of a timeout or an abort. */
  killed: ProcessName[]
  ms: number
}

/** Runs a program to its end. Never throws for an expected end, never hangs on a pipe that somebody else still holds. */
export async function exec(options: ExecOptions): Promise<Ended> {
  const began = performance.now()
  const argv = 'argv' in options ? options.argv : [options.shell ?? 'bash', '-c', options.command]
  const [program = '', ...rest] = options.wrap?.(argv) ?? argv
  const out: Buffer[] = []
  const err: Buffer[] = []
  return new Promise((resolve) => {
    let reason: Ended['reason'] = 'exited'
    const child = spawn(program, rest, { cwd: options.cwd, env: options.env ?? environment(), detached: true, stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] })
    const end = (why: Ended['reason']): void => {
      if (reason === 'exited') reason = why
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }
    const timer = options.timeoutMs === undefined ? undefined : setTimeout(end, options.timeoutMs, 'timeout')
    options.signal?.addEventListener('abort', () => { end('aborted') }, { once: true })
    child.stdin?.end(options.input)
    child.stdout?.on('data', (chunk: Buffer) => { out.push(chunk); options.onOutput?.(chunk, 'stdout') })
    child.stderr?.on('data', (chunk: Buffer) => { (options.combine ? out : err).push(chunk); options.onOutput?.(chunk, 'stderr') })
    if (child.pid !== undefined) options.onSpawn?.({ pid: child.pid })
    const settle = (ended: Partial<Ended>): void => {
      clearTimeout(timer)
      resolve({ reason, exit: null, signal: null, stdout: kept(out), stderr: kept(err), alive: [], killed: [], ms: performance.now() - began, ...ended })
    }
    child.on('error', (error) => { settle({ reason: 'spawn-failed', error: `${program}: ${error.message}` }) })
    child.on('close', (exit, signal) => { settle({ exit, signal }) })
  })
}

const kept = (chunks: Buffer[]): Kept => {
  const head = Buffer.concat(chunks)
  return { bytes: head.length, cut: 0, head, tail: Buffer.alloc(0) }
}

/** What was kept of a stream as UTF-8; a gap is named. */
export function textOf(kept: Kept): string {
  if (kept.cut === 0) return Buffer.concat([kept.head, kept.tail]).toString()
  return `${kept.head.toString()}\n[… ${kept.cut} bytes left out …]\n${kept.tail.toString()}`
}
