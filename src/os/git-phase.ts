import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What a git command is waiting for: a hook by its name, or the program that signs. */
export type GitPhase = { kind: 'hook'; name: string } | { kind: 'signing'; program: string }

export interface PhaseWatch {
  /** For the environment of the command. */
  env: Record<string, string>
  phase(): GitPhase | null
  close(): void
}

const LOOK_EVERY_MS = 200

/**
 * Follows a git command by its trace (git 2.22 and newer; an older one never says a phase). `onChange` is told when a phase
 * begins, and null when it ends. Whoever starts a watch closes it.
 */
export function watchPhases(onChange: (phase: GitPhase | null) => void): PhaseWatch {
  const folder = mkdtempSync(join(tmpdir(), 'tiller-git-'))
  const trace = join(folder, 'trace')
  let now: GitPhase | null = null
  const look = (): void => {
    const next = phaseOf(read(trace))
    if (JSON.stringify(next) === JSON.stringify(now)) return
    now = next
    onChange(next)
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  return {
    env: { GIT_TRACE2_EVENT: trace },
    phase: () => {
      look()
      return now
    },
    close: () => {
      clearInterval(timer)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The child that the outermost git has started and that has not ended. Git commands inside a hook write to the same trace, with a longer `sid`. */
export function phaseOf(trace: string): GitPhase | null {
  const open = new Map<number, GitPhase>()
  for (const line of trace.split('\n')) {
    if (!/"event":"child_(start|exit)","sid":"[^"/]*"/.test(line)) continue
    const event = parse(line)
    if (event.event === 'child_exit') open.delete(event.child_id ?? -1)
    else if (event.child_class === 'hook') open.set(event.child_id ?? -1, { kind: 'hook', name: event.hook_name ?? 'hook' })
    else if (signs(event.argv ?? [])) open.set(event.child_id ?? -1, { kind: 'signing', program: event.argv?.[0] ?? '' })
  }
  return [...open.values()].at(-1) ?? null
}

interface TraceEvent {
  event?: string
  child_id?: number
  child_class?: string
  hook_name?: string
  argv?: string[]
}

/** As git calls gpg, gpgsm and ssh-keygen. */
const signs = (argv: readonly string[]): boolean => argv.includes('-bsau') || (argv.includes('-Y') && argv.includes('sign'))

function parse(line: string): TraceEvent {
  try {
    return JSON.parse(line) as TraceEvent
  } catch {
    return {}
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
