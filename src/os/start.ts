import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { environment } from './environment.ts'
import type { Ended, ExecOptions, Running, Wrapped } from './exec.ts'
import { follow } from './follow.ts'
import { sink, type Sink } from './output.ts'
import { MARK, startedOf } from './process-table.ts'
import { guard } from './reaper.ts'
import { readReport, REPORT_FD, shellLine, type ShellLine } from './shell-line.ts'
import { openStreams, type Wish } from './streams.ts'

const WINDOW = { head: 1024 * 1024, tail: 1024 * 1024 }

let session: string | null = null
let calls = 0

/** Begins a command; see `exec`. Comes back as soon as it runs or cannot. */
export async function start(options: ExecOptions): Promise<Running> {
  const began = performance.now()
  const sinks = openSinks(options)
  const result = (end: Omit<Partial<Ended>, 'reason'> & Pick<Ended, 'reason'>): Ended => ({
    exit: null, signal: null, alive: [], killed: [], ...end,
    stdout: sinks.stdout.kept(), stderr: sinks.stderr.kept(), ...(sinks.stdout.file ? { file: sinks.stdout.file } : {}), ms: performance.now() - began,
  })
  const never = (end: Ended): Running => ({ pid: null, output: sinks.stdout, ended: Promise.resolve(end), stop: () => Promise.resolve(end), release: () => {}, letGo: () => {} })
  if (options.signal?.aborted) return never(result({ reason: 'aborted' }))

  session ??= randomBytes(6).toString('hex')
  const mark = `${session}.${++calls}.`
  const launch = await prepare(options, mark)
  if (typeof launch === 'string') return never(result({ reason: 'spawn-failed', error: launch }))
  const streams = await openStreams(launch.line.reports ? [...sinks.wishes, sinks.report] : sinks.wishes, options.input)
  const guarded = guard(mark)
  const child = await spawnChild(launch, streams.stdio)
  streams.begin(typeof child === 'string' ? undefined : child)
  if (typeof child === 'string') {
    guarded.release()
    launch.line.cleanUp()
    return never(result({ reason: 'spawn-failed', error: child }))
  }
  const started = startedOf(child.pid)
  guarded.group(child.pid, started)
  const spawned = { pid: child.pid, ...(started === undefined ? {} : { started }) }
  options.onSpawn?.(spawned)
  const course = follow(child, { leader: child.pid, mark, started }, options, { streams, guarded, close: () => { sinks.stdout.close() }, letGo: () => { streams.handOver(sinks.stdout.file) } })
  const ended = course.over.then((end) => {
    launch.line.cleanUp()
    return result({ ...end, ...reported(sinks.report.sink, options.exports) })
  })
  return {
    ...spawned, output: sinks.stdout, ended, release: course.release, letGo: course.letGo,
    stop() {
      course.stop('aborted')
      return ended
    },
  }
}

interface Sinks { stdout: Sink; stderr: Sink; wishes: Wish[]; report: Wish & { sink: Sink } }

function openSinks(options: ExecOptions): Sinks {
  const into = (sink: Sink, fds: number[], stream: 'stdout' | 'stderr'): Wish => ({
    fds,
    take(chunk) {
      sink.write(chunk)
      options.onOutput?.(chunk, stream)
    },
  })
  const window = options.window ?? WINDOW
  const [stdout, stderr, report] = [sink(window, options.outputFile), sink(window), sink({ head: WINDOW.head, tail: 0 })]
  const wishes = options.combine ? [into(stdout, [1, 2], 'stdout')] : [into(stdout, [1], 'stdout'), into(stderr, [2], 'stderr')]
  return { stdout, stderr, wishes, report: { fds: [REPORT_FD], take: report.write, sink: report } }
}

interface Launch { line: ShellLine; argv: readonly string[]; cwd: string; env: Record<string, string> }

async function prepare(options: ExecOptions, mark: string): Promise<Launch | string> {
  if (process.platform === 'win32') return 'Commands run on Linux and macOS only; on Windows, start Tiller inside WSL.'
  if (!isFolder(options.cwd)) return `The working directory ${options.cwd} is not there (any more).`
  let line: ShellLine
  try {
    line = 'argv' in options ? { argv: [...options.argv], reports: false, cleanUp: () => {} } : shellLine(options.command, options)
  } catch (error) {
    return `The command is too long for an argument, and no file could be made for it: ${messageOf(error)}`
  }
  let wrapped: Wrapped = line.argv
  try {
    wrapped = (await options.wrap?.(line.argv)) ?? line.argv
  } catch (error) {
    line.cleanUp()
    return `The sandbox could not be set up: ${messageOf(error)}`
  }
  const { argv, env } = 'argv' in wrapped ? wrapped : { argv: wrapped, env: undefined }
  return { line, argv, cwd: options.cwd, env: { ...(options.env ?? environment()), ...env, [MARK]: mark } }
}

/** The child, or in a sentence why there is none. */
function spawnChild({ argv, cwd, env }: Launch, stdio: NonNullable<Parameters<typeof spawn>[2]>['stdio']): Promise<(ChildProcess & { pid: number }) | string> {
  const [program = '', ...rest] = argv
  return new Promise((resolve) => {
    const fail = (error: unknown): void => { resolve(whyNot(error as NodeJS.ErrnoException, program, cwd)) }
    try {
      // `detached` is setsid(): a session and a group of its own, and no terminal that anything in it could open.
      const child = spawn(program, rest, { cwd, env, stdio: stdio ?? [], detached: true })
      if (child.pid === undefined) child.on('error', fail)
      else resolve(child as ChildProcess & { pid: number })
    } catch (error) {
      fail(error)
    }
  })
}

function whyNot(error: NodeJS.ErrnoException, program: string, cwd: string): string {
  switch (error.code) {
    case 'ENOENT':
      return isFolder(cwd) ? `There is no program ${program} (looked for it on PATH).` : `The working directory ${cwd} is not there (any more).`
    case 'EACCES':
      return `${program} may not be executed, or ${cwd} may not be entered.`
    case 'E2BIG':
      return 'Command and environment are together too long for this system: write the long part to a file, or unset large environment variables.'
    default:
      return `${program} could not be started: ${error.message}`
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function reported(sink: Sink, exports: boolean | undefined): Pick<Ended, 'stages' | 'earlierStages' | 'endedIn' | 'exports'> {
  const report = readReport(sink.kept().head)
  if (!report) return {}
  return { endedIn: report.cwd, ...(report.stages.length > 1 ? { stages: report.stages } : {}), ...(report.earlier.length > 0 ? { earlierStages: report.earlier } : {}), ...(exports ? { exports: report.exports } : {}) }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
