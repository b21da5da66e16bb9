import type { Access, Effort, Image, Mode, OutcomeStatus, ResultStatus, UnknownRecord, When } from './record.ts'
import type { AgentEvent } from './ports.ts'
import type { Cost, Row } from './view-row.ts'
import type { Blocks } from './view-blocks.ts'
import type { Grown } from './grow.ts'

/** What a view folds: what the agent says, and what a reader of a log found besides. */
export type ViewEvent = AgentEvent | UnknownRecord | { type: 'damage'; why: string; line?: number }

/**
 * All that a screen shows, computed from events alone. Every text in it is sanitized, apart from `inner`,
 * which only `reduce` reads. A delta, an output or a record costs the same in a view of ten rows and of a million.
 */
export interface View {
  /** Settled rows: they only grow. Print those from where you stopped: `view.rows.slice(printed)`. */
  rows: Grown<Row>
  live: Live
  /** Inputs not delivered yet, in the order they will be. */
  waiting: readonly Waiting[]
  /** Calls that wait for a person, oldest first. */
  asks: readonly PendingAsk[]
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
  /** The last line of reasoning, while the model reasons. */
  reasoning: string | null
  /** The block being written; `fence` and `table` as in `TextRow`, once pieces of it are settled. */
  text: { text: string; fence: { language: string } | null; table: string | null } | null
  /** Calls whose arguments are being written. */
  writing: readonly { part: number; name: string; characters: number }[]
  /** The reply's calls in their order, from the first that is not settled on. */
  calls: readonly LiveCall[]
}

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
}

export interface Waiting {
  id: string
  text: string
  when: When
  from: 'user' | 'check' | 'hook'
  images: readonly Image[]
  at: number
}

export interface PendingAsk {
  run: string
  call: string
  name: string
  summary: string
  accesses: readonly Access[]
  preview: string | null
  because: string | null
  at: number
}

export interface Job {
  id: string
  call: string
  command: string
  pid: number
  since: number
}

/** What the run has used up so far, for the status line and the limits. */
export interface Run {
  id: string
  since: number
  step: number
  attempt: number
  calls: number
  tokens: { input: number; output: number }
  cost: Cost
  files: readonly string[]
  added: number
  removed: number
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
  tokens: { input: number; output: number }
  cost: Cost
  /** Times the conversation was compacted. */
  compactions: number
}

/** What `reduce` remembers for itself. */
export interface Inner {
  /** The seq of the next record. */
  next: number
  prompted: boolean
  instructions: string
  reply: Streaming | null
  calls: readonly OpenCall[]
  /** What a rewind goes back to, in order of seq. */
  marks: Grown<Mark>
}

export interface Streaming {
  run: string
  parts: readonly StreamedPart[]
  /** Something was missed: nothing more settles until the reply is there. */
  gap: boolean
}

export interface StreamedPart {
  part: number
  kind: 'text' | 'reasoning'
  /** Characters received. */
  length: number
  /** Received and settled, as it came. */
  settled: string
  blocks: Blocks
  done: boolean
}

export interface OpenCall {
  id: string
  row: Row | null
  partial: string
}

export interface Mark {
  seq: number
  what: string
  waiting: readonly Waiting[]
  context: number | null
}

