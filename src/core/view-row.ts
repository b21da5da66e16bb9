import type { Choice, Effort, FaultKind, Mode, OutcomeStatus, Reached, ResultStatus, Rule, Stop } from './record.ts'

/**
 * What a settled row says. Rows hold only sanitized text, and of long things only what is shown (the rest is in the
 * log, by `seq` or call id), so a view of a long session stays small. A row never changes once it is settled.
 */
export type Row =
  | { kind: 'session'; id: string; root: string; cwd: string; branch: string | null; fork: { id: string; seq: number } | null }
  /** Going on with an earlier session: what it was about, and how its last run ended. */
  | { kind: 'resume'; id: string; title: string; outcome: OutcomeStatus | null; reason: string }
  /** Records before this point are not in memory, or rows are not printed. */
  | { kind: 'older'; count: number; of: 'records' | 'rows' }
  | { kind: 'instructions'; paths: string[] }
  | InputRow
  | TextRow
  | { kind: 'reasoning'; first: string; lines: number }
  | { kind: 'stop'; stop: Exclude<Stop, 'end' | 'calls'> }
  | CallRow
  | { kind: 'grant'; scope: 'session' | 'project' | 'user'; rules: Rule[] }
  | { kind: 'check'; command: string; exit: number | null; attempt: number; ms: number | null; output: Excerpt }
  | { kind: 'shell'; command: string; exit: number | null; model: boolean; output: Excerpt }
  | { kind: 'job'; id: string; command: string; exit: number | null; signal: string | null; because: string | null }
  | { kind: 'compact'; before: number; after: number; first: string }
  | { kind: 'rewind'; to: number; follows: string }
  | { kind: 'pause'; text: string }
  /** Something is no longer among what the model is sent. */
  | { kind: 'omit' }
  | { kind: 'choice'; choice: Choice; by: 'user' | 'input'; reached: Reached | null }
  /** A request failed; `retry`: after how long it is tried again, and of how many attempts. */
  | { kind: 'fault'; fault: FaultKind; message: string; status: number | null; attempt: number; retry: { waitMs: number; of: number; model: string | null } | null }
  /** Text of the failed attempt stands above: the reply begins anew. */
  | { kind: 'retry'; attempt: number }
  /** The reply in the log is not what was streamed: it follows whole. */
  | { kind: 'differs' }
  | { kind: 'checkpoint'; note: string }
  /** Files were put back to an earlier state, or that was taken back. Paths relative to the root where they are in it; the first of them. */
  | { kind: 'undo'; redo: boolean; files: readonly { path: string; gone: boolean }[]; more: number }
  | { kind: 'set'; model?: string; effort?: Effort; mode?: Mode; title?: string }
  | OutcomeRow
  | { kind: 'damage'; what: string }
  | { kind: 'error'; message: string }

/** An input, where it was delivered: it began the run (`prompt`), or reached it under way (`steer`, or `now` by cutting in). */
export interface InputRow {
  kind: 'input'
  role: 'prompt' | 'follow-up' | 'steer' | 'now'
  from: InputFrom
  text: string
  images: number
  step: number
}

export type InputFrom = 'user' | 'check' | 'hook' | 'tiller'

/** One block of a reply's Markdown, or a piece of a very long one. */
export interface TextRow {
  kind: 'text'
  text: string
  /** The row before is an earlier piece of the same block: no blank line between. */
  joins: boolean
  /** `text` is the code of a fence, or of a piece of one, without the fence's own lines. */
  fence: { language: string; first: boolean; last: boolean } | null
  /** `text` is table lines without a head: the piece that began the table, for its alignment and column widths. */
  table: string | null
}

export interface CallRow {
  kind: 'call'
  call: string
  name: string
  /** The arguments in one short line. */
  summary: string
  status: ResultStatus
  /** Milliseconds the call ran. */
  ms: number | null
  exit: number | null
  /** Unified diff of what the call changed, capped; and the counts of the whole of it. */
  diff: Excerpt | null
  added: number
  removed: number
  /** Paths it changed, relative to the root where they are in it; the first 500. */
  files: readonly string[]
  /** Lines of the whole result. */
  lines: number
  /** What the person should see of the result: the end of a command's output, the reason of a refusal. */
  output: Excerpt
  /** Set where a person, a rule or nobody decided. */
  answer: { verdict: 'allow' | 'deny'; by: 'user' | 'rule' | 'mode' | 'nobody'; because: string; reason: string } | null
  images: number
  /** Processes the call left running. */
  alive: number[]
}

/** What a run took and changed. */
export interface Used {
  calls: number
  tokens: { input: number; output: number }
  cost: Cost
  /** Paths, relative to the root where they are in it; the first 500. */
  files: readonly string[]
  added: number
  removed: number
}

export interface OutcomeRow extends Used {
  kind: 'outcome'
  run: string
  status: OutcomeStatus
  reason: string
  ms: number | null
  steps: number
  /** The state of the files that was checked. */
  tree: string | null
  alive: number[]
}

/** Lines of something longer. */
export interface Excerpt {
  text: string
  /** Lines of it left out, before (`tail`) or after (`head`) the text. */
  more: number
  end: 'head' | 'tail'
}

export interface Cost {
  /** US dollars of all replies whose price is known. */
  usd: number
  /** Some reply's price is unknown: the true cost is more than `usd`. */
  unknown: boolean
}

