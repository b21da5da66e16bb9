import { similarity } from '../core/similarity.ts'
import type { Target } from './exchange.ts'
import type { ProviderType, Settings } from './protocol.ts'
import { isObject } from './server-error.ts'
import type { Transport } from './transport.ts'

/** One question to a server, beside the models themselves. Undefined: no answer in time, or none of use. */
export async function askServer(transport: Transport, url: string, target: Target, headers: Record<string, string>, signal: AbortSignal, body?: object): Promise<unknown> {
  try {
    const init: RequestInit = body ? { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } } : { headers }
    const response = await transport.send(new URL(url), { ...init, signal, redirect: 'manual' }, target)
    if (response.ok) return await response.json()
    await response.body?.cancel()
    return undefined
  } catch {
    return undefined
  }
}

/** The models that a provider lists. */
export async function listOffers(transport: Transport, type: ProviderType, { baseURL, key, headers }: Pick<Settings, 'baseURL' | 'key' | 'headers'>, target: Target, signal: AbortSignal): Promise<string[]> {
  const answer = await askServer(transport, `${baseURL}/models${type === 'google' ? '?pageSize=1000' : type === 'anthropic' ? '?limit=1000' : ''}`, target, { ...auth(type, key), ...headers }, signal)
  if (!isObject(answer)) return []
  const found = type === 'google' ? answer['models'] : answer['data']
  if (!Array.isArray(found)) return []
  return found
    .filter(isObject)
    .filter((model) => !Array.isArray(model['supportedGenerationMethods']) || model['supportedGenerationMethods'].includes('generateContent'))
    .map((model) => model[type === 'google' ? 'name' : 'id'])
    .filter((id) => typeof id === 'string')
    .map((id) => id.replace(/^models\//, ''))
}

function auth(type: ProviderType, key: string | undefined): Record<string, string> {
  if (key === undefined) return {}
  switch (type) {
    case 'anthropic': return { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
    case 'google': return { 'x-goog-api-key': key }
    case 'openai': case 'openai-compatible': return { authorization: `Bearer ${key}` }
  }
}

/** The names that look most like one that does not exist, best first. */
export function nearestNames(wanted: string, names: readonly string[], most: number): string[] {
  const ranked = names.map((name) => ({ name, like: similarity(wanted.toLowerCase(), name.toLowerCase()) }))
  return ranked.toSorted((a, b) => b.like - a.like).slice(0, most).map(({ name }) => name)
}
