import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { FileRows, Matched, MatchOptions } from './match-lines.ts'
import { candidates } from './ripgrep.ts'
import type { Reply, Request } from './search-worker.ts'
import type { Walked, WalkOptions } from './walk.ts'
import { startWorker } from './worker.ts'

/** The search had to be ended: by the signal, or because the pattern went on for too long in one file. */
export type Ended = { ended: 'cancelled' } | { ended: 'stalled'; path: string; rows: FileRows[] } | { ended: 'broken'; why: string }

/** The files below a folder, by name. */
export async function listFiles(options: WalkOptions, signal: AbortSignal): Promise<Walked | Ended> {
  return inWorker(signal, (worker) => worker.ask({ do: 'walk', options }))
}

export interface SearchOptions extends MatchOptions {
  /** A folder to search through, or the files to search. */
  within: (WalkOptions & { select?: (path: string) => boolean }) | { files: string[] }
  /** Finds the files worth a look where there are many; the answer is the same without. */
  ripgrep?: { program: string; pattern: string; from?: number } | undefined
  stallMs?: number
}

export interface Found extends Matched {
  /** Absolute paths. */
  files: FileRows[]
  searched: number
  walked: Pick<Walked, 'cut' | 'unreadable'>
}

/** The lines that match, file by file in the order of their paths. */
export async function searchLines({ within, ripgrep, stallMs = 5_000, source, flags, context, limit }: SearchOptions, signal: AbortSignal): Promise<Found | Ended> {
  return inWorker(signal, async (worker) => {
    const walked = 'files' in within ? { paths: within.files, cut: false, unreadable: 0 } : await walkFor(worker, within)
    if ('ended' in walked) return walked
    const worthIt = ripgrep && walked.paths.length >= (ripgrep.from ?? 200)
    const paths = (worthIt ? await candidates(ripgrep.program, ripgrep.pattern, walked.paths, signal) : null) ?? walked.paths
    const matched = await worker.match(paths, { source, flags, context, limit }, stallMs)
    if ('ended' in matched) return matched
    return { ...matched, searched: walked.paths.length, walked: { cut: walked.cut, unreadable: walked.unreadable } }
  })
}

async function walkFor(worker: Asked, { select = () => true, ...options }: WalkOptions & { select?: (path: string) => boolean }): Promise<Walked | Ended> {
  const walked = await worker.ask({ do: 'walk', options: { ...options, regular: true } })
  if ('ended' in walked) return walked
  return { ...walked, paths: walked.paths.map((path) => join(options.start, path)).filter(select) }
}

interface Asked {
  ask(request: Extract<Request, { do: 'walk' }>): Promise<Walked | Ended>
  match(paths: string[], options: MatchOptions, stallMs: number): Promise<(Matched & { files: FileRows[] }) | Ended>
}

/** One worker a search: ended with it, whatever happens. */
async function inWorker<T>(signal: AbortSignal, work: (worker: Asked) => Promise<T | Ended>): Promise<T | Ended> {
  if (signal.aborted) return { ended: 'cancelled' }
  const worker = startWorker('search-worker')
  const cancelled = new Promise<Ended>((resolve) => { signal.addEventListener('abort', () => resolve({ ended: 'cancelled' }), { once: true }) })
  const broken = new Promise<Ended>((resolve) => { worker.once('error', (error) => resolve({ ended: 'broken', why: error instanceof Error ? error.message : String(error) })) })
  const asked: Asked = {
    ask: (request) => walkIn(worker, request),
    match: (paths, options, stallMs) => matchIn(worker, paths, options, stallMs),
  }
  try {
    return await Promise.race([work(asked), cancelled, broken])
  } finally {
    await worker.terminate()
  }
}

function walkIn(worker: Worker, request: Request): Promise<Walked | Ended> {
  return new Promise((resolve) => {
    worker.once('message', (reply: Reply) => {
      if (reply.is === 'walked') resolve(reply.walked)
      if (reply.is === 'wrong') resolve({ ended: 'broken', why: reply.why })
    })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage(request)
  })
}

function matchIn(worker: Worker, paths: string[], options: MatchOptions, stallMs: number): Promise<(Matched & { files: FileRows[] }) | Ended> {
  const progress = new Int32Array(new SharedArrayBuffer(8))
  const files: FileRows[] = []
  return new Promise((resolve) => {
    let before = -1
    const stalled = setInterval(() => {
      const now = Atomics.load(progress, 1)
      if (now === before) finish({ ended: 'stalled', path: paths[Atomics.load(progress, 0)] ?? '', rows: files })
      before = now
    }, stallMs)
    const finish = (result: (Matched & { files: FileRows[] }) | Ended): void => {
      clearInterval(stalled)
      resolve(result)
    }
    worker.on('message', (reply: Reply) => {
      if (reply.is === 'rows') files.push(reply.rows)
      if (reply.is === 'matched') finish({ ...reply.matched, files })
      if (reply.is === 'wrong') finish({ ended: 'broken', why: reply.why })
    })
    worker.once('exit', () => clearInterval(stalled))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage({ do: 'match', paths, options, progress } satisfies Request)
  })
}
