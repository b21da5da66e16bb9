import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Blobs, Emit, Here, Output } from '../core/ports.ts'
import type { BlobRef } from '../core/record.ts'
import type { Ended } from '../os/exec.ts'
import { leadsElsewhere } from '../os/real-path.ts'
import { start } from '../os/start.ts'
import { failed } from './answer.ts'
import { commandOutput } from './command-output.ts'
import { commandResult } from './command-result.ts'
import { startedJob } from './job-text.ts'
import type { Job, Jobs } from './jobs.ts'
import type { Redaction } from './redaction.ts'
import { liveOutput } from './live-output.ts'
import { keepState, withVariables, type ShellState } from './shell-state.ts'
import { shownPath } from './shown-path.ts'

export interface CommandDeps {
  /** Puts arguments into the sandbox. A call that must run in it fails where this is missing or answers undefined. */
  sandbox?: ((argv: readonly string[], where: { cwd: string }) => { argv: readonly string[]; env?: Record<string, string> } | undefined) | undefined
  blobs: Pick<Blobs, 'put'>
  /** Where a blob lies as a file, for the model to read; without it the output file is kept. */
  blobPath?: ((blob: BlobRef) => string) | undefined
  /** Output streams to a file in it. */
  outputDir: string
  environment(): Record<string, string>
  /** Secrets out of what is kept of its output. */
  redaction?: Redaction | undefined
  /** bash, else sh, where none is configured. */
  path?: string | null | undefined
  jobs: Jobs
}

export interface CommandAsked {
  command: string
  cwd: string
  notice?: string | undefined
  timeoutMs: number | undefined
  background?: boolean | undefined
  keep?: boolean | undefined
}

/** Of a command's output so much of its beginning and its end stays in memory. */
const WINDOW = { head: 64 * 1024, tail: 256 * 1024 }
/** A job that fails at once is told as such, and not as started. */
const FIRST_LOOK_MS = 250

/** One command of the `shell` tool, from its start to what is told of it. */
export function commandCall(deps: CommandDeps, state: ShellState, asked: CommandAsked, here: Here): { run(signal: AbortSignal, emit: Emit, how: { sandbox: boolean }): Promise<Output>; background(): void } {
  const moved = Promise.withResolvers<'moved'>()
  return {
    background: () => { moved.resolve('moved') },
    async run(signal, emit, how) {
      const { sandbox } = deps
      if (how.sandbox && !sandbox) return failed('Not started: this command must run in the sandbox, and there is none here.')
      if (leadsElsewhere(asked.cwd)) return failed(`Not started: a link was put in the path of ${shownPath(asked.cwd, here)} a moment ago, so that it leads elsewhere.`)
      const usual = deps.environment()
      const env = withVariables(usual, state)
      const live = liveOutput((text) => { emit.output(text) })
      const file = outputFile(deps.outputDir, here.call)
      const running = await start({
        command: asked.command, shell: deps.path ?? undefined, cwd: asked.cwd, env, combine: true, window: WINDOW, exports: asked.keep,
        timeoutMs: asked.timeoutMs, signal: asked.background ? undefined : signal, onOutput: live.write, outputFile: { path: file, filter: deps.redaction?.bytes },
        wrap: how.sandbox && sandbox ? (argv) => sandbox(argv, { cwd: asked.cwd }) ?? noSandbox() : undefined,
      })
      const output = running.pid === null ? undefined : file
      const spawned = { pid: running.pid ?? 0, ...(running.started === undefined ? {} : { started: running.started }), output: file }
      const toJob = (): Job => {
        const job = deps.jobs.adopt(running, { call: here.call, command: asked.command, cwd: asked.cwd, file: output })
        emit.spawned({ ...spawned, job: job.id })
        return job
      }
      let job: Job | undefined
      try {
        if (running.pid !== null && asked.background) job = toJob()
        else if (running.pid !== null) emit.spawned(spawned)
      } catch (error) {
        // What cannot be recorded must not go on.
        await running.stop()
        throw error
      }
      const first = await Promise.race([running.ended, moved.promise, ...(job ? [afterFirstLook()] : [])])
      live.end()
      if (first === 'moved' || first === 'goes on') {
        if (!job) running.release()
        job ??= toJob()
        return { status: 'ok', text: startedJob(job, deps.jobs.read(job.id), first === 'moved', shownPath(file, here)), alive: [job.pid] }
      }
      const notes = [asked.notice, job && `${job.id} has ended already`, folderNote(first, asked, here)]
      if (job) deps.jobs.read(job.id) // told in full below
      if (asked.keep) keepState(state, first, env, usual)
      return told(first, asked, notes.filter((note) => note !== undefined), file, deps, here)
    },
  }
}

const afterFirstLook = (): Promise<'goes on'> => new Promise((resolve) => setTimeout(resolve, FIRST_LOOK_MS, 'goes on'))

const noSandbox = (): never => {
  throw new Error('this command must run in it')
}

function outputFile(folder: string, call: string): string {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch {
    // the command runs all the same, and its result says that the file could not be written
  }
  const name = call.replace(/[^\w.-]/g, '_').slice(0, 100)
  for (let number = 1; ; number++) {
    const path = join(folder, `${name}${number === 1 ? '' : `-${number}`}.txt`)
    if (!existsSync(path)) return path
  }
}

function folderNote({ endedIn, reason }: Ended, { cwd, keep }: CommandAsked, here: Here): string | undefined {
  if (keep && endedIn === undefined && reason !== 'spawn-failed') return 'nothing of it was kept for later commands: where it ended was not seen (it was killed, or has an exec or an EXIT trap of its own)'
  if (endedIn === undefined || endedIn === cwd) return undefined
  const where = shownPath(endedIn, { cwd: here.root })
  return keep ? `later commands run in ${where}` : `cd to ${where} lasted for this command only; to keep it, set keep: true`
}

/** The full output becomes a blob where it does not fit into the result; otherwise its file has done its work. */
function told(ended: Ended, asked: CommandAsked, notes: readonly string[], file: string, deps: CommandDeps, here: Here): Output {
  const output = commandOutput(ended.stdout, deps.redaction?.text)
  const goesOn = ended.alive.length > 0
  const isThere = ended.file?.fault === undefined && existsSync(file)
  const blob = output.cut && isThere ? stored(file, deps.blobs) : undefined
  const inBlobs = blob && !goesOn ? deps.blobPath?.(blob) : undefined
  if (isThere && !goesOn && (inBlobs !== undefined || !output.cut)) remove(file)
  const full = inBlobs ?? (isThere && (output.cut || goesOn) ? file : undefined)
  const { status, text, exit } = commandResult(ended, output, {
    folder: asked.cwd === here.root ? undefined : shownPath(asked.cwd, { cwd: here.root }), timeoutMs: asked.timeoutMs, notes, full: full && shownPath(full, here),
  })
  return { status, text, exit, ...(blob ? { output: blob } : {}), ...(goesOn ? { alive: ended.alive.map(({ pid }) => pid) } : {}) }
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // it stays, to no harm
  }
}

function stored(file: string, blobs: CommandDeps['blobs']): BlobRef | undefined {
  try {
    return blobs.put(readFileSync(file))
  } catch {
    return undefined // a full disk: the file may still be there
  }
}
