import { AsyncLocalStorage } from 'node:async_hooks'
import type { Protocol, Settings } from './protocol.ts'
import type { Fetch } from './transport.ts'

type Opened = Awaited<ReturnType<Protocol['open']>>

/** The packages' own models. */
export interface OpenedModels {
  /** The package's model with these settings: made once, since to make one takes it milliseconds on each turn. */
  get(protocol: Protocol, settings: Omit<Settings, 'fetch'>): Promise<Opened>
  /** What is asked of such a model in `act` goes out by this fetch. */
  by<T>(fetch: Fetch, act: () => T): T
}

export function openedModels(): OpenedModels {
  const current = new AsyncLocalStorage<Fetch>()
  const kept = new Map<string, { settings: string; opened: Promise<Opened> }>()
  const fetch: Fetch = (input, init) => {
    const own = current.getStore()
    if (!own) throw new Error('a package sent a request that nobody asked it for')
    return own(input, init)
  }
  return {
    get(protocol, settings) {
      const [name, said] = [`${protocol.package} ${settings.model}`, JSON.stringify(settings)]
      const known = kept.get(name)
      if (known?.settings === said) return known.opened
      const opened = protocol.open({ ...settings, fetch })
      kept.set(name, { settings: said, opened })
      opened.catch(() => kept.delete(name))
      return opened
    },
    by: (own, act) => current.run(own, act),
  }
}
