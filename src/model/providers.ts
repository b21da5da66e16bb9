import { ModelError } from '../core/ports.ts'
import { isLoopback } from './transport.ts'
import type { ProviderType } from './protocol.ts'

/** One entry of `providers` in `.agentrc`. */
export interface ProviderConfig {
  type?: ProviderType | undefined
  baseURL?: string | undefined
  apiKey?: string | undefined
  apiKeyEnv?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  models?: Readonly<Record<string, ModelConfig>> | undefined
  /** No byte of a reply for so long ends it. */
  idleSeconds?: number | undefined
}

/** What a person says of a model goes before what the catalog or the server says. */
export interface ModelConfig {
  contextWindow?: number | undefined
  maxOutput?: number | undefined
  images?: boolean | undefined
  /** The reasoning efforts that it takes; none: `[]`. */
  effort?: readonly string[] | undefined
  price?: { input: number; output: number; cacheRead?: number | undefined; cacheWrite?: number | undefined } | undefined
}

export interface Provider extends ProviderConfig {
  name: string
  type: ProviderType
  baseURL: string
  /** The variables that usually hold its key. */
  keys: readonly string[]
  /** A server on this machine, that can be asked what it has. */
  local?: 'ollama' | 'lmstudio' | 'llamacpp'
}

type BuiltIn = Pick<Provider, 'type' | 'baseURL' | 'keys' | 'local'> & { variable?: string }

/** Known by name. `variable` names another address for it. */
const BUILT_IN: Readonly<Record<string, BuiltIn>> = {
  anthropic: { type: 'anthropic', baseURL: 'https://api.anthropic.com/v1', keys: ['ANTHROPIC_API_KEY'], variable: 'ANTHROPIC_BASE_URL' },
  openai: { type: 'openai', baseURL: 'https://api.openai.com/v1', keys: ['OPENAI_API_KEY'], variable: 'OPENAI_BASE_URL' },
  google: { type: 'google', baseURL: 'https://generativelanguage.googleapis.com/v1beta', keys: ['GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'] },
  openrouter: { type: 'openai-compatible', baseURL: 'https://openrouter.ai/api/v1', keys: ['OPENROUTER_API_KEY'] },
  ollama: { type: 'openai-compatible', baseURL: 'http://127.0.0.1:11434/v1', keys: [], local: 'ollama', variable: 'OLLAMA_HOST' },
  lmstudio: { type: 'openai-compatible', baseURL: 'http://127.0.0.1:1234/v1', keys: [], local: 'lmstudio' },
  llamacpp: { type: 'openai-compatible', baseURL: 'http://127.0.0.1:8080/v1', keys: [], local: 'llamacpp' },
}

/** All providers: those built in, as far as they are not changed, then the person's own. */
export function allProviders(configured: Readonly<Record<string, ProviderConfig>>, environment: Readonly<Record<string, string | undefined>>): Map<string, Provider> {
  const providers = new Map<string, Provider>()
  for (const [name, { variable, ...known }] of Object.entries(BUILT_IN)) {
    const own = configured[name]
    const moved = variable === undefined ? undefined : environment[variable]
    const type = own?.type ?? known.type
    const address = own?.baseURL ?? (moved ? (name === 'ollama' ? ollamaAddress(moved) : moved) : known.baseURL)
    providers.set(name, { ...known, ...own, name, type, baseURL: normalAddress(address, type, known.local !== undefined) })
  }
  for (const [name, own] of Object.entries(configured)) {
    if (providers.has(name)) continue
    const type = own.type ?? 'openai-compatible'
    const usual = Object.values(BUILT_IN).find((known) => known.type === type && known.local === undefined)
    providers.set(name, { ...own, name, type, keys: own.baseURL === undefined ? (usual?.keys ?? []) : [], baseURL: normalAddress(own.baseURL ?? (type === 'openai-compatible' ? '' : (usual?.baseURL ?? '')), type) })
  }
  return providers
}

export const unknownProvider = (name: string, id: string, providers: ReadonlyMap<string, Provider>): ModelError =>
  new ModelError({ kind: 'not-found', message: `There is no provider "${name}" for "${id}". Known are: ${[...providers.keys()].join(', ')}; others go into providers in .agentrc.` })

/** `OLLAMA_HOST` may be a bare host, with or without a port, and 0.0.0.0 for the server's own use. */
function ollamaAddress(value: string): string {
  if (/^\w+:\/\//.test(value)) return value.replace('//0.0.0.0', '//127.0.0.1')
  const [host = '', port = '11434'] = value.replace(/\/.*$/, '').split(':')
  return `http://${host === '' || host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`
}

const VERSION: Readonly<Record<ProviderType, string>> = { anthropic: '/v1', openai: '/v1', 'openai-compatible': '/v1', google: '/v1beta' }
const ENDPOINT = /\/(chat\/completions|completions|responses|messages|models)$/

/** The address as the SDK wants it: no endpoint at its end, and the version where there is no path. */
function normalAddress(address: string, type: ProviderType, local = false): string {
  if (address === '') return ''
  const trimmed = address.replace(/\/+$/, '').replace(ENDPOINT, '')
  let url: URL
  try {
    url = new URL(trimmed)
  } catch {
    return trimmed
  }
  // Some remote compatible servers answer at the root; a local one hardly ever does.
  const add = url.pathname === '/' && (type !== 'openai-compatible' || local || isLoopback(url.hostname))
  return add ? `${trimmed}${VERSION[type]}` : trimmed
}
