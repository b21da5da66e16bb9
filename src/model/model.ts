import { ModelError, type Delta, type Model, type ModelEnd, type ModelLimits, type ModelRequest } from '../core/ports.ts'
import type { Part } from '../core/record.ts'
import { exchangeFetch } from './body.ts'
import { createExchange, fail, type Exchange, type Target } from './exchange.ts'
import { fault } from './fault.ts'
import { createIdFor } from './ids.ts'
import type { OpenedModels } from './opened.ts'
import type { ModelFacts, Protocol, Settings, State } from './protocol.ts'
import { createReply, hasState, stopOf, usageOf, type Finish, type Reply } from './reply.ts'
import { toCall } from './request.ts'
import { isObject } from './server-error.ts'
import type { Transport } from './transport.ts'

export interface ModelSetup {
  /** `provider/model`, as the person wrote it. */
  id: string
  limits: ModelLimits
  facts: ModelFacts
  /** `<protocol>:<provider>`, and the model where its state is of no use to another: who made an opaque state. */
  by: string
  protocol: Protocol
  transport: Transport
  opened: OpenedModels
  /** Key, address and headers, looked up when a request is sent. */
  access(): Promise<{ settings: Omit<Settings, 'fetch'>; target: Target }>
  blob: (sha256: string) => Uint8Array | undefined
  /** Ids of calls that this process has given out: no two replies share one. */
  issued: Set<string>
  idleMs: number
  now: () => number
  /** May improve a failure, for example by naming the models that are there. */
  explain?(error: ModelError, signal: AbortSignal): Promise<ModelError>
}

/** One model of one provider. */
export function createModel(setup: ModelSetup): Model {
  return { id: setup.id, limits: setup.limits, stream: (request, signal) => stream(setup, request, signal) }
}

async function* stream(setup: ModelSetup, request: ModelRequest, signal: AbortSignal): AsyncGenerator<Delta | ModelEnd> {
  const access = await untilAborted(setup.access(), signal).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  if (!access) return yield { type: 'end', parts: [], stop: 'interrupted', usage: { input: 0, output: 0 } }
  const { settings, target } = access
  const exchange = createExchange(target)
  const reply = createReply({ idFor: createIdFor(request, setup.issued), stateOf: createStateOf(setup, exchange) })
  let version = ''
  try {
    const opened = await untilAborted(open(setup, request, settings, exchange, signal), signal)
    version = opened.version
    for await (const part of parts(opened.stream, signal)) {
      if (part.type === 'error') noteError(part.error, exchange)
      yield* reply.add(part)
    }
    if (!signal.aborted) return yield { ...conclude(reply, exchange, setup.protocol), ...wire(setup, exchange, version) }
  } catch (error) {
    if (!signal.aborted) throw await explained(setup, exchange, error, signal)
  }
  yield { type: 'end', parts: reply.parts(), stop: 'interrupted', usage: usageOf(reply.finish?.usage, exchange.wire?.bytes ?? 0, reply.characters()), ...wire(setup, exchange, version) }
}

async function open(setup: ModelSetup, request: ModelRequest, settings: Omit<Settings, 'fetch'>, exchange: Exchange, signal: AbortSignal) {
  const { protocol, transport, opened, idleMs, now, facts, limits, by, blob } = setup
  const fetch = exchangeFetch(exchange, { transport, repair: protocol.repair, idleMs, now })
  const { language, version } = await opened.get(protocol, settings)
  const call = toCall(request, { dialect: protocol.dialect(facts), by, images: limits.images, blob })
  const maxOutput = outputLimit(request, limits)
  const { stream } = await opened.by(fetch, () => language.doStream({
    ...call,
    ...(maxOutput === undefined ? {} : { maxOutputTokens: maxOutput }),
    ...protocol.options({ request, facts, prompt: call.prompt, maxOutput }),
    abortSignal: signal,
  }))
  return { stream, version }
}

/** Input and output share the window: a limit that does not fit beside the input would be refused. */
function outputLimit(request: ModelRequest, { maxOutput, contextWindow }: ModelLimits): number | undefined {
  const wanted = request.maxOutput ?? maxOutput
  if (wanted === null || contextWindow === null) return wanted ?? undefined
  const room = contextWindow - Math.ceil(charactersOf(request) / 3) - 1_000
  return Math.min(wanted, Math.max(room, 4_096, Math.floor(contextWindow / 20)))
}

/** Of its texts, about. Not written out as JSON for that: it may be megabytes, on every turn. */
function charactersOf({ system, tools, messages }: ModelRequest): number {
  const pieces = messages.flatMap((message): readonly object[] => (message.role === 'tool' ? message.results : message.parts))
  const length = (piece: object): number => ('text' in piece && typeof piece.text === 'string' ? piece.text.length : JSON.stringify(piece).length) + 40
  return pieces.reduce((sum: number, piece) => sum + length(piece), system.length + JSON.stringify(tools).length)
}

/** Ends at once when aborted, whatever the stream below does. */
async function* parts<T>(stream: ReadableStream<T>, signal: AbortSignal): AsyncGenerator<T> {
  const reader = stream.getReader()
  const stop = (): void => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || signal.aborted) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

/** What does not heed the signal is left behind. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('aborted'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** A server's own error events end the stream before the SDK sees them; what is left is what the SDK could not read. */
function noteError(error: unknown, exchange: Exchange): void {
  if (error instanceof Error && /without a finish reason/.test(error.message)) return
  throw exchange.failure ?? fail(exchange, fault.garbage(error instanceof Error ? error.message : JSON.stringify(error), exchange.target))
}

/** The end of a stream that ended by itself. Whether it was the end of the reply is decided here. */
function conclude(reply: Reply, exchange: Exchange, { endsInSilence = false }: Protocol): ModelEnd {
  const finish = reply.finish
  const parts = reply.parts()
  const calls = parts.filter((part) => part.type === 'call')
  const usage = usageOf(finish?.usage, exchange.wire?.bytes ?? 0, reply.characters())
  const stop = finish ? stopOf(finish, calls.length > 0) : 'error'
  // A connection that breaks after the reason to stop takes nothing away.
  const harmless = finish?.finishReason.raw !== undefined && stop !== 'error' && (exchange.failure?.fault.kind === 'network' || exchange.failure?.fault.kind === 'idle')
  if (exchange.failure && !harmless) throw exchange.failure
  if (stop === 'filter' && parts.every((part) => part.type === 'reasoning')) throw fail(exchange, fault.filtered(finish?.finishReason.raw ?? '', explanation(finish), exchange.target))
  if (stop !== 'error') return { type: 'end', parts, stop, usage }
  if (finish?.finishReason.raw !== undefined) throw fail(exchange, fault.stopped(finish.finishReason.raw, explanation(finish), exchange.target))
  // Some servers never give a reason. Whole calls, or a text with the protocol's last word after it, are a reply.
  const whole = calls.length > 0 ? calls.every((call) => call.invalid === undefined) : exchange.finished && parts.some((part) => part.type === 'text')
  if (endsInSilence && whole && (exchange.ended || exchange.finished) && exchange.noise.trim() === '') return { type: 'end', parts, stop: calls.length > 0 ? 'calls' : 'end', usage }
  throw fail(exchange, parts.length === 0 && exchange.noise.trim() === '' ? fault.empty(exchange.target) : fault.cut(exchange.target, exchange.noise))
}

/** What a provider says about why it stopped, wherever it says it. */
function explanation(finish: Finish | undefined): string {
  const said = Object.values(finish?.providerMetadata ?? {}).flatMap((metadata) => [metadata['stopDetails'], metadata['promptFeedback'], metadata['finishMessage']])
  const texts = said.flatMap((value) => (isObject(value) ? [value['explanation'], value['blockReasonMessage'], value['blockReason']] : [value]))
  return texts.find((text): text is string => typeof text === 'string' && text !== '') ?? ''
}

async function explained(setup: ModelSetup, exchange: Exchange, error: unknown, signal: AbortSignal): Promise<ModelError> {
  const said = error instanceof Error ? error.message : String(error)
  const found = exchange.failure ?? (error instanceof ModelError ? error : fail(exchange, exchange.wire ? fault.garbage(said, exchange.target) : fault.unsendable(said, exchange.target)))
  return setup.explain ? setup.explain(found, signal) : found
}

function wire(setup: ModelSetup, exchange: Exchange, version: string): Pick<ModelEnd, 'wire'> {
  return exchange.wire ? { wire: { ...exchange.wire, package: `${setup.protocol.package}@${version}` } } : {}
}

function createStateOf({ protocol, by }: ModelSetup, exchange: Exchange): (part: Part, sdk: State['sdk'], providerId: string) => Part['opaque'] {
  return (part, sdk, providerId) => {
    const data: State = {
      ...(sdk && hasState(sdk) ? { sdk } : {}),
      ...(part.type === 'call' && part.id !== providerId ? { id: providerId } : {}),
      ...protocol.state?.(part, exchange),
    }
    return Object.keys(data).length > 0 ? { by, data } : undefined
  }
}
