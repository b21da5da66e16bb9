import type * as z from 'zod/mini'
import type { Access, BlobRef, Effort, Fact, Fault, FileChange, Image, Part, Preview, Seen, SessionRecord, Stop, ToolDeclaration, UnknownRecord, Usage } from './record.ts'

/** What the loop needs from outside, as contracts. Nothing in here does anything. */

// ---- model

export interface Rates {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

export interface ModelLimits {
  /** Tokens; null: unknown. */
  contextWindow: number | null
  maxOutput: number | null
  images: boolean
  /** US dollars for a million tokens; null: unknown, which is not zero. */
  price: (Rates & { /** What the whole request costs when its input is more than so many tokens. */ above?: Rates & { tokens: number } }) | null
  /** The figures are our guess, not the provider's, the catalog's or the person's. */
  guessed: boolean
}

export type Message =
  | { role: 'user'; parts: ({ type: 'text'; text: string } | { type: 'image'; image: Image })[] }
  | { role: 'assistant'; parts: Part[] }
  | { role: 'tool'; results: { call: string; name: string; failed: boolean; text: string; images?: Image[] }[] }

/** The neutral request: what is sent, before a provider's package turns it into its own body. */
export interface ModelRequest {
  system: string
  tools: ToolDeclaration[]
  messages: Message[]
  effort?: Effort
  maxOutput?: number
}

export interface Delta {
  type: 'delta'
  /** Index of the part in the reply, and where in its text this piece begins: a reader sees what it missed. */
  part: number
  kind: 'text' | 'reasoning' | 'call'
  offset: number
  text: string
  /** The tool's name, on the first delta of a call. */
  name?: string
}

export interface ModelEnd {
  type: 'end'
  parts: Part[]
  stop: Stop
  usage: Usage
  wire?: { sha256: string; bytes: number; package: string }
}

/** Yields deltas, then exactly one `end`, or throws one ModelError. Never retries. Stops within 1 s of `signal`. */
export interface Model {
  /** `provider/model`, as the person wrote it. */
  id: string
  limits: ModelLimits
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<Delta | ModelEnd>
}

export class ModelError extends Error {
  readonly fault: Fault
  constructor(fault: Fault, options?: ErrorOptions) {
    super(fault.message, options)
    this.name = 'ModelError'
    this.fault = fault
  }
}

// ---- tools

/** JSON Schema with a validator: zod for our own tools, as given for MCP ones. */
export type InputSchema<I> = z.ZodMiniType<I> | { schema: unknown; validate(input: unknown): { ok: true; input: I } | { ok: false; why: string } }

// oxlint-disable-next-line typescript/no-explicit-any -- a list of tools holds tools of any input
export interface Tool<I = any> {
  name: string
  /** For the model: what it does, when to use it, what it returns. Short. */
  about: string
  input: InputSchema<I>
  /** Touches nothing. It may read files; what it learns is shown to the model only if policy allows the reads it names. */
  prepare(input: I, here: Here): Promise<Prepared | Refused>
}

/** What a call knows of its surroundings. */
export interface Here {
  /** The session's call id. */
  call: string
  root: string
  cwd: string
  /** What the model last saw of this file in this session (real absolute path). */
  seen(path: string): Seen | undefined
  /** Whether the model can be shown images. */
  images: boolean
  /** What policy says of reading this file (real absolute path): a search over a folder passes over those it may not read unasked. */
  mayRead?(path: string): 'allow' | 'ask' | 'deny'
  /** Keeps the bytes of a file that a call replaces, and those that it writes, so that both can be had again. Never throws. */
  keep?: ((bytes: Uint8Array) => void) | undefined
  signal: AbortSignal
}

export interface Prepared {
  /** Every effect; what cannot be known is `unknown`, which asks. */
  accesses: Access[]
  /** What a person is shown when asked. A preview that differs when the call's turn comes is asked again. */
  preview?: Preview
  changes: { path: string; before: string | null; intended: string | null }[]
  /** Of a commit: what it is made on top of; null: it is the first one. By that it is found, should its end not be seen. */
  head?: string | null
  /** Never throws for an expected end. On `signal` it stops what it started and says so in the status. */
  run(signal: AbortSignal, emit: Emit, how: { sandbox: boolean }): Promise<Output>
  /** Where there is one: lets the running command go on as a job, so that `run` returns now. */
  background?(): void
}

/** The tool already knows that it will not do this: nothing was touched. The text is for the model. */
export interface Refused {
  refused: string
  accesses: Access[]
}

export interface Emit {
  /** Live output, for the screen only; may be dropped. */
  output(text: string): void
  spawned(process: { pid: number; started?: string; output?: string; job?: string }): void
}

export interface Output {
  status: 'ok' | 'failed' | 'interrupted' | 'unknown'
  /** For the model: capped, valid text without control sequences, says what was left out and how to get it. */
  text: string
  /** The full output. */
  output?: BlobRef
  images?: Image[]
  changes?: FileChange[]
  diff?: string
  seen?: Seen[]
  alive?: number[]
  exit?: number | null
}

// ---- log, host

/** One write, at most one sync. If it throws, the log is closed for writing and the run stops; the facts may or may not be in the file. */
export interface Log {
  readonly id: string
  readonly file: string
  /** In memory from `base` on. */
  readonly records: readonly (SessionRecord | UnknownRecord)[]
  readonly base: number
  /** Why nothing can be appended; null: it can. */
  readonly readOnly: string | null
  append(facts: readonly Fact[]): SessionRecord[]
  /** What would be in memory after a rewind to a record, which may be an older one. Throws where that is more than fits. */
  reach(to: number): Pick<Log, 'records' | 'base'>
  /** After an append that threw: opens for writing again, or throws while it cannot. How many of its facts are in the file after all; they are in `records` now. */
  reopen(): number
  close(): void
}

export interface Blobs {
  put(data: Uint8Array | string): BlobRef
  get(sha256: string): Uint8Array | undefined
}

export interface Host {
  now(): number
  id(): string
  random(): number
  sha256(data: Uint8Array | string): string
  /** Resolves after `ms` or at once when aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  blobs: Blobs
  /** The state of the work tree, stored privately; `extra` paths are in it even if ignored. `tree` is null where none can be taken, and `note` says why or what was left out. */
  checkpoint(why: string, signal: AbortSignal, extra?: readonly string[]): Promise<{ tree: string | null; note?: string }>
}

// ---- what front ends see

export type AgentEvent =
  | SessionRecord
  | ({ run: string } & Delta)
  /** `command`: of a command of the person's own (without a run) what it is, when it begins; null: it is over and left no record. */
  | { type: 'output'; run: string; call: string; text: string; command?: string | null }
  /** A summary did not come about yet: it is asked for again at `at`. */
  | { type: 'retry'; run: string; fault: Fault; attempt: number; of: number; at: number; waitMs: number }
  | { type: 'error'; message: string; run?: string; active?: string | null }
