import type { Access, Choice, Effort, Image, Mode, OutcomeStatus, Preview, Reached, RecordOf, ResultStatus, Rule, UnknownRecord, When } from './record.ts'
import type { AgentEvent } from './ports.ts'
import type { CallRow, Cost, InputFrom, Row, Used } from './view-row.ts'
import type { Blocks } from './view-blocks.ts'
import type { Grown } from './grow.ts'

/** What a view folds: what the agent says, and what a reader of a log found besides. */
export type ViewEvent = AgentEvent | UnknownRecord | { type: 'damage'; why: string; line?: number }

/**
 * All that a screen shows, computed from events alone. Every text in it is sanitized, apart from ids, which are
 * for commands and not for the eye, and from `inner`, which only `reduce` reads. A delta, an output or a record costs the same in a view of ten rows and of a million.
 */
export interface View {
  /** Settled rows: they only grow. Print those from where you stopped: `view.rows.slice(printed)`. */
  rows: Grown<Row>
  live: Live
  /** Inputs not delivered yet, in the order they will be. */
  waiting: readonly Waiting[]
  /** Calls that wait for a person, oldest first. */
  asks: readonly PendingAsk[]
  /** The run waits for the person to say how it goes on. */
  pause: Pause | null
  /** Background commands that have not ended. */
  jobs: readonly Job[]
  /** The active run; null: idle. */
  run: Run | null
  /** How the last run ended. */
  last: { run: string; status: OutcomeStatus; reason: string; at: number } | null
  status: Status
  inner: Inner
}

/** What is under way and may still change. */
export interface Live {
  /** A request is out: since when, and whether anything of its reply has come. */
  request: { since: number; step: number; attempt: number; model: string; begun: boolean } | null
  /** Waiting to try again: until when (UTC ms). */
  retry: { at: number; attempt: number; of: number } | null
  /** The end of its reasoning, one line, while the model reasons. */
  reasoning: string | null
  /** The block being written; `fence` and `table` as in `TextRow`, once pieces of it are settled. */
  text: { text: string; joins: boolean; fence: { language: string; first: boolean } | null; table: string | null } | null
  /** A part of the stream was missed: what is shown here has a hole until the reply is there. */
  gap: boolean
  /** Calls whose arguments are being written. */
  writing: readonly { part: number; name: string; characters: number }[]
  /** The reply's calls in their order, from the first that is not settled on. */
  calls: readonly LiveCall[]
  /** The person's own commands (`!`) that run, with the end of their output. */
  shells: readonly { call: string; command: string; output: string }[]
}

export const noLive: Live = { request: null, retry: null, reasoning: null, text: null, gap: false, writing: [], calls: [], shells: [] }

export interface LiveCall {
  call: string
  name: string
  summary: string
  state: 'waiting' | 'asking' | 'running' | 'ended'
  /** When it started to run. */
  since: number | null
  /** The end of its live output, whole lines and the one being written. */
  output: string
  /** How it ended, while an earlier call holds its row back. */
  status: ResultStatus | null
  pid: number | null
  answer: CallRow['answer']
  /** Waits for the rows of earlier calls. */
  row: CallRow | null
}

export interface Waiting {
  id: string
  text: string
  when: When
  from: InputFrom
  images: readonly Image[]
  at: number
}

export interface PendingAsk {
  run: string
  call: string
  name: string
  summary: string
  /** Written out where something in it would not be seen. */
  accesses: readonly Access[]
  preview: Preview | null
  because: string | null
  /** The rules that a lasting yes would add. */
  lasting: readonly Rule[]
  at: number
}

export interface Pause {
  run: string
  why: RecordOf<'pause'>['why']
  text: string
  choices: readonly Choice[]
  reached: Reached | null
  /** How long the provider wants to be left alone. */
  waitMs: number | null
}

export interface Job {
  id: string
  call: string
  command: string
  pid: number
  since: number
}

/** The run and what it has used up so far, for the status line and the limits. */
export interface Run extends Used {
  id: string
  /** The first words of what began it. */
  prompt: string
  since: number
  step: number
  attempt: number
  raised: readonly Reached[]
}

export interface Status {
  session: string | null
  root: string | null
  cwd: string | null
  branch: string | null
  /** As set, else the first words of the first input. */
  title: string
  model: string | null
  mode: Mode | null
  effort: Effort | null
  /** Tokens the last request and its reply took; null: none yet. The window's size is the model's to say. */
  context: number | null
  /** Of the whole file, abandoned paths included. */
  steps: number
  calls: number
  raised: readonly Reached[]
  tokens: { input: number; output: number }
  cost: Cost
  /** Times the conversation was compacted. */
  compactions: number
}

export const noTokens = { input: 0, output: 0 }
export const noCost: Cost = { usd: 0, unknown: false }
export const noUse: Used = { calls: 0, tokens: noTokens, cost: noCost, files: [], added: 0, removed: 0 }
export const withStatus = (view: View, to: Partial<Status>): View => ({ ...view, status: { ...view.status, ...to } })

/** What `reduce` remembers for itself. */
export interface Inner {
  /** The seq of the next record. */
  next: number
  /** The records begin late, at what a compaction keeps; it will say what the others come to. */
  late: boolean
  /** Instruction files as last shown. */
  instructions: string
  /** What was last said of a checkpoint. */
  checkpoint: string
  /** The reply being streamed. */
  reply: Streaming | null
  /** The line of live output being written, as it came, by call. */
  partial: ReadonlyMap<string, string>
  /** What a rewind goes back to, in order of seq. */
  marks: Grown<Mark>
}

export interface Streaming {
  run: string
  /** All text received so far, to be compared with the reply. */
  text: string
  reasonings: number
  part: { index: number; kind: 'text' | 'reasoning'; length: number } | null
  /** Of the text part being streamed. */
  blocks: Blocks
  /** Of the reasoning part being streamed. */
  reasoning: { first: string; lines: number; end: string }
  gap: boolean
  /** Text rows of this attempt were settled. */
  settled: boolean
  /** The reply is there: what is streamed late is passed over. */
  over: boolean
}

/** What holds on the live path from `seq` on. */
export interface Mark {
  seq: number
  what: string
  waiting: readonly Waiting[]
  context: number | null
}
