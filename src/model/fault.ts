import { sanitize } from '../core/sanitize.ts'
import type { Fault, FaultKind } from '../core/record.ts'
import type { Target } from './exchange.ts'
import { readServerError, type ServerError } from './server-error.ts'

/** Every way in which a request fails, as one kind to decide by and one sentence to read. */
export const fault = { refused, inStream, unreachable, idle, broken, cut, empty, garbage, unsendable, filtered, stopped }

interface Answer {
  status: number
  headers: Headers
  body: string
  now: number
}

/** The server answered with an error status. */
function refused({ status, headers, body, now }: Answer, target: Target): Fault {
  if (status < 400) return { kind: 'bad-request', status, message: clean(`${name(target)} sends on to ${headers.get('location') ?? 'another address'} (${status}), where the key must not follow unasked. Set baseURL to the right address.`, target) }
  const said = readServerError(body)
  const kind = kindOf(status, said)
  return build(kind, said, target, status, retryAfter(headers, now) ?? said.retryAfterMs ?? waitInText(said.message))
}

/** An error that came in the stream, after a good status. */
function inStream(error: unknown, target: Target): Fault {
  const said = readServerError(error)
  const kind = kindOf(said.status ?? 0, said)
  return build(kind, said, target, said.status, said.retryAfterMs ?? waitInText(said.message))
}

/** No answer at all. */
function unreachable(error: unknown, url: URL, target: Target, proxy?: URL): Fault {
  const causes = chain(error)
  const code = causes.map((cause) => (cause as { code?: unknown }).code).find((value): value is string => typeof value === 'string') ?? ''
  if (SILENCE.test(code)) return idle(target, 300_000)
  const where = proxy ? `${url.host} through the proxy ${proxy.host}` : url.host
  const why = NETWORK[code] ?? (code.startsWith('HPE_') || causes.some((cause) => cause.name === 'HTTPParserError') ? 'it does not speak HTTP. Check baseURL' : undefined) ?? (/certificate|self.signed|CERT_|TLS|SSL/i.test(`${code} ${causes.at(-1)?.message}`) ? `its TLS certificate was not accepted (${code || causes.at(-1)?.message}). Set NODE_EXTRA_CA_CERTS if a company proxy signs it` : undefined)
  const plain = causes.at(-1)?.message ?? 'unknown cause'
  return { kind: 'network', message: clean(`${target.provider} cannot be reached at ${where}: ${why ?? plain}.`, target) }
}

const NETWORK: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED). Start the server, or check baseURL',
  ENOTFOUND: 'the host name is not known (ENOTFOUND). Check baseURL and the network',
  EAI_AGAIN: 'the name server does not answer (EAI_AGAIN). Check the network',
  ECONNRESET: 'the connection was reset (ECONNRESET)',
  EPIPE: 'the connection was closed while sending (EPIPE)',
  ETIMEDOUT: 'the connection timed out (ETIMEDOUT). Check the network, or set HTTPS_PROXY',
  EHOSTUNREACH: 'there is no route to the host (EHOSTUNREACH). Check the network',
  ENETUNREACH: 'there is no network (ENETUNREACH)',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out. Check the network, or set HTTPS_PROXY',
  UND_ERR_SOCKET: 'the connection was closed',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS. Use http:// in baseURL, or check the port',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS. Use http:// in baseURL, or check the port',
}

function idle(target: Target, ms: number): Fault {
  return { kind: 'idle', message: `${name(target)} sent nothing for ${duration(ms)}. It may be stuck: try again, choose another model with /model, or let it take longer with providers.${target.provider}.idleSeconds.` }
}

/** The connection broke in the middle of the reply. Node's own limit on silence is one of the ways. */
function broken(error: unknown, target: Target, noise: string): Fault {
  return chain(error).some((cause) => SILENCE.test(String((cause as { code?: unknown }).code))) ? idle(target, 300_000) : cut(target, noise)
}

const SILENCE = /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/

/** The stream ended before the reply did. */
function cut(target: Target, noise: string): Fault {
  if (noise.trim() !== '') {
    const said = readServerError(noise)
    const kind = kindOf(said.status ?? 0, said)
    return build(kind === 'bad-request' ? 'server' : kind, said, target, said.status, said.retryAfterMs)
  }
  return { kind: 'network', message: `The connection to ${name(target)} ended in the middle of the reply.` }
}

/** The package could not even write the request. */
function unsendable(why: string, target: Target): Fault {
  return { kind: 'bad-request', message: clean(`The request to ${name(target)} could not be written: ${shorten(why)}.`, target) }
}

/** The provider's filter stopped the reply before it said anything. */
function filtered(reason: string, said: string, target: Target): Fault {
  return build('filter', { message: said === '' || said === reason ? reason : `${said} (${reason})`, words: '' }, target)
}

/** The provider itself says that the reply came to nothing. */
function stopped(reason: string, said: string, target: Target): Fault {
  const kind = /insufficient|unavailable|overload/i.test(reason) ? 'overload' : /network|server|abort|cancel|timeout|^error$/i.test(reason) ? 'server' : 'garbage'
  return { kind, message: clean(`${name(target)} stopped with ${reason}${said === '' ? '' : `: ${shorten(said)}`}.`, target) }
}

function empty(target: Target): Fault {
  return { kind: 'garbage', message: `${name(target)} answered with nothing: no text, no call and no reason to stop. If it goes on, check that the address speaks this protocol.` }
}

function garbage(what: string, target: Target): Fault {
  return { kind: 'garbage', message: clean(`${name(target)} answered with something that is not this protocol: ${shorten(what)}. Check baseURL and type of the provider.`, target) }
}

function kindOf(status: number, said: ServerError): FaultKind {
  const text = `${said.words} ${said.message}`.toLowerCase()
  if (status !== 429 && OVERFLOW.test(text)) return 'overflow'
  if (/content_filter|content_policy|responsibleai|content management policy|prohibited_content|blocked by (the )?safety/.test(text)) return 'filter'
  if (/insufficient_quota|billing_error|billing_hard_limit|credit balance|insufficient (balance|credits|funds)|out of credits|perday|per_day/.test(text)) return 'quota'
  if (/invalid.{0,3}api.?key|api_key_invalid|api key not valid|incorrect api key|authentication_error|unauthenticated|permission_error|permission_denied/.test(text)) return 'auth'
  if (/overloaded|server_is_overloaded|engine is currently|unavailable|at capacity/.test(text) && (status === 0 || status >= 500 || status === 429)) return status === 429 ? 'rate-limit' : 'overload'
  if (/model_not_found|not_found_error|unknown model|no such model|model.{0,80}(not found|does not exist|is not a valid model|not supported)|not a valid model/.test(text) && status !== 429) return 'not-found'
  if (/rate.?limit|too many requests|resource_exhausted|throttl/.test(text)) return 'rate-limit'
  return byStatus(status, text)
}

function byStatus(status: number, text: string): FaultKind {
  switch (status) {
    case 401: case 403: return 'auth'
    case 402: return 'quota'
    case 404: return 'not-found'
    case 413: return 'overflow'
    case 429: return 'rate-limit'
    case 503: case 529: return 'overload'
    case 408: return 'server'
  }
  if (status >= 500) return 'server'
  if (status >= 400) return 'bad-request'
  // In a stream there is no status: only what names the request is the request's fault.
  return /invalid_request|invalid_argument|bad.?request/.test(text) ? 'bad-request' : 'server'
}

/** Public wordings of "this does not fit", by providers and local servers. */
const OVERFLOW = new RegExp(
  [
    'context_length_exceeded', 'exceed_context_size', 'request_too_large', 'string_above_max_length', 'context_window_exceeded', 'model_max_prompt_tokens_exceeded',
    'maximum context length', 'max(imum)? (prompt|input) length', 'prompt is too long', 'prompt too long', 'input is too long', 'input length and', 'too many (input )?tokens', 'too large for (the )?(model|context)',
    'exceed\\w* (the )?(\\w+ )?(\\w+\'s )?(context|n_ctx|maximum number of tokens|max_model_len|token limit|input token)', 'larger than (the )?(max(imum)? )?context', 'greater than the context',
    'context (window|size|length|limit)\\b.{0,60}(exceed|too (long|large|small)|overflow|full|of only|not enough)', 'n_ctx', 'token count.{0,40}exceed', 'reduce the length of', 'longer than the (model|context)', 'overflows? the context',
  ].join('|'),
)

function build(kind: FaultKind, said: ServerError, target: Target, status?: number, retryAfterMs?: number): Fault {
  const window = kind === 'overflow' ? (said.contextWindow ?? windowInText(said.message)) : undefined
  return {
    kind,
    message: clean(sentence(kind, shorten(said.message), target, status, retryAfterMs), target),
    ...(status === undefined || status === 0 ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(window === undefined ? {} : { contextWindow: window }),
  }
}

function sentence(kind: FaultKind, said: string, target: Target, status: number | undefined, retryAfterMs: number | undefined): string {
  const where = name(target)
  const number = status ? ` (${status})` : ''
  const why = said === '' ? `${number}, and said nothing more` : `${number}: ${said}`
  const end = /[.!?]$/.test(why) ? '' : '.'
  switch (kind) {
    case 'auth': return `${where} refused ${status === 403 ? 'access' : 'the key'}${why}${end} ${target.keyHint}`
    case 'not-found': return `${where} has no such model or address${why}${end}`
    case 'rate-limit': return `${where} limits the rate${why}${end}${retryAfterMs === undefined ? '' : ` It asks to wait ${duration(retryAfterMs)}.`}`
    case 'quota': return `The account at ${target.host} has no quota left${why}${end} Check its plan and billing, or choose another model with /model.`
    case 'overload': return `${where} is overloaded${why}${end}`
    case 'server': return `${where} failed${why}${end}`
    case 'overflow': return `The request does not fit into the context window of ${where}${why}${end}`
    case 'filter': return `The content filter of ${where} refused the request${why}${end} Word it differently, or choose another model with /model.`
    case 'bad-request': return `${where} did not accept the request${why}${end}`
    case 'network': case 'idle': case 'garbage': return `${where} failed${why}${end}`
  }
}

/** The first number that a server names as its limit. */
function windowInText(text: string): number | undefined {
  const plain = text.replace(/(\d)[,_](?=\d{3})/g, '$1')
  for (const pattern of WINDOW) {
    const found = Number(pattern.exec(plain)?.[1])
    if (found >= 256) return found
  }
  const numbers = [...plain.matchAll(/\d{4,}/g)].map((match) => Number(match[0]))
  return numbers.length === 1 || numbers.length === 2 ? Math.min(...numbers) : undefined
}

const WINDOW = [
  /> ?(\d{3,})/,
  /(?:maximum|max|available|limited|only) ?(?:model )?(?:context|prompt|input|sequence)[\w ]*?(?:is|of|size|to|:|=)? ?\(?(\d{3,})/i,
  /(?:context|n_ctx|window|limit)[\w' ]*?(?:is|of only|of|size|:|=|\()+ ?(\d{3,})/i,
  /(?:allowed|maximum|max|limit) ?\((\d{3,})/i,
  /n_ctx\D{0,4}(\d{3,})/i,
  /(\d{3,})[- ]tokens? (?:limit|maximum|context|window)/i,
]

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
function retryAfter(headers: Headers, now: number): number | undefined {
  const ms = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms)
  const value = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1_000)
  const date = Date.parse(value)
  return Number.isFinite(date) ? Math.max(0, date - now) : undefined
}

function waitInText(text: string): number | undefined {
  const match = /(?:try again|retry) (?:in|after) ([\d.]+) ?(ms|milliseconds?|s|sec|seconds?|m|min|minutes?)\b/i.exec(text)
  if (!match) return undefined
  const unit = match[2]?.toLowerCase() ?? ''
  return Math.ceil(Number(match[1]) * (unit.startsWith('ms') || unit.startsWith('mil') ? 1 : unit.startsWith('s') ? 1_000 : 60_000))
}

const name = (target: Target): string => `${target.provider}/${target.model} at ${target.host}`

const duration = (ms: number): string => (ms < 1_000 ? `${ms} ms` : ms < 120_000 ? `${Math.round(ms / 1_000)} s` : ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`)

const shorten = (text: string): string => (text.length > 400 ? `${text.slice(0, 400)}…` : text)

/** A server may repeat the key, or send control characters. */
function clean(text: string, target: Target): string {
  const safe = target.secrets.filter((secret) => secret.length > 3).reduce((kept, secret) => kept.replaceAll(secret, '***'), text)
  return sanitize(safe.replace(/\b(sk|gsk|xai)[-_][\w*.-]{6,}/g, '***').replace(/\bAIza[\w-]{10,}/g, '***')).replace(/\s+/g, ' ').trim()
}

function chain(error: unknown): Error[] {
  const found: Error[] = []
  for (let current = error; current instanceof Error && !found.includes(current); current = current.cause) {
    found.push(current)
    if (current instanceof AggregateError && current.errors[0] instanceof Error) found.push(current.errors[0])
  }
  return found
}
