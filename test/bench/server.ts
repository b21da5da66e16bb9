import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What is answered: a text in so many pieces, or one shell command. */
export type Answer = { text: string; pieces?: number; everyMs?: number } | { command: string; afterMs?: number }

/** One request, with the moments that count: its first byte here, and the last byte of its answer. */
export interface Exchange {
  arrived: number
  bytes: number
  ended: number
}

export interface BenchServer {
  baseURL: string
  exchanges: Exchange[]
  /** What comes next; when it is used up, `done` is said. */
  script: Answer[]
  /** The exchange of this number, once its request is there (`begun`) or its answer is out. */
  exchange(index: number, what?: 'begun' | 'ended'): Promise<Exchange>
  /** Forgets what was. */
  reset(...script: Answer[]): void
  close(): void
}

/** A model server on loopback that notes when things happened and does as little as it can itself. */
export async function startBenchServer(): Promise<BenchServer> {
  const waiting = new Set<() => void>()
  const tell = (): void => waiting.forEach((look) => look())
  const bench: BenchServer = {
    baseURL: '', exchanges: [], script: [],
    exchange: (index, what = 'ended') => new Promise((resolve) => {
      const look = (): void => {
        const exchange = bench.exchanges[index]
        if (!exchange || (what === 'ended' && exchange.ended === 0)) return
        waiting.delete(look)
        resolve(exchange)
      }
      waiting.add(look)
      look()
    }),
    reset: (...script) => {
      bench.exchanges.length = 0
      bench.script = script
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  const server = createServer((request, response) => {
    if (request.method === 'GET') return void response.end(JSON.stringify({ object: 'list', data: [] }))
    const exchange: Exchange = { arrived: performance.now(), bytes: 0, ended: 0 }
    bench.exchanges.push(exchange)
    tell()
    request.on('data', (chunk: Buffer) => void (exchange.bytes += chunk.length))
    request.on('end', () => void play(response, bench.script.shift() ?? { text: 'done' }).then(() => {
      exchange.ended = performance.now()
      tell()
    }))
  })
  server.on('connection', (socket) => socket.setNoDelay(true))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  bench.baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return bench
}

let calls = 0

async function play(response: ServerResponse, answer: Answer): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if ('command' in answer) {
    if (answer.afterMs) await new Promise((resolve) => setTimeout(resolve, answer.afterMs))
    const call = { index: 0, id: `call_${++calls}`, type: 'function', function: { name: 'shell', arguments: JSON.stringify({ command: answer.command }) } }
    return void response.end(`${event({ role: 'assistant', tool_calls: [call] })}${event({}, 'tool_calls')}${USAGE}`)
  }
  const size = Math.ceil(answer.text.length / (answer.pieces ?? 1))
  for (let at = 0; at < answer.text.length && !response.destroyed; at += size) {
    const drained = response.write(event({ content: answer.text.slice(at, at + size) }))
    if (answer.everyMs) await new Promise((resolve) => setTimeout(resolve, answer.everyMs))
    else if (!drained) await new Promise((resolve) => response.once('drain', resolve))
  }
  response.end(`${event({}, 'stop')}${USAGE}`)
}

const event = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const USAGE = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [], usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } })}\n\ndata: [DONE]\n\n`
