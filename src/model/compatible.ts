import type { OpenAICompatibleProviderSettings } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import { isDone, reasoningOf, repairChunk, wholeReply } from './chunks.ts'
import type { Dialect, Protocol } from './protocol.ts'

/** Chat Completions, as many servers understand it. */
export const compatible: Protocol = {
  package: '@ai-sdk/openai-compatible',
  bound: false,
  async open({ model, baseURL, key, headers, fetch }) {
    const { createOpenAICompatible, VERSION } = await import('@ai-sdk/openai-compatible')
    const provider = createOpenAICompatible({
      name: NAMESPACE, baseURL, headers, fetch: fetch as typeof globalThis.fetch, includeUsage: true, convertUsage,
      ...(key === undefined ? {} : { apiKey: key }),
    })
    return { language: provider.chatModel(model), version: VERSION }
  },
  dialect: ({ host, model }) => (/(^|\.)mistral\.ai(:|$)/.test(host) || /(^|\/)(mistral|ministral|devstral|codestral|magistral)/i.test(model) ? MISTRAL : USUAL),
  options: ({ request: { effort: wanted }, facts: { provider, effort, efforts = ['low', 'medium', 'high'] } }) => {
    // OpenRouter drops it for models that have no use for it. Others answer 400, so only a model known for it gets it.
    const level = wanted === undefined || efforts.includes(wanted) ? wanted : wanted === 'none' ? undefined : wanted === 'low' ? efforts.at(0) : efforts.at(-1)
    if (level === undefined) return {}
    if (provider === 'openrouter') return { providerOptions: { [NAMESPACE]: { reasoning: { effort: level } } } }
    return effort ? { providerOptions: { [NAMESPACE]: { reasoning_effort: level } } } : {}
  },
  repair: { frame: repairChunk, whole: wholeReply, isLast: isDone },
  endsInSilence: true,
  state: (part, exchange) => (part.type === 'reasoning' ? reasoningOf(exchange) : {}),
}

/** What lies in the provider options under the SDK's provider name goes into the body as it is. */
const NAMESPACE = 'tiller'

const USUAL: Dialect = {
  id: /^[\x21-\x7e]{1,40}$/,
  mint: { prefix: 'call_', length: 29 },
  imagesInResults: false,
  userAfterResults: true,
  marksFailure: false,
  // Back where the server gave it, and with calls only: there it is needed, elsewhere some refuse it.
  reasoning: (part, { field, details }, hasCalls) => {
    if (!hasCalls) return undefined
    if (details !== undefined) return { reasoning_details: details }
    if (field === 'reasoning_content') return 'part'
    return field === undefined ? undefined : { [field]: part.text }
  },
}

/** Its rules are stricter: nine letters or digits, and no message of the user right after results. */
const MISTRAL: Dialect = { ...USUAL, id: /^[A-Za-z0-9]{9}$/, mint: { prefix: '', length: 9 }, userAfterResults: false }

type ChunkUsage = Parameters<NonNullable<OpenAICompatibleProviderSettings['convertUsage']>>[0]

/** As the SDK's own, with the tokens written to a cache, which OpenRouter counts. */
function convertUsage(usage: ChunkUsage): LanguageModelV4Usage {
  const details = usage?.prompt_tokens_details
  const written = details?.['cache_write_tokens']
  return {
    inputTokens: { total: usage?.prompt_tokens ?? undefined, noCache: undefined, cacheRead: details?.cached_tokens ?? undefined, cacheWrite: typeof written === 'number' ? written : undefined },
    outputTokens: { total: usage?.completion_tokens ?? undefined, text: undefined, reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? undefined },
  }
}
