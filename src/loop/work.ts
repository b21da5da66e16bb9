import type { Policy } from '../core/policy.ts'
import type { Limits } from '../core/limits.ts'
import type { Host, Model, Prepared, Tool } from '../core/ports.ts'
import type { FactOf, Rule, ToolDeclaration } from '../core/record.ts'
import type { Ledger } from './ledger.ts'
import type { Pause } from './pause.ts'

/** What the agent is made of. `cli` gives it; the loop reads no configuration and no clock of its own. */
export interface AgentDeps {
  host: Host
  tools: readonly Tool[]
  model(id: string): Promise<Model>
  /** The system text and instruction files as they are now. */
  system(): Promise<Pick<FactOf<'system'>, 'text' | 'instructions'>>
  cwd: string
  /** Configured rules and sandbox; mode and grants come from the log. */
  policy: Omit<Policy, 'mode'>
  limits: Limits
  checks: readonly string[]
  checkAttempts: number
  compaction: { auto: boolean; reserveTokens: number; keepTokens: number }
  /** Secrets of known forms out of what tools say. */
  redact(text: string): string
  /** Whether somebody is there to be asked. */
  canAsk(): boolean
  /** Whether a run may wait for somebody to say how it goes on. Where not, it ends. */
  canPause(): boolean
  /** The model that takes over for the rest of a run when the set one fails for good; null: none. */
  fallback: string | null
  /** Keeps a lasting grant outside the session. */
  saveGrant(scope: 'project' | 'user', rules: readonly Rule[]): Promise<void>
  /** Taken when a log has no such setting. */
  defaults: { model: string | null; effort: FactOf<'step'>['effort']; mode: Policy['mode'] }
}

export type Answer = Pick<FactOf<'answer'>, 'verdict' | 'by' | 'reason'> & { grant?: 'once' | 'session' | 'project' | 'user' | undefined }

/** One run under way. */
export interface Work {
  run: string
  deps: AgentDeps
  ledger: Ledger
  /** Ends the run. The first reason wins. */
  stop: AbortController
  /** Ends what the current step does, to deliver an input that cuts in; the run goes on. */
  cut: AbortController
  /** Open questions, by call. */
  questions: Map<string, (answer: Answer) => void>
  /** It waits for the person to say how it goes on. */
  pause: Pause | null
  /** The model it fell back to. */
  fallback: string | null
  /** It waits to try again: this ends the wait. */
  wake: (() => void) | null
  /** Calls that run now. */
  running: Map<string, Prepared>
  /** Commands that were stopped: what they did to the files is looked at when the run has its outcome. */
  unseen: string[]
  /** Paths that a call which would not stop may still write; kept until it really ends. */
  abandoned: Set<{ call: string; paths: readonly string[] }>
  /** Whether the model of this run can be shown images. */
  images: boolean
  /** It has made a request. */
  delivered: boolean
  /** How often this run was told to go on. */
  nudges: number
  /** The tools as the model is told of them. */
  declarations: ToolDeclaration[]
  /** Windows smaller than the configured ones, as servers named them when they refused, by model; kept for the next run. */
  learnedWindows: Map<string, number>
  /** Compactions since the last good reply: two without one are enough. */
  compactions: number
}

export type Outcome = Pick<FactOf<'outcome'>, 'status' | 'reason' | 'tree' | 'alive'>

export function interrupted(work: Work): Outcome | null {
  const { signal } = work.stop
  if (!signal.aborted) return null
  return { status: 'interrupted', reason: typeof signal.reason === 'string' ? signal.reason : 'interrupted by the user' }
}

/** A word of the harness to the model, in the log and on the screen like any other input. */
export function tell(work: Work, text: string, from: 'check' | 'tiller' = 'tiller'): void {
  work.ledger.append({ type: 'input', id: work.deps.host.id(), text, from, when: 'next' })
}

/** Aborted when the run is stopped or the step is cut. */
export const stepSignal = (work: Work): AbortSignal => AbortSignal.any([work.stop.signal, work.cut.signal])
