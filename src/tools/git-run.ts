import { sanitize } from '../core/sanitize.ts'
import type { Emit, Output } from '../core/ports.ts'
import { explainGit, git, type GitEnd } from '../os/git.ts'
import { describeLock, lockOf, waitForLock } from '../os/git-lock.ts'
import { watchPhases, type GitPhase } from '../os/git-phase.ts'
import type { Wrapped } from '../os/exec.ts'
import { shown, type GitWork } from './git-work.ts'

const SIGNING_MS = 10_000
const CHANGE_TIMEOUT_MS = 300_000

/** How commands that change something are run. */
export interface ChangeOptions {
  /** What the sandbox makes of a command. Without one, a call that must run in the sandbox fails. */
  wrap?: ((argv: readonly string[]) => Wrapped | Promise<Wrapped>) | undefined
  /** How long signing may take: a key that wants a passphrase asks where nobody sees it. */
  signingMs?: number | undefined
  /** How long all of it may take, with its hooks. */
  timeoutMs?: number | undefined
}

export interface ChangeHow extends ChangeOptions {
  signal: AbortSignal
  emit: Emit
}

export interface ChangeEnd extends GitEnd {
  /** Both streams as they came, for the result. */
  said: string
  /** What it was waiting for when it was ended. */
  waitedFor: GitPhase | null
}

/** Runs a git command that changes something, with the repository's hooks, filters and signing, but nobody to ask. */
export async function changeGit(work: GitWork, args: readonly string[], how: ChangeHow, input?: string): Promise<ChangeEnd> {
  const tooLong = new AbortController()
  let waitedFor: GitPhase | null = null
  let timer: NodeJS.Timeout | undefined
  const watch = watchPhases((phase) => {
    clearTimeout(timer)
    if (phase?.kind === 'signing') timer = setTimeout(() => tooLong.abort(), how.signingMs ?? SIGNING_MS)
  })
  const decoder = new TextDecoder()
  const signal = AbortSignal.any([how.signal, tooLong.signal])
  signal.addEventListener('abort', () => { waitedFor = watch.phase() }, { once: true })
  let said = ''
  try {
    const end = await waitForLock(work.repository.root, () => {
      said = ''
      return git({
        cwd: work.place.cwd, environment: work.place.environment, purpose: 'write', args, input, signal,
        timeoutMs: how.timeoutMs ?? CHANGE_TIMEOUT_MS, env: watch.env, wrap: how.wrap,
        onSpawn: (process) => how.emit.spawned(process),
        onOutput: (chunk) => {
          const text = decoder.decode(chunk, { stream: true })
          if (said.length < 1024 * 1024) said += text
          how.emit.output(sanitize(text))
        },
      })
    }, signal)
    if (end.reason === 'timeout') waitedFor = watch.phase()
    return { ...end, said, waitedFor }
  } finally {
    clearTimeout(timer)
    watch.close()
  }
}

/** What a failed change is told as: what was wrong, and what to do next. */
export async function changeFailed(work: GitWork, end: ChangeEnd, signal: AbortSignal): Promise<Output> {
  const exit = end.exit === null ? {} : { exit: end.exit }
  const alive = end.alive.length > 0 ? { alive: end.alive } : {}
  // How paths are passed on is nobody's business.
  const said = end.said.trim().replaceAll(':(top,literal)', '')
  const output = said === '' ? '' : `\nIt said:\n${said}`
  const waiting = end.waitedFor === null ? '' : end.waitedFor.kind === 'hook' ? ` while the ${end.waitedFor.name} hook ran` : ` while ${end.waitedFor.program} was signing`
  if (signal.aborted) return { status: 'interrupted', text: shown(`Cancelled${waiting}.${output}`), ...exit, ...alive }
  if (end.waitedFor?.kind === 'signing' || /failed to sign|gpg failed|failed to write commit object/.test(said)) return { status: 'failed', text: shown(`${signingText(end)}${output}`), ...exit, ...alive }
  if (end.reason === 'timeout') return { status: 'failed', text: shown(`git was ended, because it took too long${waiting}.${output}`), ...exit, ...alive }
  const lock = lockOf(end.stderr, work.repository.root)
  if (lock) return { status: 'failed', text: shown(`Nothing was changed: the repository is locked. ${await describeLock(lock, work.repository.root)}`), ...exit }
  if (/cannot lock ref/.test(said)) return { status: 'failed', text: shown(`Another git was quicker and changed the branch. See op "log", then try again.${output}`), ...exit, ...alive }
  return { status: 'failed', text: shown(end.reason === 'exited' && said !== '' && !/dubious ownership/.test(said) ? said : explainGit(end, work.place)), ...exit, ...alive }
}

function signingText({ waitedFor }: ChangeEnd): string {
  const what = waitedFor ? `the signing program (${waitedFor.kind === 'signing' ? waitedFor.program : ''}) waited for an answer, which nobody can give here` : 'the signing program failed'
  return `Nothing was committed: commits are signed in this repository (commit.gpgsign), and ${what}. Signing was not switched off. A person can unlock the key in another terminal, for example with "echo | gpg --clearsign >/dev/null", or "ssh-add" for an SSH key; then commit again.`
}
