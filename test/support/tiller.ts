import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentEvent } from '../../src/core/ports.ts'
import type { Command } from '../../src/core/command.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** The built program; TILLER_BIN names another one, such as an installed package. Built first where the build is older than its sources. */
export const TILLER = process.env['TILLER_BIN'] ?? builtHere()

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  /** The JSON lines of stdout. */
  events: AgentEvent[]
}

/** A start of the program that may still run. */
export interface Running {
  pid: number
  child: ChildProcess
  events: AgentEvent[]
  stdout(): string
  stderr(): string
  /** The first event, past or future, that fits; fails with all that was said when the program ends without it. */
  until<T extends AgentEvent['type']>(type: T, fits?: (event: Extract<AgentEvent, { type: T }>) => boolean): Promise<Extract<AgentEvent, { type: T }>>
  /** Resolves when stderr holds it. */
  says(what: string): Promise<void>
  send(...commands: (Command | string)[]): void
  endInput(): void
  kill(signal: NodeJS.Signals): void
  ended: Promise<Ended>
}

export interface Start {
  cwd?: string
  env?: Record<string, string | undefined>
  /** What stdin holds, to its end; null: it stays open for `send`. Without it stdin is empty. */
  input?: string | null
  node?: string
}

const LONGEST_WAIT_MS = 60_000

export function startTiller(args: readonly string[], { cwd, env, input, node = process.execPath }: Start): Running {
  const child = spawn(node, [TILLER, ...args], { cwd, env, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] })
  const events: AgentEvent[] = []
  const looking = new Set<() => boolean>()
  const said = { stdout: '', stderr: '' }
  const look = (): void => looking.forEach((each) => each() && looking.delete(each))
  let line = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said.stdout += text
    const lines = `${line}${text}`.split('\n')
    line = lines.pop() ?? ''
    for (const each of lines) if (each.startsWith('{')) events.push(JSON.parse(each) as AgentEvent)
    look()
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text
    look()
  })
  child.stdin?.on('error', () => undefined)
  if (typeof input === 'string') child.stdin?.end(input)

  let over: Ended | null = null
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      over = { code, signal, ...said, events }
      resolve(over)
    })
  })
  const all = (): string => `stdout:\n${said.stdout.slice(-4_000)}\nstderr:\n${said.stderr.slice(-4_000)}`
  const waitFor = <T>(what: string, find: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const give = (why: string): void => {
        looking.delete(attempt)
        clearTimeout(late)
        reject(new Error(`${what}: ${why}\n${all()}`))
      }
      const late = setTimeout(() => give('it did not come'), LONGEST_WAIT_MS)
      const attempt = (): boolean => {
        const found = find()
        if (found === undefined) return false
        clearTimeout(late)
        resolve(found)
        return true
      }
      if (attempt()) return
      if (over) return give('the program has ended')
      looking.add(attempt)
      void ended.then(() => looking.has(attempt) && give(`the program ended with ${over?.code ?? over?.signal}`))
    })

  return {
    pid: child.pid ?? 0, child, events, ended,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    until: (type, fits = () => true) => waitFor(type, () => events.find((event): event is Extract<AgentEvent, { type: typeof type }> => event.type === type && fits(event as never))) as never,
    says: async (what) => void (await waitFor(what, () => (said.stderr.includes(what) ? true : undefined))),
    send: (...commands) => void child.stdin?.write(commands.map((command) => `${typeof command === 'string' ? command : JSON.stringify(command)}\n`).join('')),
    endInput: () => void child.stdin?.end(),
    kill: (signal) => void child.kill(signal),
  }
}

function builtHere(): string {
  const built = statSync(join(ROOT, 'dist', 'main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const isStale = (): boolean => globSync(['src/**/*.{ts,tsx}', 'scripts/build.js'], { cwd: ROOT }).some((file) => statSync(join(ROOT, file)).mtimeMs > built)
  if (isStale()) execFileSync(process.execPath, [join(ROOT, 'scripts', 'build.js')], { stdio: 'pipe' })
  return join(ROOT, 'bin', 'tiller.js')
}
