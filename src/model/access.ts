import { ModelError } from '../core/ports.ts'
import type { Target } from './exchange.ts'
import { findKey, hasKey, type KeySources } from './keys.ts'
import type { Settings } from './protocol.ts'
import type { Provider } from './providers.ts'
import { isLoopback } from './transport.ts'

/** How a provider is reached: address, key and headers, looked up when they are needed and not kept. */
export interface Access {
  hasKey(): boolean
  /** There is a key, or none is needed. */
  isReady(): boolean
  /** Throws a ModelError of kind auth where a key is needed and missing. */
  open(model: string): Promise<{ settings: Omit<Settings, 'fetch'>; target: Target }>
}

export function createAccess(provider: Provider, sources: KeySources): Access {
  const { name, baseURL, keys } = provider
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined
  const headers = { ...basicAuth(url), ...Object.fromEntries(Object.entries(provider.headers ?? {}).map(([header, value]) => [header, fromVariable(value, sources)])) }
  const needsKey = !(url && isLoopback(url.hostname)) && !Object.keys(headers).some((header) => AUTH.test(header))
  const has = (): boolean => hasKey(provider, keys, sources.environment)
  return {
    hasKey: has,
    isReady: () => !needsKey || has(),
    async open(model) {
      const key = await findKey(name, provider, keys, sources)
      const host = url?.host ?? baseURL
      if (needsKey && key.value === undefined) throw new ModelError({ kind: 'auth', message: `There is no key for ${name} (${host}). ${key.hint}` })
      const secrets = [...(key.value === undefined ? [] : [key.value]), ...(url?.password ? [decodeURIComponent(url.password)] : []), ...Object.values(headers).filter((value) => value.length >= 12)]
      return { settings: { model, baseURL: url?.username ? baseURL.replace(/\/\/[^/@]*@/, '//') : baseURL, key: key.value, headers }, target: { provider: name, model, host, keyHint: key.hint, secrets } }
    },
  }
}

const AUTH = /^(authorization|x-api-key|api-key|x-goog-api-key)$/i

/** A name and a password in the address: fetch takes none there. */
function basicAuth(url: URL | undefined): Record<string, string> {
  if (!url?.username) return {}
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** A header may be `$NAME`, or hold `${NAME}`, of an environment variable. */
const fromVariable = (value: string, { environment }: KeySources): string =>
  value.replace(/^\$(\w+)$|\$\{(\w+)\}/g, (whole, plain: string | undefined, braced: string | undefined) => environment[plain ?? braced ?? ''] ?? whole)
