import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Effort } from '../core/record.ts'
import type { Dialect, Protocol } from './protocol.ts'

/** Messages, with breakpoints for the cache, thinking and its signatures. */
export const anthropic: Protocol = {
  package: '@ai-sdk/anthropic',
  bound: true,
  async open({ model, baseURL, key, headers, fetch }) {
    const { createAnthropic, VERSION } = await import('@ai-sdk/anthropic')
    return { language: createAnthropic({ baseURL, apiKey: key ?? 'none', headers, fetch: fetch as typeof globalThis.fetch })(model), version: VERSION }
  },
  dialect: () => DIALECT,
  options({ request, facts, prompt, maxOutput }) {
    markForCache(prompt)
    const effort = facts.effort ? request.effort : undefined
    if (effort === undefined) return { maxOutputTokens: maxOutput ?? 8_192 }
    if (BUDGETS.test(facts.model)) return thinkWithin(maxOutput ?? 32_000, goesOnWithoutThinking(prompt) ? 'none' : effort)
    const limit = maxOutput === undefined ? {} : { maxOutputTokens: maxOutput }
    if (effort === 'none' || !BINDS.test(facts.model) || !facts.host.endsWith('anthropic.com')) return { ...limit, reasoning: effort }
    // After a compaction the thoughts that are left no longer follow what they followed: dropped, not refused.
    const thinking = { type: 'adaptive', display: 'summarized', blockBinding: { prefixMismatchBehavior: 'drop_block' } }
    return { ...limit, providerOptions: { anthropic: { thinking, effort } } }
  },
  repair: { isLast: ({ data }) => /^\{\s*"type":\s*"message_stop"/.test(data) },
}

const DIALECT: Dialect = {
  id: /^[a-zA-Z0-9_-]{1,64}$/,
  mint: { prefix: 'toolu_', length: 30 },
  imagesInResults: true,
  userAfterResults: true,
  marksFailure: true,
  reasoning: (_part, { sdk }) => (sdk ? 'part' : undefined),
}

/** The models that think within a budget of tokens. Later ones decide by themselves how much, by effort. */
const BUDGETS = /claude-(3-7|(opus|sonnet|haiku)-4-(0|1|5|20\d{6}))/

/** The models that check whether a thought is sent back after the very conversation that it had before it. */
const BINDS = /claude-((fable|mythos)-5-[1-9]|(opus|sonnet|haiku)-5-[5-9])/

/** The budget is a part of the output, and the rest must still hold an answer. The SDK adds the two. */
function thinkWithin(output: number, effort: Effort): ReturnType<Protocol['options']> {
  const budget = Math.min(output - 4_096, Math.max(1_024, Math.round(output * SHARE[effort])))
  if (effort === 'none' || budget < 1_024) return { maxOutputTokens: output, reasoning: 'none' }
  return { maxOutputTokens: output - budget, providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: budget } } } }
}

const SHARE: Readonly<Record<Effort, number>> = { none: 0, low: 0.1, medium: 0.3, high: 0.6, max: 0.85 }

/** With a budget, a reply whose calls are being answered must begin with thinking: not so when another provider began it. */
function goesOnWithoutThinking(prompt: LanguageModelV4Prompt): boolean {
  const last = prompt.at(-1)
  const reply = prompt.findLast((message) => message.role === 'assistant')
  return (last?.role === 'tool' || prompt.at(-2)?.role === 'tool') && reply?.content[0]?.type !== 'reasoning'
}

/** Tools and system text, then the conversation up to here: the next request reads what this one writes. */
function markForCache(prompt: LanguageModelV4Prompt): void {
  const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } }
  const turns = prompt.filter((message) => message.role === 'user' || message.role === 'tool')
  for (const message of [...prompt.filter(({ role }) => role === 'system'), ...turns.slice(-2)]) message.providerOptions = mark
}
