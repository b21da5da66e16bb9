import { parentPort } from 'node:worker_threads'
import { matchLines, type FileRows, type Matched, type MatchOptions } from './match-lines.ts'
import { walk, type Walked, type WalkOptions } from './walk.ts'

/**
 * A thread of its own for walking and matching: both may take long, and a pattern may take for ever, while keys must go on working.
 * It is ended from outside at any moment; it only reads.
 */
export type Request = { do: 'walk'; options: WalkOptions } | { do: 'match'; paths: string[]; options: MatchOptions; progress: Int32Array<SharedArrayBuffer> }
export type Reply = { is: 'walked'; walked: Walked } | { is: 'rows'; rows: FileRows } | { is: 'matched'; matched: Matched } | { is: 'wrong'; why: string }

parentPort?.on('message', (request: Request) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  const reply = (message: Reply): void => parentPort?.postMessage(message)
  try {
    switch (request.do) {
      case 'walk':
        reply({ is: 'walked', walked: walk(request.options) })
        return
      case 'match': {
        const { progress } = request
        const matched = matchLines(request.paths, request.options, (rows) => reply({ is: 'rows', rows }), (file) => {
          Atomics.store(progress, 0, file)
          Atomics.add(progress, 1, 1)
        })
        reply({ is: 'matched', matched })
        return
      }
    }
  } catch (error) {
    reply({ is: 'wrong', why: error instanceof Error ? error.message : String(error) })
  }
})
