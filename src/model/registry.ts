import { ModelError, type Model, type ModelLimits } from '../core/ports.ts'
import { anthropic } from './anthropic.ts'
import { compatible } from './compatible.ts'
import type { Target } from './exchange.ts'
import { google } from './google.ts'
import { findKey } from './keys.ts'
import { createModel } from './model.ts'
import { openai } from './openai.ts'
import type { ModelFacts, Protocol, ProviderType, Settings } from './protocol.ts'
import { allProviders, type Provider, type ProviderConfig } from './providers.ts'
import { createTransport, isLoopback, type Fetch } from './transport.ts'

export interface ModelsOptions {
  providers: Readonly<Record<string, ProviderConfig>>
  environment: Readonly<Record<string, string | undefined>>
  /** Runs a command line of the person's own configuration; its output. */
  runCommand: (command: string) => Promise<string>
  blobs: { get(sha256: string): Uint8Array | undefined }
  now: () => number
  /** Loopback only. */
  offline?: boolean
  /** In place of Node's own. */
  fetch?: Fetch
  /** No byte of a reply for so long ends it. Five minutes, for models that think in silence. */
  idleMs?: number
}

export interface Models {
  /** The model of a `provider/model` name. Throws a ModelError that says what is wrong with the name. */
  get(id: string): Promise<Model>
}

const PROTOCOLS: Readonly<Record<ProviderType, Protocol>> = { anthropic, openai, google, 'openai-compatible': compatible }

/** Every model that a person can name. Nothing is loaded or asked before it is used. */
export function createModels(options: ModelsOptions): Models {
  const { environment, now, blobs } = options
  const providers = allProviders(options.providers, environment)
  const transport = createTransport({ environment, offline: options.offline ?? false, fetch: options.fetch })
  const issued = new Set<string>()

  return {
    async get(id) {
      const { provider, model } = split(id, providers)
      const protocol = PROTOCOLS[provider.type]
      const limits: ModelLimits = { contextWindow: null, maxOutput: null, images: false, price: null, guessed: false }
      const host = new URL(provider.baseURL).host
      const facts: ModelFacts = { provider: provider.name, model, host, limits, effort: null }
      return createModel({
        id, limits, facts, protocol, transport, issued, now,
        by: `${provider.type}:${provider.name}`,
        idleMs: options.idleMs ?? 300_000,
        blob: (sha256) => blobs.get(sha256),
        access: () => access(provider, model, host, options),
      })
    },
  }
}

function split(id: string, providers: ReadonlyMap<string, Provider>): { provider: Provider; model: string } {
  const slash = id.indexOf('/')
  const provider = providers.get(id.slice(0, slash))
  const names = [...providers.keys()].join(', ')
  if (slash < 1 || slash === id.length - 1) throw new ModelError({ kind: 'not-found', message: `"${id}" is not a model name. Expected provider/model, with a provider of: ${names}.` })
  if (!provider) throw new ModelError({ kind: 'not-found', message: `There is no provider "${id.slice(0, slash)}" for the model "${id}". Known are: ${names}; others go into providers in .agentrc.` })
  if (!URL.canParse(provider.baseURL)) throw new ModelError({ kind: 'bad-request', message: `providers.${provider.name}.baseURL is ${provider.baseURL === '' ? 'missing' : `"${provider.baseURL}"`}. Expected an address like http://127.0.0.1:8080/v1.` })
  return { provider, model: id.slice(slash + 1) }
}

async function access(provider: Provider, model: string, host: string, options: ModelsOptions): Promise<{ settings: Omit<Settings, 'fetch'>; target: Target }> {
  const key = await findKey(provider.name, provider, provider.keys, options)
  const headers = Object.fromEntries(Object.entries(provider.headers ?? {}).map(([name, value]) => [name, value.replace(/^\$(\w+)$/, (whole, variable: string) => options.environment[variable] ?? whole)]))
  const target: Target = {
    provider: provider.name, model, host, keyHint: key.hint,
    secrets: [...(key.value === undefined ? [] : [key.value]), ...Object.values(headers).filter((value) => value.length >= 12)],
  }
  if (key.value === undefined && !isLoopback(new URL(provider.baseURL).hostname) && !hasOwnAuth(headers)) {
    throw new ModelError({ kind: 'auth', message: `No key for ${provider.name} (${host}). ${key.hint}` })
  }
  return { settings: { name: provider.name, model, baseURL: provider.baseURL, key: key.value, headers }, target }
}

const hasOwnAuth = (headers: Record<string, string>): boolean => Object.keys(headers).some((name) => /^(authorization|x-api-key|api-key|x-goog-api-key)$/i.test(name))

