import { exec, textOf, type ExecOptions } from './exec.ts'
import type { EnvironmentOptions } from './environment.ts'
import { gitEnvironment, type GitPurpose } from './git-environment.ts'

/** A git operation is its arguments and a parser of what it prints. Refs are hashes by then, and paths stand behind `--`. */
export interface GitOperation<T> {
  args: readonly string[]
  parse: (stdout: Buffer) => T
}

export interface GitPlace {
  /** A folder of the repository. */
  cwd: string
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  /** `key=value`, over all configuration. */
  config?: readonly string[] | undefined
  environment?: EnvironmentOptions | undefined
}

export interface GitCall extends GitPlace {
  args: readonly string[]
  purpose: GitPurpose
  input?: string | Uint8Array | undefined
  /** More output than this is not waited for: git is ended and `cut` says so. */
  maxBytes?: number | undefined
  /** Added over the environment of the purpose. */
  env?: Record<string, string> | undefined
  /** As it arrives. With `discard`, stdout goes nowhere else, and may be of any size. */
  onOutput?: ExecOptions['onOutput']
  discard?: boolean | undefined
  onSpawn?: ExecOptions['onSpawn']
  wrap?: ExecOptions['wrap']
}

export interface GitEnd {
  /** `missing`: there is no git program. */
  reason: 'exited' | 'timeout' | 'aborted' | 'missing'
  exit: number | null
  stdout: Buffer
  stderr: string
  /** There was more output than `maxBytes`; `exit` then means nothing. */
  cut: boolean
  /** Left running by a hook. */
  alive: number[]
  ms: number
}

const READ_TIMEOUT_MS = 60_000
/** From TERM, at which git takes its locks away, to KILL. */
const GRACE_MS = 2_000
const MAX_BYTES = 64 * 1024 * 1024

/** Configuration under which reading runs no program that the repository names. Filters are named one by one: see `git-settings`. */
export const QUIET = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'log.showSignature=false', 'core.quotePath=false', 'diff.autoRefreshIndex=false', 'color.ui=false', 'column.ui=never', 'i18n.logOutputEncoding=UTF-8']
/** For every operation that prints a diff. */
export const PLAIN_DIFF = ['--no-ext-diff', '--no-textconv', '--no-color', '--no-relative', '--ignore-submodules=dirty', '--submodule=short', '--src-prefix=a/', '--dst-prefix=b/'] as const

/** Runs git once. Never throws for an expected end; TERM first, so that git cleans up after itself. */
export async function git(call: GitCall): Promise<GitEnd> {
  const most = call.maxBytes ?? MAX_BYTES
  const enough = new AbortController()
  let bytes = 0
  const config = [...(call.purpose === 'read' ? QUIET : []), ...(call.config ?? [])].flatMap((pair) => ['-c', pair])
  const ended = await exec({
    argv: ['git', '--no-pager', ...config, ...call.args],
    cwd: call.cwd,
    env: { ...gitEnvironment(call.purpose, call.environment), ...call.env },
    input: call.input,
    timeoutMs: call.timeoutMs ?? READ_TIMEOUT_MS,
    graceMs: GRACE_MS,
    signal: call.signal ? AbortSignal.any([call.signal, enough.signal]) : enough.signal,
    window: { head: call.discard ? 64 * 1024 : most, tail: 0 },
    onOutput: (chunk, stream) => {
      if (stream === 'stdout' && !call.discard && (bytes += chunk.length) > most) enough.abort()
      call.onOutput?.(chunk, stream)
    },
    onSpawn: call.onSpawn,
    wrap: call.wrap,
  })
  const cut = bytes > most
  const reason = ended.reason === 'spawn-failed' ? 'missing' : ended.reason === 'aborted' && cut && !call.signal?.aborted ? 'exited' : ended.reason
  return {
    reason, exit: ended.exit, stdout: ended.stdout.head.subarray(0, most), stderr: ended.reason === 'spawn-failed' ? (ended.error ?? '') : textOf(ended.stderr), cut,
    alive: ended.alive.map(({ pid }) => pid), ms: ended.ms,
  }
}

export type GitRead<T> = { ok: true; value: T; cut: boolean } | { ok: false; why: string; reason: GitEnd['reason'] }

/** Runs an operation that only reads, and parses what it prints. */
export async function readGit<T>({ args, parse }: GitOperation<T>, place: GitPlace & { maxBytes?: number }): Promise<GitRead<T>> {
  const end = await git({ ...place, args, purpose: 'read' })
  if (end.reason !== 'exited' || (end.exit !== 0 && !end.cut)) return { ok: false, why: await why(end, place), reason: end.reason }
  return { ok: true, value: parse(end.stdout), cut: end.cut }
}

/** Some commands go on without a repository that git refuses, and then say something else. */
async function why(end: GitEnd, place: GitPlace): Promise<string> {
  const probe = end.reason === 'exited' ? await git({ ...place, args: ['rev-parse', '--git-dir'], purpose: 'read' }) : end
  return explainGit(probe.exit === 0 ? end : probe, place)
}

/** What went wrong, and what to do about it. */
export function explainGit(end: Pick<GitEnd, 'reason' | 'exit' | 'stderr'> & { stdout?: Buffer }, place: GitPlace): string {
  const said = end.stderr.trim()
  if (end.reason === 'missing') return `git could not be started (${said}). Install git, or put it on PATH.`
  if (end.reason === 'aborted') return 'git was cancelled.'
  if (end.reason === 'timeout') return `git did not finish within ${Math.round((place.timeoutMs ?? READ_TIMEOUT_MS) / 1_000)} s and was ended. Name fewer paths.${said ? `\n${said}` : ''}`
  if (/dubious ownership/.test(said)) return dubious(said)
  if (/not a git repository/.test(said)) return `${place.cwd} is not in a git repository.`
  return said || end.stdout?.toString().trim() || `git ended with exit code ${end.exit}.`
}

function dubious(said: string): string {
  const path = /dubious ownership in repository at '(.*)'/.exec(said)?.[1] ?? 'this folder'
  return `git refuses to work in ${path}, because another user owns it. A person who trusts this repository can allow it with: git config --global --add safe.directory '${path}' (Tiller changes no global configuration). Tools that read and write files work without it.`
}
