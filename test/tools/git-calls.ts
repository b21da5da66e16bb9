import type { Here, Output, Prepared, Refused } from '../../src/core/ports.ts'
import type { Seen } from '../../src/core/record.ts'
import { git, type GitToolOptions } from '../../src/tools/git.ts'

export interface CallHow {
  signal?: AbortSignal
  seen?: Map<string, Seen>
  root?: string
  options?: GitToolOptions
  onOutput?: (text: string) => void
}

type Wanted = Parameters<ReturnType<typeof git>['prepare']>[0]

export function prepare(cwd: string, input: Wanted, how: CallHow = {}): Promise<Prepared | Refused> {
  const here: Here = { call: 'c1', root: how.root ?? cwd, cwd, seen: (path) => how.seen?.get(path), images: false, signal: how.signal ?? new AbortController().signal }
  return git(how.options).prepare(input, here)
}

/** Prepares and runs, as the loop does once it is permitted. A refusal is a failed output. */
export async function call(cwd: string, input: Wanted, how: CallHow = {}): Promise<Output> {
  const prepared = await prepare(cwd, input, how)
  if ('refused' in prepared) return { status: 'failed', text: prepared.refused }
  return prepared.run(how.signal ?? new AbortController().signal, { output: how.onOutput ?? (() => {}), spawned: () => {} }, { sandbox: false })
}
