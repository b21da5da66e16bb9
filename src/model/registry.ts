import { resolve } from 'node:path'
import { ModelError, type Model, type ModelLimits } from '../core/ports.ts'
import { createAccess, type Access } from './access.ts'
import { anthropic } from './anthropic.ts'
import { catalogOf } from './catalog.ts'
import { compatible } from './compatible.ts'
import { google } from './google.ts'
import { factsOf, makerOf } from './known.ts'
import { askLocal, type LocalModel } from './local.ts'
import { createModel } from './model.ts'
import { askServer, listOffers, nearestNames } from './offers.ts'
import { openai } from './openai.ts'
import type { Protocol, ProviderType } from './protocol.ts'
import { allProviders, type Provider, type ProviderConfig } from './providers.ts'
import { openReplay } from './replay.ts'
import { createTransport, isLoopback, type Fetch } from './transport.ts'

export interface ModelsOptions {
  providers: Readonly<Record<string, ProviderConfig>>
  environment: Readonly<Record<string, string | undefined>>
  /** Runs a command line of the person's own configuration; its output. */
  runCommand: (command: string) => Promise<string>
  blobs: { get: (sha256: string) => Uint8Array | undefined }
  now: () => number
  /** Loopback only. */
  offline?: boolean
  /** In place of Node's own. */
  fetch?: Fetch
  /** No byte of a reply for so long ends it. Five minutes, for models that think in silence. */
  idleMs?: number
  /** Where the file of `replay/<file>` is looked for, and how fast it is played. */
  cwd?: string
  msPerDelta?: number
}

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

export interface Models {
  /** The model of a `provider/model` name. Throws a ModelError that says what is wrong with the name. */
  get(id: string): Promise<Model>
  /** What is known without asking anybody: the catalog and the configuration. */
  list(): Listed[]
  /** What a provider's server says it has. Empty: no answer. */
  ask(provider: string, signal?: AbortSignal): Promise<Listed[]>
  /** The models of local servers that answer: Ollama, LM Studio, llama.cpp. */
  discover(signal?: AbortSignal): Promise<Listed[]>
  /** The model to begin with when none is named: of the first provider with a key, else of a local server that answers. */
  firstUsable(signal?: AbortSignal): Promise<string | undefined>
}

const PROTOCOLS: Readonly<Record<ProviderType, Protocol>> = { anthropic, openai, google, 'openai-compatible': compatible }

/** The usual choice of a maker, for a person who has not chosen. */
const FIRST_CHOICE: Readonly<Record<string, string>> = { anthropic: 'claude-sonnet-5-5', openai: 'gpt-6.2-sol', google: 'gemini-4-argon', openrouter: 'anthropic/claude-sonnet-5.5' }

const LOCAL_MS = 1_000
const REMOTE_MS = 5_000

/** Every model that a person can name. Nothing is loaded or asked before it is used. */
export function createModels(options: ModelsOptions): Models {
  const { environment, now, idleMs = 300_000 } = options
  const providers = allProviders(options.providers, environment)
  const transport = createTransport({ environment, offline: options.offline ?? false, fetch: options.fetch, idleMs })
  const issued = new Set<string>()
  const commands = remember(options.runCommand)
  const accessTo = (provider: Provider): Access => createAccess(provider, { environment, runCommand: commands.run })
  const isReady = (provider: Provider): boolean => provider.baseURL !== '' && accessTo(provider).isReady()

  async function localModels(provider: Provider, signal: AbortSignal): Promise<LocalModel[]> {
    if (!provider.local) return []
    const origin = provider.baseURL.replace(/\/v1$/, '')
    const { target, settings } = await accessTo(provider).open('')
    const within = AbortSignal.any([signal, AbortSignal.timeout(LOCAL_MS)])
    return (await askLocal(provider.local, (path, body) => askServer(transport, origin + path, target, settings.headers, within, body))) ?? []
  }

  async function offers(provider: Provider, signal: AbortSignal): Promise<string[]> {
    const { target, settings } = await accessTo(provider).open('')
    return listOffers(transport, provider.type, settings, target, AbortSignal.any([signal, AbortSignal.timeout(REMOTE_MS)]))
  }

  const toListed = (provider: Provider, model: string, from: Listed['from'], local?: LocalModel): Listed => {
    const { limits, effort } = factsOf(provider, model, now(), local)
    return { id: `${provider.name}/${model}`, limits, effort, from, ready: isReady(provider) }
  }

  const models: Models = {
    async get(id) {
      if (id.startsWith('replay/')) return openReplay(id, resolve(options.cwd ?? process.cwd(), id.slice('replay/'.length)), { msPerDelta: options.msPerDelta })
      const { provider, model } = split(id, providers)
      const local = provider.local ? (await localModels(provider, NEVER)).find((found) => found.id === model) : undefined
      const facts = factsOf(provider, model, now(), local)
      const protocol = PROTOCOLS[provider.type]
      return createModel({
        id, facts, protocol, transport, issued, now,
        limits: facts.limits,
        by: protocol.bound ? `${provider.type}:${provider.name}:${model}` : `${provider.type}:${provider.name}`,
        idleMs,
        blob: (sha256) => options.blobs.get(sha256),
        access: () => accessTo(provider).open(model),
        explain: (error, signal) => {
          if (error.fault.kind === 'auth') commands.forget()
          return explain(error, model, () => (provider.local ? localModels(provider, signal).then((found) => found.map((each) => each.id)) : offers(provider, signal)))
        },
      })
    },
    list() {
      return [...providers.values()].flatMap((provider) => {
        const configured = Object.keys(provider.models ?? {})
        const maker = makerOf(provider)
        const known = maker ? catalogOf(maker, now()).map((entry) => entry.id).filter((id) => !configured.includes(id)) : []
        return [...configured.map((model) => toListed(provider, model, 'config')), ...known.map((model) => toListed(provider, model, 'catalog'))]
      })
    },
    async ask(name, signal = NEVER) {
      const provider = providers.get(name)
      if (!provider) throw unknownProvider(name, name, providers)
      if (provider.local) return (await localModels(provider, signal)).map((local) => toListed(provider, local.id, 'server', local))
      return (await offers(provider, signal)).map((model) => toListed(provider, model, 'server'))
    },
    async discover(signal = NEVER) {
      const local = [...providers.values()].filter((provider) => provider.local !== undefined)
      return (await Promise.all(local.map((provider) => models.ask(provider.name, signal)))).flat()
    },
    async firstUsable(signal = NEVER) {
      const all = [...providers.values()]
      const own = all.filter(({ name }) => options.providers[name] !== undefined)
      const withKey = [...own, ...all].find((provider) => isReady(provider) && accessTo(provider).hasKey() && (firstOf(provider) ?? '') !== '' && !(options.offline && !isLocal(provider)))
      if (withKey) return `${withKey.name}/${firstOf(withKey)}`
      for (const provider of own.filter(isLocal)) {
        const model = firstOf(provider) ?? (await models.ask(provider.name, signal)).at(0)?.id.slice(provider.name.length + 1)
        if (model) return `${provider.name}/${model}`
      }
      for (const provider of all.filter((each) => each.local)) {
        const found = await localModels(provider, signal)
        const model = found.find(({ loaded }) => loaded) ?? found[0]
        if (model) return `${provider.name}/${model.id}`
      }
      return undefined
    },
  }
  return models
}

/** A command that prints a key may ask the person for something: once is enough, until its key is refused. */
function remember(run: ModelsOptions['runCommand']): { run: ModelsOptions['runCommand']; forget(): void } {
  const printed = new Map<string, Promise<string>>()
  return {
    run: (command) => {
      const known = printed.get(command) ?? run(command)
      printed.set(command, known)
      known.catch(() => printed.delete(command))
      return known
    },
    forget: () => printed.clear(),
  }
}

const NEVER = new AbortController().signal

const firstOf = (provider: Provider): string | undefined => Object.keys(provider.models ?? {})[0] ?? FIRST_CHOICE[provider.name] ?? (provider.baseURL !== '' && makerOf(provider) ? FIRST_CHOICE[provider.type] : undefined)

const isLocal = ({ baseURL }: Provider): boolean => URL.canParse(baseURL) && isLoopback(new URL(baseURL).hostname)

function split(id: string, providers: ReadonlyMap<string, Provider>): { provider: Provider; model: string } {
  const slash = id.indexOf('/')
  const name = id.slice(0, slash)
  if (slash < 1 || slash === id.length - 1) throw new ModelError({ kind: 'not-found', message: `"${id}" is not a model name. Expected provider/model, with one of these providers: ${[...providers.keys()].join(', ')}.` })
  const provider = providers.get(name)
  if (!provider) throw unknownProvider(name, id, providers)
  if (!URL.canParse(provider.baseURL)) throw new ModelError({ kind: 'bad-request', message: `providers.${provider.name}.baseURL is ${provider.baseURL === '' ? 'missing' : `"${provider.baseURL}"`}. Expected an address like http://127.0.0.1:8080/v1.` })
  return { provider, model: id.slice(slash + 1) }
}

const unknownProvider = (name: string, id: string, providers: ReadonlyMap<string, Provider>): ModelError =>
  new ModelError({ kind: 'not-found', message: `There is no provider "${name}" for "${id}". Known are: ${[...providers.keys()].join(', ')}; others go into providers in .agentrc.` })

/** A model that is not there: the error names those that are. */
async function explain(error: ModelError, model: string, offers: () => Promise<string[]>): Promise<ModelError> {
  if (error.fault.kind !== 'not-found') return error
  const names = await offers().catch(() => [])
  if (names.length === 0) return new ModelError({ ...error.fault, message: `${error.fault.message} Check the model's name and baseURL.` }, { cause: error })
  const near = nearestNames(model, names, 6)
  const more = names.length > near.length ? ` and ${names.length - near.length} more` : ''
  return new ModelError({ ...error.fault, message: `${error.fault.message} It offers: ${near.join(', ')}${more}. Choose one with /model or --model.` }, { cause: error })
}
