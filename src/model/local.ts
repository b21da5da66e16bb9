import type { ModelLimits } from '../core/ports.ts'
import type { Provider } from './providers.ts'
import { isObject } from './server-error.ts'

/** What a server on this machine says of one of its models. */
export interface LocalModel {
  id: string
  limits: ModelLimits
  effort: boolean
  /** In memory already: it answers at once. */
  loaded: boolean
}

/** Asks one address of the server; undefined: it is not there or says nothing of use. */
export type Ask = (path: string, body?: object) => Promise<unknown>

/** The models of a local server with their real limits, as far as it tells. Undefined: it does not answer. */
export async function askLocal(kind: NonNullable<Provider['local']>, ask: Ask): Promise<LocalModel[] | undefined> {
  switch (kind) {
    case 'ollama': return askOllama(ask)
    case 'lmstudio': return askLmStudio(ask)
    case 'llamacpp': return askLlamaCpp(ask)
  }
}

/** Loaded models run in the window they were loaded with. Of others only their largest one is known, which is a guess. */
async function askOllama(ask: Ask): Promise<LocalModel[] | undefined> {
  const tags = rows(await ask('/api/tags'), 'models')
  if (!tags) return undefined
  const running = rows(await ask('/api/ps'), 'models') ?? []
  return Promise.all(
    tags.map(async (tag) => {
      const id = text(tag['model'] ?? tag['name'])
      const shown = object(await ask('/api/show', { model: id }))
      const inUse = running.find((model) => text(model['model'] ?? model['name']) === id)
      const largest = Object.entries(object(shown['model_info'])).find(([key]) => key.endsWith('.context_length'))?.[1]
      const set = Number(/^num_ctx\s+(\d+)/m.exec(text(shown['parameters']))?.[1])
      const can = Array.isArray(shown['capabilities']) ? shown['capabilities'] : []
      const known = count(inUse?.['context_length']) ?? count(set)
      return { id, loaded: inUse !== undefined, effort: can.includes('thinking'), limits: limits(known ?? count(largest), can.includes('vision'), known === null, !id.endsWith('-cloud')) }
    }),
  )
}

async function askLmStudio(ask: Ask): Promise<LocalModel[] | undefined> {
  const models = rows(await ask('/api/v0/models'), 'data')
  return models
    ?.filter((model) => model['type'] !== 'embeddings')
    .map((model) => {
      const known = count(model['loaded_context_length'])
      return { id: text(model['id']), loaded: model['state'] === 'loaded', effort: false, limits: limits(known ?? count(model['max_context_length']), model['type'] === 'vlm', known === null) }
    })
}

async function askLlamaCpp(ask: Ask): Promise<LocalModel[] | undefined> {
  const props = await ask('/props')
  const listed = rows(await ask('/v1/models'), 'data')
  if (!listed) return undefined
  const window = count(object(object(props)['default_generation_settings'])['n_ctx'])
  const vision = object(object(props)['modalities'])['vision'] === true
  return listed.map((model) => ({ id: text(model['id']), loaded: true, effort: false, limits: limits(window, vision, false) }))
}

/** What runs on this machine costs nothing. */
const limits = (contextWindow: number | null, images: boolean, guessed: boolean, free = true): ModelLimits => ({
  contextWindow, maxOutput: null, images, guessed: guessed && contextWindow !== null,
  price: free ? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } : null,
})

const rows = (answer: unknown, key: string): Record<string, unknown>[] | undefined => {
  const found = object(answer)[key]
  return Array.isArray(found) ? found.filter(isObject) : undefined
}
const object = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {})
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const count = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null)
