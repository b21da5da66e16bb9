import { fault } from './fault.ts'
import type { Target } from './exchange.ts'
import { ModelError } from '../core/ports.ts'
import type { Fault } from '../core/record.ts'

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>

export interface TransportOptions {
  environment: Readonly<Record<string, string | undefined>>
  /** Loopback only. */
  offline: boolean
  /** In place of Node's own: for tests and for those who embed Tiller. */
  fetch?: Fetch | undefined
  /** How long a reply may be silent. Node's own fetch gives up after five minutes. */
  idleMs?: number
}

export interface Transport {
  /** Sends; what fails before the answer's headers is one ModelError that names the address. */
  send(url: URL, init: RequestInit, target: Target): Promise<Response>
}

/** Node's fetch, through a proxy where the environment names one, and only to this machine when offline. */
export function createTransport({ environment, offline, fetch, idleMs = NODE_GIVES_UP }: TransportOptions): Transport {
  const opened = new Map<string, Promise<Fetch>>()
  const through = (proxy: URL | undefined): Promise<Fetch> => {
    const key = proxy?.href ?? ''
    const ready = opened.get(key) ?? openUndici(proxy)
    opened.set(key, ready)
    return ready
  }
  return {
    async send(url, init, target) {
      if (offline && !isLoopback(url.hostname)) throw new ModelError(offlineFault(url))
      const proxy = proxyFor(url, environment)
      if (proxy && 'unsupported' in proxy) throw new ModelError({ kind: 'bad-request', message: proxy.unsupported })
      const send = fetch ?? (proxy || idleMs > NODE_GIVES_UP ? await through(proxy?.proxy) : globalThis.fetch)
      try {
        return await send(url, init)
      } catch (error) {
        if (error instanceof ModelError || init.signal?.aborted) throw error
        throw new ModelError(fault.unreachable(error, url, target, proxy?.proxy))
      }
    },
  }
}

const NODE_GIVES_UP = 300_000

/** Trying again would not help. */
export const offlineFault = (url: URL): Fault => ({ kind: 'bad-request', message: `Offline: ${url.host} is not on this machine. Start without --offline, or use a local model.` })

export function isLoopback(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name) || name === '0.0.0.0'
}

type Proxy = { proxy: URL } | { unsupported: string } | undefined

/** The proxy for an address: `https_proxy`, `http_proxy`, `all_proxy` in either case, less what `no_proxy` names. */
export function proxyFor(url: URL, environment: Readonly<Record<string, string | undefined>>): Proxy {
  const read = (name: string): string | undefined => environment[name] || environment[name.toUpperCase()] || undefined
  const value = read(url.protocol === 'https:' ? 'https_proxy' : 'http_proxy') ?? read('all_proxy')
  if (value === undefined || isLoopback(url.hostname) || isExempt(url, read('no_proxy') ?? '')) return undefined
  let proxy: URL
  try {
    proxy = new URL(value.includes('://') ? value : `http://${value}`)
  } catch {
    return { unsupported: `The proxy address in the environment is not a URL. Expected http://host:port in HTTPS_PROXY.` }
  }
  if (proxy.protocol === 'http:' || proxy.protocol === 'https:') return { proxy }
  return { unsupported: `The proxy ${proxy.protocol}//${proxy.host} is of a kind that Tiller cannot use. Set HTTPS_PROXY to an http:// or https:// proxy, or add ${url.hostname} to NO_PROXY.` }
}

/** `NO_PROXY`: hosts, domains (`.test`, `*.test`, `test`), each with or without a port; `*` is everything. */
function isExempt(url: URL, list: string): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return list.split(/[\s,]+/).filter(Boolean).some((entry) => {
    if (entry === '*') return true
    const [, name = '', wanted] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? []
    if (wanted !== undefined && wanted !== port) return false
    const domain = name.toLowerCase().replace(/^\*?\./, '')
    return domain !== '' && (url.hostname === domain || url.hostname.endsWith(`.${domain}`))
  })
}

/** undici is loaded only where it is needed: it costs start-up time. Its own timeouts are off, the watchdog has them. */
async function openUndici(proxy: URL | undefined): Promise<Fetch> {
  // Its exports have no names in a bundle, only in Node's own import.
  const { Agent, ProxyAgent, fetch } = (await import('undici')).default
  const timeouts = { headersTimeout: 0, bodyTimeout: 0 }
  const dispatcher = proxy ? new ProxyAgent({ uri: proxy.href, ...timeouts }) : new Agent(timeouts)
  return (input, init) => fetch(input, { ...(init as object), dispatcher }) as Promise<unknown> as Promise<Response>
}
