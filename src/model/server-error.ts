/** What a server said went wrong, whatever shape it chose to say it in. */
export interface ServerError {
  /** Empty where it said nothing readable. */
  message: string
  /** Its machine-readable words: type, code, status, reason, all lower case. */
  words: string
  /** An HTTP status in the body, as proxies and stream errors give it. */
  status?: number
  retryAfterMs?: number
  contextWindow?: number
}

/** Reads the error in a body or in an event: OpenAI, Anthropic, Google, Ollama, llama.cpp, vLLM, FastAPI, plain text, a web page. */
export function readServerError(body: unknown): ServerError {
  if (typeof body === 'string') return readText(body)
  if (body instanceof Error) return { message: body.message, words: '' }
  if (Array.isArray(body)) return readServerError(body[0])
  if (!isObject(body)) return { message: '', words: '' }
  const inner = [body['error'], body['errors'], body['detail'], isObject(body['response']) ? body['response']['error'] : undefined].find((value) => value !== undefined && value !== null)
  if (typeof inner === 'string') return { ...readText(inner), ...hints(body) }
  const source = Array.isArray(inner) ? inner[0] : inner
  if (isObject(source)) return { ...fromObject(source), ...(typeof source['message'] === 'string' ? {} : hints(body)) }
  return fromObject(body)
}

function fromObject(source: Record<string, unknown>): ServerError {
  const metadata = isObject(source['metadata']) ? source['metadata'] : {}
  const raw = typeof metadata['raw'] === 'string' ? readText(metadata['raw']).message : ''
  const message = [source['message'], source['msg'], source['title']].find((value): value is string => typeof value === 'string' && value.trim() !== '') ?? raw
  const details = Array.isArray(source['details']) ? source['details'].filter(isObject) : []
  const words = [source['type'], source['code'], source['status'], source['param'], ...details.flatMap(({ reason, violations }) => [reason, ...(Array.isArray(violations) ? violations.filter(isObject).map(({ quotaId }) => quotaId) : [])])]
  return {
    message: raw !== '' && !message.includes(raw) ? `${message}: ${raw}` : message,
    words: words.filter((word) => typeof word === 'string' || typeof word === 'number').join(' ').toLowerCase(),
    ...hints(source),
    ...retryInfo(details),
  }
}

function readText(text: string): ServerError {
  const trimmed = text.trim()
  if (/^[[{]/.test(trimmed)) {
    try {
      return readServerError(JSON.parse(trimmed))
    } catch {
      // Not JSON after all: it is what a person would read.
    }
  }
  if (/^<(!doctype|html|head|body)/i.test(trimmed)) {
    const title = /<title[^>]*>([^<]*)<\/title>/i.exec(trimmed)?.[1]?.trim()
    return { message: title ? `a web page titled "${title}"` : 'a web page', words: '' }
  }
  return { message: trimmed.replace(/\s+/g, ' '), words: '' }
}

function hints(source: Record<string, unknown>): Partial<ServerError> {
  const status = [source['status_code'], source['code'], source['status']].map(Number).find((value) => value >= 400 && value < 600)
  const window = [source['n_ctx'], source['context_length'], source['max_model_len']].map(Number).find((value) => value > 0)
  return { ...(status === undefined ? {} : { status }), ...(window === undefined ? {} : { contextWindow: window }) }
}

/** Google says it in the body: `"retryDelay": "37s"`. */
function retryInfo(details: Record<string, unknown>[]): Partial<ServerError> {
  for (const { retryDelay } of details) {
    const seconds = typeof retryDelay === 'string' ? Number(/^([\d.]+)s$/.exec(retryDelay)?.[1]) : Number.NaN
    if (Number.isFinite(seconds)) return { retryAfterMs: Math.ceil(seconds * 1_000) }
  }
  return {}
}

export const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
