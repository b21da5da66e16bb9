import { createHash } from 'node:crypto'
import type { ModelRequest } from '../core/ports.ts'
import type { Dialect, Protocol } from './protocol.ts'
import { repairResponseEvent } from './response-events.ts'

/** Responses, with nothing stored at the provider: reasoning comes encrypted and goes back as it came. */
export const openai: Protocol = {
  package: '@ai-sdk/openai',
  bound: true,
  async open({ model, baseURL, key, headers, fetch }) {
    const { createOpenAI, VERSION } = await import('@ai-sdk/openai')
    return { language: createOpenAI({ baseURL, apiKey: key ?? 'none', headers, fetch: fetch as typeof globalThis.fetch }).responses(model), version: VERSION }
  },
  dialect: () => DIALECT,
  options: ({ request, facts: { effort }, maxOutput }) => ({
    ...(maxOutput === undefined ? {} : { maxOutputTokens: maxOutput }),
    ...(effort && request.effort ? { reasoning: request.effort } : {}),
    providerOptions: { openai: { store: false, promptCacheKey: cacheKey(request) } },
  }),
  repair: { frame: repairResponseEvent, isLast: ({ data }) => /^\{\s*"type":\s*"response\.(completed|incomplete)"/.test(data) },
}

const DIALECT: Dialect = {
  id: /^[\x21-\x7e]{1,64}$/,
  mint: { prefix: 'call_', length: 29 },
  imagesInResults: true,
  userAfterResults: true,
  marksFailure: false,
  // Without it the service rewrites schemas so that every optional argument must be given.
  declaresLoose: true,
  reasoning: (_part, { sdk }) => (sdk ? 'part' : undefined),
}

/** Requests that begin alike go to the machine that has the beginning cached. */
const cacheKey = ({ system, messages }: ModelRequest): string => createHash('sha256').update(JSON.stringify([system, messages[0]])).digest('hex').slice(0, 32)
