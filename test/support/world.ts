import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import type { RecordOf, SessionRecord } from '../../src/core/record.ts'
import { startModelServer, type ModelServer, type ModelServerOptions, type Step } from './model-server.ts'
import { faultsOf, readRecords } from './session-check.ts'
import { startTiller, type Ended, type Running, type Start } from './tiller.ts'

// Each test starts the program several times, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

/**
 * A person's machine in a temporary folder: a home with a configuration that names a scripted model server on loopback, and a
 * repository. When the test is over, every session in it must be valid, no request may have broken a provider's rules,
 * and nothing that was started may still live.
 */
export interface World {
  folder: string
  home: string
  repo: string
  server: ModelServer
  env: Record<string, string>
  start(args: readonly string[], options?: Start): Running
  run(args: readonly string[], options?: Start): Promise<Ended>
  git(...args: string[]): string
  /** Relative to the repository. */
  write(path: string, text: string | Uint8Array, mode?: number): void
  read(path: string): string
  exists(path: string): boolean
  /** The person's own configuration, over what it is. */
  configure(settings: object): void
  /** Session files, oldest first. */
  sessions(): string[]
  records(file?: string): SessionRecord[]
  of<T extends SessionRecord['type']>(type: T, file?: string): RecordOf<T>[]
  /** Of the results, in the order of the calls. */
  statuses(file?: string): (string | undefined)[]
  /** Pids of all that was started from here and still lives. */
  living(): number[]
  /** Before the end of the test, where many are needed. */
  close(hasFailed?: boolean): Promise<void>
}

export interface WorldOptions {
  /** The files of the first commit. */
  files?: Record<string, string>
  /** false: the folder is no repository. */
  git?: boolean
  config?: object
  server?: ModelServerOptions
  /** Its sessions are damaged on purpose, or cut off in the middle. */
  unchecked?: boolean
  /** Requests break the rules on purpose. */
  lenient?: boolean
}

export async function openWorld(script: Parameters<typeof startModelServer>[0] = [], options: WorldOptions = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'tiller-world-'))
  const [home, repo] = [join(folder, 'home'), join(folder, 'repo')]
  const server = await startModelServer(script, options.server)
  const env: Record<string, string> = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`, HOME: home, LANG: 'C.UTF-8', TERM: 'dumb', TMPDIR: join(folder, 'tmp'),
    XDG_CACHE_HOME: CACHE, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', [MARK]: folder,
  }
  const started: Running[] = []
  let closing: Promise<void> | null = null
  const leave = async (hasFailed: boolean): Promise<void> => {
    for (const { child } of started) child.kill('SIGKILL')
    await Promise.all(started.map(({ ended }) => ended))
    const alive = await nothingLeft(folder)
    for (const pid of alive) process.kill(pid, 'SIGKILL')
    await server.close()
    const faults = options.unchecked || hasFailed ? [] : world.sessions().flatMap((file) => faultsOf(file))
    rmSync(folder, { recursive: true, force: true })
    expect(faults, 'the sessions that were written').toEqual([])
    expect(alive, 'processes that were left').toEqual([])
    if (!options.lenient) expect(server.requests.flatMap(({ problems }) => problems), 'what the provider has against the requests').toEqual([])
  }
  const world: World = {
    folder, home, repo, server, env,
    start: (args, start = {}) => {
      const running = startTiller(args, { cwd: repo, ...start, env: { ...env, ...start.env } })
      started.push(running)
      return running
    },
    run: (args, start) => world.start(args, start).ended,
    git: (...args) => execFileSync('git', ['-C', repo, ...args], { env, encoding: 'utf8' }).trimEnd(),
    write: (path, text, mode) => {
      mkdirSync(dirname(join(repo, path)), { recursive: true })
      writeFileSync(join(repo, path), text, mode === undefined ? {} : { mode })
    },
    read: (path) => readFileSync(join(repo, path), 'utf8'),
    exists: (path) => existsSync(join(repo, path)),
    configure: (settings) => {
      mkdirSync(join(home, '.config', 'tiller'), { recursive: true })
      writeFileSync(join(home, '.config', 'tiller', 'agentrc'), JSON.stringify({ model: 'chat/test-model', providers: { chat: server.providers.chat }, ...settings }), { mode: 0o600 })
    },
    sessions: () => sessionFiles(join(repo, '.agent', 'sessions')),
    records: (file) => readRecords(file ?? newest(world)).records,
    of: (type, file) => world.records(file).filter((record) => record.type === type) as never,
    statuses: (file) => {
      const results = world.of('result', file)
      const calls = world.of('reply', file).flatMap(({ stop, parts }) => (stop === 'error' || stop === 'interrupted' ? [] : parts.filter((part) => part.type === 'call')))
      return calls.map(({ id }) => results.find((result) => result.call === id)?.status)
    },
    living: () => livingWith(folder),
    close: (hasFailed = false) => {
      closing ??= leave(hasFailed)
      return closing
    },
  }
  onTestFinished(({ task }) => world.close(task.result?.state === 'fail'))
  mkdirSync(env['TMPDIR'] ?? '', { recursive: true })
  mkdirSync(repo)
  world.configure(options.config ?? {})
  for (const [path, text] of Object.entries(options.files ?? { 'README.md': '# Sample\n' })) world.write(path, text)
  if (options.git !== false) {
    cpSync(emptyRepository(), join(repo, '.git'), { recursive: true })
    world.git('add', '-A')
    world.git('commit', '-q', '--allow-empty', '-m', 'First')
  }
  return world
}

/** One call of a tool, as a step of the script. */
export const calls = (...each: [name: string, input: unknown][]): Step => ({ calls: each.map(([name, input]) => ({ name, input })) })
export const say = (text: string): Step => ({ text })

const MARK = 'TILLER_TEST_WORLD'

/** Of compiled code, for all starts: see shared-cache.ts. */
const CACHE = process.env['TILLER_TEST_CACHE'] ?? ''

let empty: string | null = null
/** Made once: a process for each step of it adds up. */
function emptyRepository(): string {
  if (empty === null) {
    const folder = join(CACHE, `empty-${process.pid}`)
    execFileSync('git', ['init', '-q', '-b', 'main', '--template=', folder])
    writeFileSync(join(folder, '.git', 'config'), '\n[user]\n\tname = Test\n\temail = test@example.invalid\n[commit]\n\tgpgsign = false\n[maintenance]\n\tauto = false\n', { flag: 'a' })
    empty = join(folder, '.git')
  }
  return empty
}

/** By when they began: names of one second do not tell. */
function sessionFiles(folder: string): string[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl')).map((name) => join(folder, name))
  const begun = new Map(files.map((file) => [file, Number(/"at":(\d+)/.exec(readFileSync(file, 'latin1').slice(0, 200))?.[1] ?? 0)]))
  return files.toSorted((a, b) => (begun.get(a) ?? 0) - (begun.get(b) ?? 0))
}

function newest(world: World): string {
  const file = world.sessions().at(-1)
  if (file === undefined) throw new Error('there is no session')
  return file
}

/** By the environment that they inherited; the reaper has its own, and leaves by itself. */
function livingWith(mark: string): number[] {
  if (!existsSync('/proc/self/environ')) return []
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${MARK}=${mark}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
    } catch {
      return false
    }
  })
}

/** After a `kill -9` the reaper needs a moment. */
async function nothingLeft(mark: string): Promise<number[]> {
  for (const end = Date.now() + 15_000; ; ) {
    const alive = livingWith(mark)
    if (alive.length === 0 || Date.now() > end) return alive
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
