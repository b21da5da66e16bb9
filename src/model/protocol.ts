import type { JSONValue, LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { ModelLimits, ModelRequest } from '../core/ports.ts'
import type { Part, ReasoningPart } from '../core/record.ts'
import type { Repair } from './body.ts'
import type { Exchange } from './exchange.ts'
import type { Fetch } from './transport.ts'

export const PROVIDER_TYPES = ['anthropic', 'openai', 'openai-compatible', 'google'] as const
export type ProviderType = (typeof PROVIDER_TYPES)[number]

/** What a protocol has of its own. The rest is the same for all of them. */
export interface Protocol {
  /** Name of the npm package, as the log has it. */
  package: string
  /** Its opaque state belongs to the model that made it, not only to the provider. */
  bound: boolean
  /** Imports the package: only when a model of it is first used. */
  open(settings: Settings): Promise<{ language: LanguageModelV4; version: string }>
  /** What its rules ask of messages, beyond what the SDK takes care of. */
  dialect(facts: ModelFacts): Dialect
  /** Effort and the like, in the package's own words. May mark what is to be cached in the prompt. */
  options(asked: Asked): Pick<LanguageModelV4CallOptions, 'providerOptions' | 'maxOutputTokens' | 'reasoning'>
  repair: Repair
  /** Some of its servers never say why they stopped, nor that they did. */
  endsInSilence?: boolean
  /** What the SDK did not hand on, for the opaque state of a part. */
  state?(part: Part, exchange: Exchange): State
}

export interface Asked {
  request: ModelRequest
  facts: ModelFacts
  prompt: LanguageModelV4Prompt
  /** What fits into the window beside the input; undefined: the provider's own default. */
  maxOutput: number | undefined
}

export interface Settings {
  model: string
  baseURL: string
  key: string | undefined
  headers: Record<string, string>
  fetch: Fetch
}

export interface ModelFacts {
  provider: string
  model: string
  host: string
  limits: ModelLimits
  /** Whether the model takes a reasoning effort; null: not known. */
  effort: boolean | null
  /** The efforts that the person says it takes. */
  efforts?: readonly string[]
}

/** What `opaque.data` of a part holds. */
export interface State {
  /** As the SDK's package gave it, and wants it back. */
  sdk?: SharedV4ProviderOptions
  /** The provider's own id of a call, where the session has another. */
  id?: string
  /** Which field of a message held the reasoning, and what came beside it. */
  field?: string
  details?: JSONValue
}

export interface Dialect {
  /** The ids of calls that it accepts. */
  id: RegExp
  /** How an id of its own form begins, and how long it is: for those that it does not accept. */
  mint: { prefix: string; length: number }
  /** Whether results can hold images. If not, the images follow as a message of the user. */
  imagesInResults: boolean
  /** Whether a message of the user may follow results. If not, a short reply is put between. */
  userAfterResults: boolean
  /** Whether a schema is taken word for word only when that is said. */
  declaresLoose?: boolean
  /** Whether a failed result is marked as one. Its text says so in any case. */
  marksFailure: boolean
  /** How its own reasoning goes back: as a part, as fields of the message, or not at all. */
  reasoning(part: ReasoningPart, state: State, hasCalls: boolean): 'part' | Record<string, JSONValue> | undefined
}
