import { visibleName } from '../core/visible.ts'
import type { Ended, ProcessName } from '../os/exec.ts'
import { withNotes } from './answer.ts'
import type { CommandOutput } from './command-output.ts'

export interface CommandPlace {
  /** Where it ran, as it is shown; undefined: the root. */
  folder?: string | undefined
  timeoutMs?: number | undefined
  /** Where all of the output is, if somewhere. */
  full?: string | undefined
  notes?: readonly string[] | undefined
}

export interface CommandResult {
  status: 'ok' | 'failed' | 'interrupted' | 'unknown'
  text: string
  exit: number | null
}

/** What a model is told of a command's end: its output, and below it how it ended, what it left and where the rest is. Never more than is known. */
export function commandResult(ended: Ended, output: CommandOutput, place: CommandPlace): CommandResult {
  // What a command says after it was told to end is not how it ended.
  const exit = ended.reason === 'exited' ? exitOf(ended) : null
  const text = withNotes(output.text.replace(/\n$/, '') || (ended.reason === 'spawn-failed' ? '' : '(no output)'), [
    howItEnded(ended, place.timeoutMs),
    hiddenFailures(ended),
    ...(place.notes ?? []),
    place.folder !== undefined && `it ran in ${place.folder}`,
    ...output.notes,
    leftRunning(ended, place.full),
    output.cut && whereTheRestIs(ended, place.full),
  ])
  return { status: statusOf(ended, exit), text, exit }
}

/**
 * The exit code, or that of the last part of the pipe which failed: `npm test | tail` must not look like a pass. A writer that
 * SIGPIPE ended, since its reader had enough, did not fail. null: ended by a signal, or its end was not seen.
 */
export function exitOf(ended: Ended): number | null {
  if (ended.exit !== 0) return ended.exit
  return ended.stages?.findLast((code) => code !== 0 && code !== SIGPIPE_EXIT) ?? 0
}

const SIGPIPE_EXIT = 128 + 13

function statusOf(ended: Ended, exit: number | null): CommandResult['status'] {
  switch (ended.reason) {
    case 'exited':
      return exit === 0 ? 'ok' : 'failed'
    case 'spawn-failed':
      return 'failed'
    case 'timeout':
      return ended.alive.length > 0 ? 'unknown' : 'failed'
    case 'aborted':
      return ended.alive.length > 0 ? 'unknown' : 'interrupted'
  }
}

function howItEnded(ended: Ended, timeoutMs: number | undefined): string {
  const time = seconds(ended.ms)
  switch (ended.reason) {
    case 'spawn-failed':
      return `not started: ${visibleName(ended.error ?? 'unknown why')}`
    case 'timeout':
      return `timed out after ${seconds(timeoutMs ?? ended.ms)} and was ended${whatWasEnded(ended)}. For more time set timeout (seconds), or run it with background: true`
    case 'aborted':
      return `interrupted after ${time}${ended.killed.length > 0 ? ' and ended' : ''}${whatWasEnded(ended)}`
    case 'exited':
      if (ended.exit === null) return `ended by ${ended.signal ?? 'an unknown cause'} after ${time}`
      return `exit ${exitOf(ended) ?? ''}, ${time}${stagesOf(ended)}`
  }
}

function stagesOf({ stages = [] }: Ended): string {
  if (stages.every((code) => code === 0)) return ''
  return `; the parts of the pipe ended with ${stages.map((code) => (code === SIGPIPE_EXIT ? `${code} (its reader had enough)` : code)).join(', ')}`
}

/** `npm test | tail; echo $?` says 0 whatever npm says. */
function hiddenFailures({ earlierStages = [] }: Ended): string | false {
  if (earlierStages.length === 0) return false
  const shown = earlierStages.slice(0, 5).map((codes) => codes.join(', ')).join(' / ')
  return `NOTE: in a pipe before the end a part failed (exits ${shown}); $?, && and || saw only its last part`
}

/** Beyond the command itself. */
function whatWasEnded({ killed, alive }: Ended): string {
  const others = killed.length > 1 ? `, with all it had started: ${named(killed)}` : ''
  return alive.length > 0 ? `${others}. NOT ended, still running: ${named(alive)}` : others
}

function leftRunning(ended: Ended, full: string | undefined): string | false {
  if (ended.reason !== 'exited' || ended.alive.length === 0) return false
  return `still running: ${named(ended.alive)}; it ends with this session at the latest${full === undefined ? '' : `, what it writes goes to ${full}`}. For a command that should go on, use background: true`
}

function whereTheRestIs({ stdout, file }: Ended, full: string | undefined): string {
  if (full === undefined) return `the rest of the ${stdout.bytes} bytes is lost${file?.fault === undefined ? '' : `: ${file.fault}`}; run it again with less output`
  const part = file && stdout.bytes > file.limit ? `the first and last parts, ${file.limit} of ${stdout.bytes} bytes,` : `all ${stdout.bytes} bytes`
  return `${part} of the output ${part.startsWith('all') ? 'are' : 'are kept'} in ${full}: look with read (offset, limit) or grep`
}

const MOST_NAMED = 8

export function named(processes: readonly ProcessName[]): string {
  const first = processes.slice(0, MOST_NAMED).map(({ pid, command }) => `${pid} ${short(visibleName(command))}`)
  return [...first, ...(processes.length > MOST_NAMED ? [`and ${processes.length - MOST_NAMED} more`] : [])].join(', ')
}

const short = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text)

export function seconds(ms: number): string {
  const value = ms / 1000
  return value < 10 ? `${value.toFixed(1)} s` : value < 120 ? `${Math.round(value)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`
}
