import { resolve } from 'node:path'
import { ModelError, type Model } from '../core/ports.ts'
import { createAccess } from './access.ts'
import { anthropic } from './anthropic.ts'
import { compatible } from './compatible.ts'
import { createDirectory, type Directory } from './directory.ts'
import { google } from './google.ts'
import { factsOf } from './known.ts'
import { createModel } from './model.ts'
import { nearestNames } from './offers.ts'
import { openai } from './openai.ts'
import type { Protocol, ProviderType } from './protocol.ts'
import { allProviders, unknownProvider, type Provider, type ProviderConfig } from './providers.ts'
import { openedModels } from './opened.ts'
import { openReplay } from './replay.ts'
import { createTransport, isLoopback, offlineFault, proxyFor, type Fetch } from './transport.ts'

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

export interface Models extends Directory {
  /** The model of a `provider/model` name. Throws a ModelError that says what is wrong with the name. */
  get(id: string): Promise<Model>
  /** Throws a ModelError where the name is wrong, its key is missing, or it is out of reach offline. Asks no server. */
  mustBeUsable(id: string): Promise<void>
  /** Loads what a first request to this model needs. Asks neither for a key nor any server. */
  warm(id: string): Promise<void>
}

const PROTOCOLS: Readonly<Record<ProviderType, Protocol>> = { anthropic, openai, google, 'openai-compatible': compatible }

/** Every model that a person can name. Nothing is loaded or asked before it is used. */
export function createModels(options: ModelsOptions): Models {
  const { environment, now, offline = false, idleMs = 300_000 } = options
  const providers = allProviders(options.providers, environment)
  const idleOf = ({ idleSeconds }: Provider): number => (idleSeconds === undefined ? idleMs : idleSeconds * 1_000)
  const transport = createTransport({ environment, offline, fetch: options.fetch, idleMs: Math.max(idleMs, ...[...providers.values()].map(idleOf)) })
  const commands = remember(options.runCommand)
  const access = (provider: Provider) => createAccess(provider, { environment, runCommand: commands.run })
  const directory = createDirectory({ providers, configured: Object.keys(options.providers), transport, access, now, offline })
  const issued = new Set<string>()
  const opened = openedModels()

  const replay = (id: string): Promise<Model> => openReplay(id, resolve(options.cwd ?? process.cwd(), id.slice('replay/'.length)), { msPerDelta: options.msPerDelta })

  return {
    ...directory,
    async warm(id) {
      if (id.startsWith('replay/')) return
      const { provider: { type, baseURL }, model } = split(id, providers)
      await PROTOCOLS[type].open({ model, baseURL, key: 'unused', headers: {}, fetch: globalThis.fetch })
      // Node loads its HTTP client when somebody asks for a part of it.
      void globalThis.Response
    },
    async mustBeUsable(id) {
      if (id.startsWith('replay/')) return void (await replay(id))
      const { provider, model } = split(id, providers)
      const url = new URL(provider.baseURL)
      if (offline && !isLoopback(url.hostname)) throw new ModelError(offlineFault(url))
      const proxy = proxyFor(url, environment)
      if (proxy && 'unsupported' in proxy) throw new ModelError({ kind: 'bad-request', message: proxy.unsupported })
      // Opening it says which key is missing, and where it belongs.
      if (!access(provider).isReady()) await access(provider).open(model)
    },
    async get(id) {
      if (id.startsWith('replay/')) return replay(id)
      const { provider, model } = split(id, providers)
      const local = (await directory.local(provider)).find((found) => found.id === model)
      const facts = factsOf(provider, model, now(), local)
      const protocol = PROTOCOLS[provider.type]
      return createModel({
        id, facts, protocol, transport, opened, issued, now, idleMs: idleOf(provider),
        limits: facts.limits,
        by: protocol.bound ? `${provider.type}:${provider.name}:${model}` : `${provider.type}:${provider.name}`,
        blob: (sha256) => options.blobs.get(sha256),
        access: () => access(provider).open(model),
        explain: (error, signal) => {
          if (error.fault.kind === 'auth') commands.forget()
          return explain(error, model, () => directory.names(provider, signal))
        },
      })
    },
  }
}

function split(id: string, providers: ReadonlyMap<string, Provider>): { provider: Provider; model: string } {
  const slash = id.indexOf('/')
  if (slash < 1 || slash === id.length - 1) throw new ModelError({ kind: 'not-found', message: `"${id}" is not a model name. Expected provider/model, with one of these providers: ${[...providers.keys()].join(', ')}.` })
  const provider = providers.get(id.slice(0, slash))
  if (!provider) throw unknownProvider(id.slice(0, slash), id, providers)
  if (!URL.canParse(provider.baseURL)) throw new ModelError({ kind: 'bad-request', message: `providers.${provider.name}.baseURL is ${provider.baseURL === '' ? 'missing' : `"${provider.baseURL}"`}. Expected an address like http://127.0.0.1:8080/v1.` })
  return { provider, model: id.slice(slash + 1) }
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

/** A model that is not there: the error names those that are. */
async function explain(error: ModelError, model: string, offers: () => Promise<string[]>): Promise<ModelError> {
  if (error.fault.kind !== 'not-found') return error
  const names = await offers().catch(() => [])
  if (names.length === 0) return new ModelError({ ...error.fault, message: `${error.fault.message} Check the model's name and baseURL.` })
  const near = nearestNames(model, names, 6)
  const more = names.length > near.length ? ` and ${names.length - near.length} more` : ''
  return new ModelError({ ...error.fault, message: `${error.fault.message} It offers: ${near.join(', ')}${more}. Choose one with /model or --model.` })
}
