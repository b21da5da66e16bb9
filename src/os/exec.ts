import type { Kept, OutputFile, OutputFileOptions, Sink } from './output.ts'
import { start } from './start.ts'

export { textOf, type Kept } from './output.ts'

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
  /** stdout (with `combine`: all output) streams there too, up to a limit. The file must not exist yet. */
  outputFile?: OutputFileOptions | undefined
  /** What the sandbox makes of the arguments. */
  wrap?: ((argv: readonly string[]) => Wrapped | Promise<Wrapped>) | undefined
  /** With a command for bash: also tell which variables were exported at its end. */
  exports?: boolean | undefined
}

export type Wrapped = readonly string[] | { argv: readonly string[]; env?: Record<string, string> | undefined }

export interface Spawned {
  pid: number
  /** Tells this process from a later one with the same pid. */
  started?: string
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
  file?: OutputFile
  /** Exit codes of the parts of the last pipe, where it had more than one (commands for bash only). */
  stages?: number[]
  /** The same of pipes before the last one, in which another part than the last failed: what came after it did not see that. */
  earlierStages?: number[][]
  /** The folder the shell was in at its end (commands for bash only). */
  endedIn?: string
  exports?: Record<string, string>
  /** Left running: named now, ended with Tiller at the latest. */
  alive: ProcessName[]
  /** Ended by us, because of a timeout or an abort. */
  killed: ProcessName[]
  ms: number
}

/** A command under way. */
export interface Running {
  /** null: it never began, and `ended` says why. */
  pid: number | null
  started?: string
  /** stdout, or with `combine` all output. */
  output: Sink
  ended: Promise<Ended>
  /** Ends it and all it started. Without a reason of its own: `aborted`. */
  stop(): Promise<Ended>
  /** From now on neither its timeout nor its signal ends it. */
  release: () => void
  /** For Tiller's leaving: it stays, and a small process goes on writing its output to its file. */
  letGo: () => void
}

/**
 * Runs a program to its end, in its own session: no terminal, stdin at its end. Never throws for an expected end, and never hangs on a
 * pipe that somebody else still holds: what was left running keeps a working stdout and is named in `alive`. A timeout or an
 * abort ends everything it started; when Tiller dies, the reaper does. POSIX only.
 */
export async function exec(options: ExecOptions): Promise<Ended> {
  return (await start(options)).ended
}
