import { ModelError } from '../core/ports.ts'
import type { Fault } from '../core/record.ts'

/** Whom a request goes to, as a person would name it. */
export interface Target {
  provider: string
  model: string
  /** Host and port. */
  host: string
  /** Where its key comes from, as advice: "Check ANTHROPIC_API_KEY." */
  keyHint: string
  /** Never in any message: keys and what the configured headers hold. */
  secrets: readonly string[]
}

/** What our fetch learns about one request; the reader of the stream decides by it. */
export interface Exchange {
  readonly target: Target
  /** Hash and size of the body really sent. */
  wire?: { sha256: string; bytes: number }
  /** The first failure wins: what comes after it is mostly its echo. */
  failure?: ModelError
  /** The body ended as HTTP says it should. */
  ended: boolean
  /** The protocol's own last word was there (`[DONE]`, `message_stop`, ...). */
  finished: boolean
  /** Text on the stream that belongs to no event: mostly a proxy's error line. */
  noise: string
  /** State that a server wants back and the SDK does not hand on. */
  extra: Record<string, unknown>
}

export const createExchange = (target: Target): Exchange => ({ target, ended: false, finished: false, noise: '', extra: {} })

/** Without a cause: those of the SDK hold the whole request. */
export function fail(exchange: Exchange, fault: Fault): ModelError {
  exchange.failure ??= new ModelError(fault)
  return exchange.failure
}
