import { createHash } from 'node:crypto'
import { ModelError } from '../core/ports.ts'
import { fail, type Exchange } from './exchange.ts'
import { fault } from './fault.ts'
import { createFrameReader, type Frame } from './frames.ts'
import { isObject, readServerError } from './server-error.ts'
import type { Fetch, Transport } from './transport.ts'

/** What a protocol's events need before the SDK reads them. */
export interface Repair {
  /** One event in, what the SDK should see out. */
  frame?(frame: Frame, exchange: Exchange): Frame[]
  /** The protocol's last word: what follows it is not waited for. */
  isLast?(frame: Frame): boolean
  /** A server that answered with one whole reply instead of a stream. */
  whole?(reply: Record<string, unknown>, exchange: Exchange): Frame[]
}

interface FetchOptions {
  transport: Transport
  repair: Repair
  /** No byte for so long is an end. */
  idleMs: number
  now: () => number
}

/** The fetch that a provider's package gets for one request: it notes what was sent, and hands on clean events only. */
export function exchangeFetch(exchange: Exchange, { transport, repair, idleMs, now }: FetchOptions): Fetch {
  return async (input, init = {}) => {
    const url = new URL(input)
    const sent = typeof init.body === 'string' ? init.body : ''
    // A package may ask for the rest of a long reply: the first body is the request.
    exchange.wire ??= measured(Buffer.from(sent))
    const watch = watchdog(exchange, idleMs)
    const signal = init.signal ? AbortSignal.any([init.signal, watch.signal]) : watch.signal
    try {
      const response = await watch.during(transport.send(url, { ...init, signal, redirect: 'manual' }, exchange.target))
      if (!response.ok) {
        const body = await watch.during(readCapped(response))
        throw fail(exchange, fault.refused({ status: response.status, headers: response.headers, body, now: now() }, exchange.target))
      }
      const body = response.body ? events(response.body, exchange, repair, watch) : null
      return new Response(body, { status: response.status, headers: { 'content-type': 'text/event-stream' } })
    } catch (error) {
      if (error instanceof ModelError) exchange.failure ??= error
      throw exchange.failure ?? error
    }
  }
}

const measured = (sent: Buffer): NonNullable<Exchange['wire']> => ({ sha256: createHash('sha256').update(sent).digest('hex'), bytes: sent.length })

interface Watchdog {
  signal: AbortSignal
  /** Waits, and fails as idle when nothing comes. */
  during<T>(work: Promise<T>): Promise<T>
}

function watchdog(exchange: Exchange, ms: number): Watchdog {
  const controller = new AbortController()
  return {
    signal: controller.signal,
    async during(work) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          const error = fail(exchange, fault.idle(exchange.target, ms))
          reject(error)
          controller.abort(error)
        }, ms)
      })
      try {
        return await Promise.race([work, late])
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

/** The body as events that the SDK can read, whatever way the server framed them. */
function events(body: ReadableStream<Uint8Array>, exchange: Exchange, repair: Repair, watch: Watchdog): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let seen = 0
  let ready = ''
  exchange.ended = false
  const emit = (frames: Frame[]): void => {
    for (const { event, data } of frames) ready += `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`
  }
  const frames = createFrameReader(
    (frame) => {
      seen += 1
      if (exchange.failure || exchange.finished) return
      const error = errorIn(frame)
      if (error) fail(exchange, fault.inStream(error, exchange.target))
      else emit(repair.frame?.(frame, exchange) ?? [frame])
      exchange.finished = repair.isLast?.(frame) ?? false
    },
    (line) => {
      if (exchange.noise.length < (seen === 0 ? WHOLE_REPLY : 4_000)) exchange.noise += `${line}\n`
    },
  )
  const finish = (): void => {
    frames.push(decoder.decode())
    frames.end()
    if (seen === 0 && exchange.noise.trim() !== '') emit(withoutEvents(exchange, repair))
    exchange.ended = true
  }

  const isOver = (): boolean => exchange.ended || exchange.finished || exchange.failure !== undefined

  return new ReadableStream({
    async pull(controller) {
      try {
        while (!isOver() && ready.length === 0) {
          const { done, value } = await watch.during(reader.read())
          if (done) finish()
          else frames.push(decoder.decode(value, { stream: true }))
        }
      } catch (error) {
        fail(exchange, fault.broken(error, exchange.target, exchange.noise))
      }
      if (ready !== '') controller.enqueue(encoder.encode(ready))
      ready = ''
      // A stream that is errored drops what is still on its way. So it ends, and who reads it looks at the failure.
      if (!isOver()) return
      controller.close()
      if (!exchange.ended) void letGo(reader)
    },
    async cancel(reason) {
      await reader.cancel(reason)
    },
  })
}

/** After the last word the end mostly comes at once, and then the connection can be used again. */
async function letGo(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise((resolve) => (timer = setTimeout(resolve, 200)))
  await Promise.race([reader.read(), enough]).catch(() => undefined)
  clearTimeout(timer)
  await reader.cancel().catch(() => undefined)
}

const WHOLE_REPLY = 8 * 1024 * 1024

/** An error that came as an event, in any protocol's shape. */
function errorIn({ data }: Frame): unknown {
  if (!data.includes('"error"')) return undefined
  try {
    const json: unknown = JSON.parse(data)
    if (!isObject(json)) return undefined
    if (json['type'] === 'error' || json['type'] === 'response.failed') return json
    return json['error'] ? json : undefined
  } catch {
    return undefined
  }
}

/** A body that held no event at all: a whole reply, an error, or something else. */
function withoutEvents(exchange: Exchange, repair: Repair): Frame[] {
  let json: unknown
  try {
    json = JSON.parse(exchange.noise)
  } catch {
    fail(exchange, fault.garbage(readServerError(exchange.noise).message, exchange.target))
    return []
  }
  const frames = isObject(json) && !json['error'] ? (repair.whole?.(json, exchange) ?? []) : []
  if (frames.length > 0) exchange.noise = ''
  else if (isObject(json) && json['error']) fail(exchange, fault.inStream(json, exchange.target))
  else fail(exchange, fault.garbage(exchange.noise, exchange.target))
  return frames
}

async function readCapped(response: Response): Promise<string> {
  if (!response.body) return ''
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > 65_536) break
  }
  return text
}
