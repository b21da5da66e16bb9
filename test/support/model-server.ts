import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { checkRequest } from './request-rules.ts'
import { writeReply } from './wire-replies.ts'

export type WireProtocol = 'chat' | 'responses' | 'anthropic' | 'google'

/** What the server does with one request. Without `status`, `bytes` or `json` it is a reply in the protocol that was spoken. */
export interface Step {
  text?: string
  /** Thinking, with the signature or encrypted state that the protocol has. */
  reasoning?: string
  /** `input` as text is sent as it is, valid JSON or not. `id` in place of one that is made up. */
  calls?: { name: string; input?: unknown; id?: string }[]
  /** null: the protocol's last word is left out. */
  stop?: 'end' | 'calls' | 'length' | 'filter' | null
  /** null: none is sent. */
  usage?: { input: number; output: number; cacheRead?: number; cacheWrite?: number; reasoning?: number } | null
  /** In how many pieces a text is sent. */
  deltas?: number
  /** Before the headers, and before each further event. */
  startDelayMs?: number
  delayMs?: number
  /** Before the headers: the request waits for this. */
  hold?: Promise<unknown>
  /** After so many events: the socket is cut, nothing more comes, or the body ends as if all was well. */
  cut?: number
  silent?: number
  close?: number
  status?: number
  headers?: Record<string, string>
  /** Answer with this body in place of a stream. */
  json?: unknown
  /** Answer with these very bytes, one network write each. */
  bytes?: string | Uint8Array | readonly (string | Uint8Array)[]
}

export interface Recorded {
  protocol: WireProtocol
  path: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
  /** The bytes as they came. */
  raw: Buffer
  /** What the provider's rules have against it. With any, the answer was a 400 and no step was used. */
  problems: string[]
  /** Resolves when the connection of the answer is closed: by whom, `aborted` says. */
  closed: Promise<{ aborted: boolean }>
}

export interface ModelServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, without a path. */
  url: string
  port: number
  /** The base URL of a protocol, for `providers` in `.agentrc`. */
  baseURL(protocol: WireProtocol): string
  /** A whole `providers` entry for `.agentrc` or createModels: names `chat`, `responses`, `anthropic`, `google`. */
  providers: Record<WireProtocol, { type: 'openai-compatible' | 'openai' | 'anthropic' | 'google'; baseURL: string; apiKey: string; models?: Record<string, { contextWindow: number; maxOutput: number; images: boolean }> }>
  requests: Recorded[]
  /** Adds to the end of the script. */
  push(...steps: Step[]): void
  /** The request of this number, counted from 0, as soon as it is there. */
  request(index: number): Promise<Recorded>
  close(): Promise<void>
}

export interface ModelServerOptions {
  /** Requests against the rules get their steps all the same; `problems` is filled. */
  lenient?: boolean
  /** Chat: `reasoning_content` must come back with calls (P25). */
  needsReasoning?: boolean
  /** The models that `/models` lists. */
  models?: string[]
}

/** A model provider on loopback: plays a script in whichever of the four protocols it is spoken to, notes and checks every request. */
export async function startModelServer(script: Step[] | ((request: Recorded, index: number) => Step), options: ModelServerOptions = {}): Promise<ModelServer> {
  const steps = Array.isArray(script) ? [...script] : []
  const requests: Recorded[] = []
  const waiting: { index: number; found: (request: Recorded) => void }[] = []
  const issued = new Set<string>()
  const sockets = new Set<Socket>()
  const issue = (value: string): string => {
    issued.add(value)
    return value
  }

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' })
      response.end(`model-server: ${String(error)}`)
    })
  })
  server.on('connection', (socket) => {
    socket.setNoDelay(true)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://x').pathname
    if (request.method === 'GET') return listModels(path, response, options.models ?? ['test-model'])
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const raw = Buffer.concat(chunks)
    const protocol = protocolOf(path)
    if (!protocol) return sendJson(response, 404, { error: { message: `no such path: ${path}` } })
    const body = JSON.parse(raw.toString('utf8')) as Record<string, unknown>
    const problems = checkRequest(protocol, body, request.headers, path, { issued, needsReasoning: options.needsReasoning ?? false })
    const closed = new Promise<{ aborted: boolean }>((resolve) => response.once('close', () => resolve({ aborted: !response.writableFinished })))
    const recorded: Recorded = { protocol, path, headers: request.headers, body, raw, problems, closed }
    const index = requests.push(recorded) - 1
    for (const { found } of waiting.filter((waiter) => waiter.index === index)) found(recorded)
    if (problems.length > 0 && !options.lenient) return sendJson(response, 400, { type: 'error', error: { type: 'invalid_request_error', message: problems.join('; ') } })
    const step = Array.isArray(script) ? steps.shift() : script(recorded, index)
    if (!step) return sendJson(response, 400, { error: { type: 'invalid_request_error', message: 'model-server: the script has no step left' } })
    const model = typeof body['model'] === 'string' ? body['model'] : (/models\/([^:]+)/.exec(path)?.[1] ?? 'm')
    await play(response, step, () => writeReply(protocol, step, model, issue))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const baseURL = (protocol: WireProtocol): string => `${url}${protocol === 'google' ? '/v1beta' : '/v1'}`
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  const types = { chat: 'openai-compatible', responses: 'openai', anthropic: 'anthropic', google: 'google' } as const
  const provider = <P extends WireProtocol>(protocol: P): { type: (typeof types)[P]; baseURL: string; apiKey: string } => ({ type: types[protocol], baseURL: baseURL(protocol), apiKey: `test-key-of-${protocol}` })

  return {
    url, port, baseURL, requests, close,
    providers: { chat: provider('chat'), responses: provider('responses'), anthropic: provider('anthropic'), google: provider('google') },
    push: (...more) => void steps.push(...more),
    request: (index) => new Promise((found) => (requests[index] ? found(requests[index]) : waiting.push({ index, found }))),
    [Symbol.asyncDispose]: close,
  }
}

function protocolOf(path: string): WireProtocol | undefined {
  if (path.endsWith('/chat/completions')) return 'chat'
  if (path.endsWith('/responses')) return 'responses'
  if (path.endsWith('/messages')) return 'anthropic'
  return path.endsWith(':streamGenerateContent') ? 'google' : undefined
}

async function play(response: ServerResponse, step: Step, reply: () => string[]): Promise<void> {
  await pause(step.startDelayMs)
  await step.hold
  if (step.json !== undefined || (step.status !== undefined && step.bytes === undefined)) return sendJson(response, step.status ?? 200, step.json, step.headers)
  response.writeHead(step.status ?? 200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...step.headers })
  response.flushHeaders()
  const events = step.bytes === undefined ? reply() : typeof step.bytes === 'string' || step.bytes instanceof Uint8Array ? [step.bytes] : step.bytes
  for (const [index, event] of events.entries()) {
    if (index === step.cut) return void response.destroy()
    if (index === step.silent) return
    if (index === step.close) break
    if (index > 0) await pause(step.delayMs)
    if (response.destroyed) return
    await new Promise<void>((resolve) => response.write(event, () => resolve()))
  }
  if (step.cut !== undefined && step.cut >= events.length) return void response.destroy()
  if (step.silent === undefined) response.end()
}

const pause = (ms: number | undefined): Promise<void> | undefined => (ms ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined)

function sendJson(response: ServerResponse, status: number, json: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(json === undefined ? '' : typeof json === 'string' ? json : JSON.stringify(json))
}

function listModels(path: string, response: ServerResponse, models: string[]): void {
  if (path.includes('/v1beta')) return sendJson(response, 200, { models: models.map((name) => ({ name: `models/${name}`, supportedGenerationMethods: ['generateContent'] })) })
  sendJson(response, 200, { object: 'list', data: models.map((id) => ({ id, object: 'model', type: 'model' })) })
}
