import type { ModelLimits } from '../core/ports.ts'
import type { Access } from './access.ts'
import { catalogOf } from './catalog.ts'
import { factsOf, makerOf } from './known.ts'
import { askLocal, type LocalModel } from './local.ts'
import { askServer, listOffers } from './offers.ts'
import { unknownProvider, type Provider } from './providers.ts'
import { isLoopback, type Transport } from './transport.ts'

export interface Listed {
  /** `provider/model`. */
  id: string
  limits: ModelLimits
  /** Whether it takes a reasoning effort; null: not known. */
  effort: boolean | null
  /** Where the figures come from. */
  from: 'config' | 'catalog' | 'server'
  /** There is a key for it, or it needs none. */
  ready: boolean
}

/** Which models there are. */
export interface Directory {
  /** What is known without asking anybody: the catalog and the configuration. */
  list(): Listed[]
  /** What a provider's server says it has. Empty: no answer. */
  ask(provider: string, signal?: AbortSignal): Promise<Listed[]>
  /** The models of local servers that answer: Ollama, LM Studio, llama.cpp. */
  discover(signal?: AbortSignal): Promise<Listed[]>
  /** The model to begin with when none is named: of the first provider with a key, else of a local server that answers. */
  firstUsable(signal?: AbortSignal): Promise<string | undefined>
}

interface DirectoryOptions {
  providers: ReadonlyMap<string, Provider>
  /** The names that the person has configured, in their order. */
  configured: readonly string[]
  transport: Transport
  access: (provider: Provider) => Access
  now: () => number
  offline: boolean
}

/** For the registry beside the rest: what one provider has, by name and with what a local server says of it. */
interface Asking {
  local(provider: Provider, signal?: AbortSignal): Promise<LocalModel[]>
  names(provider: Provider, signal?: AbortSignal): Promise<string[]>
}

/** The usual choice of a maker, for a person who has not chosen. */
const FIRST_CHOICE: Readonly<Record<string, string>> = { anthropic: 'claude-sonnet-5-5', openai: 'gpt-6.2-sol', google: 'gemini-4-argon', openrouter: 'anthropic/claude-sonnet-5.5' }

const LOCAL_MS = 1_000
const REMOTE_MS = 5_000
const NEVER = new AbortController().signal

export function createDirectory({ providers, configured, transport, access, now, offline }: DirectoryOptions): Directory & Asking {
  async function local(provider: Provider, signal = NEVER): Promise<LocalModel[]> {
    if (!provider.local) return []
    const { target, settings } = await access(provider).open('')
    const origin = settings.baseURL.replace(/\/v1$/, '')
    const within = AbortSignal.any([signal, AbortSignal.timeout(LOCAL_MS)])
    return (await askLocal(provider.local, (path, body) => askServer(transport, origin + path, target, settings.headers, within, body))) ?? []
  }

  async function names(provider: Provider, signal = NEVER): Promise<string[]> {
    if (provider.local) return (await local(provider, signal)).map(({ id }) => id)
    const { target, settings } = await access(provider).open('')
    return listOffers(transport, provider.type, settings, target, AbortSignal.any([signal, AbortSignal.timeout(REMOTE_MS)]))
  }

  const isReady = (provider: Provider): boolean => provider.baseURL !== '' && access(provider).isReady()
  const listed = (provider: Provider, model: string, from: Listed['from'], found?: LocalModel): Listed => {
    const { limits, effort } = factsOf(provider, model, now(), found)
    return { id: `${provider.name}/${model}`, limits, effort, from, ready: isReady(provider) }
  }

  async function ask(name: string, signal = NEVER): Promise<Listed[]> {
    const provider = providers.get(name)
    if (!provider) throw unknownProvider(name, name, providers)
    if (provider.local) return (await local(provider, signal)).map((found) => listed(provider, found.id, 'server', found))
    return (await names(provider, signal)).map((model) => listed(provider, model, 'server'))
  }

  async function firstUsable(signal = NEVER): Promise<string | undefined> {
    const all = [...providers.values()].filter(({ baseURL }) => baseURL !== '')
    const own = configured.flatMap((name) => all.filter((provider) => provider.name === name))
    const keyed = [...own, ...all].find((provider) => access(provider).hasKey() && firstOf(provider) !== undefined && (!offline || isLocal(provider)))
    if (keyed) return `${keyed.name}/${firstOf(keyed)}`
    for (const provider of own.filter((each) => isLocal(each) && !each.local)) {
      const model = firstOf(provider) ?? (await names(provider, signal))[0]
      if (model !== undefined) return `${provider.name}/${model}`
    }
    for (const provider of all) {
      const found = await local(provider, signal)
      const model = found.find(({ loaded }) => loaded) ?? found[0]
      if (model) return `${provider.name}/${model.id}`
    }
    return undefined
  }

  return {
    local, names, ask, firstUsable,
    list: () => [...providers.values()].flatMap((provider) => {
      const own = Object.keys(provider.models ?? {})
      const maker = makerOf(provider)
      const known = maker ? catalogOf(maker, now()).map(({ id }) => id).filter((id) => !own.includes(id)) : []
      return [...own.map((model) => listed(provider, model, 'config')), ...known.map((model) => listed(provider, model, 'catalog'))]
    }),
    discover: async (signal = NEVER) => {
      const servers = [...providers.values()].filter((provider) => provider.local !== undefined)
      return (await Promise.all(servers.map((provider) => ask(provider.name, signal)))).flat()
    },
  }
}

const firstOf = (provider: Provider): string | undefined => Object.keys(provider.models ?? {})[0] ?? FIRST_CHOICE[provider.name] ?? (makerOf(provider) ? FIRST_CHOICE[provider.type] : undefined)

const isLocal = ({ baseURL }: Provider): boolean => URL.canParse(baseURL) && isLoopback(new URL(baseURL).hostname)
