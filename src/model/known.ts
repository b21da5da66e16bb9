import type { ModelLimits } from '../core/ports.ts'
import { guess, lookUp, lookUpRouted, type CatalogMaker } from './catalog.ts'
import type { LocalModel } from './local.ts'
import type { ModelFacts } from './protocol.ts'
import type { Provider } from './providers.ts'

const UNKNOWN: ModelLimits = { contextWindow: null, maxOutput: null, images: false, price: null, guessed: false }

/** Whose models the catalog is asked for: the maker's own service, or one of the person's that stands for it. */
export function makerOf(provider: Provider): CatalogMaker | undefined {
  return provider.type === 'openai-compatible' ? undefined : provider.type
}

/** What is known of a model: the person's word first, then the local server's, then the catalog's, then a guess that is marked as one. */
export function factsOf(provider: Provider, model: string, now: number, local?: LocalModel): ModelFacts {
  const maker = makerOf(provider)
  const entry = maker ? (lookUp(maker, model, now) ?? (FAMILIES[maker].test(model) ? guess(maker) : undefined)) : lookUpRouted(model, now)
  const found = local?.limits ?? entry?.limits ?? UNKNOWN
  const own = provider.models?.[model] ?? {}
  const limits: ModelLimits = {
    contextWindow: own.contextWindow ?? found.contextWindow,
    maxOutput: own.maxOutput ?? found.maxOutput,
    images: own.images ?? found.images,
    price: own.price ? { cacheRead: own.price.input, cacheWrite: own.price.input, ...withoutUndefined(own.price) } : found.price,
    guessed: found.guessed && own.contextWindow === undefined,
  }
  const host = URL.canParse(provider.baseURL) ? new URL(provider.baseURL).host : ''
  const efforts = own.effort
  return {
    provider: provider.name, model, host, limits,
    effort: efforts ? efforts.length > 0 : (local?.effort ?? entry?.effort ?? (REASONING.test(model) ? true : null)),
    ...(efforts && efforts.length > 0 ? { efforts } : {}),
  }
}

const FAMILIES: Readonly<Record<CatalogMaker, RegExp>> = { anthropic: /^claude-/, openai: /^(gpt-|o\d|codex)/, google: /^gemini-/ }

/** Families that take an effort wherever they are served. */
const REASONING = /(^|\/)(gpt-oss|gpt-[5-9]|o[134](-|$)|gemini-([3-9]|2\.5)|claude-(opus|sonnet|haiku|fable)-([5-9]|4-[5-9]))/

const withoutUndefined = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } => Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as { [K in keyof T]: Exclude<T[K], undefined> }
