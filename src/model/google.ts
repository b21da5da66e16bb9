import type { Dialect, Protocol } from './protocol.ts'

/** Gemini, with the signatures of its thoughts. */
export const google: Protocol = {
  package: '@ai-sdk/google',
  bound: true,
  async open({ model, baseURL, key, headers, fetch }) {
    const { createGoogle, VERSION } = await import('@ai-sdk/google')
    return { language: createGoogle({ baseURL, apiKey: key ?? 'none', headers, fetch: fetch as typeof globalThis.fetch })(model), version: VERSION }
  },
  dialect: () => DIALECT,
  options: ({ request, facts: { effort }, maxOutput }) => ({
    ...(maxOutput === undefined ? {} : { maxOutputTokens: maxOutput }),
    ...(effort && request.effort ? { reasoning: request.effort, providerOptions: { google: { thinkingConfig: { includeThoughts: request.effort !== 'none' } } } } : {}),
  }),
  repair: {},
}

const DIALECT: Dialect = {
  id: /^[a-zA-Z0-9_-]{1,64}$/,
  mint: { prefix: 'call_', length: 29 },
  imagesInResults: true,
  userAfterResults: true,
  marksFailure: true,
  reasoning: (_part, { sdk }) => (sdk ? 'part' : undefined),
}
