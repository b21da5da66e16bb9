import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { withoutPrelude } from './shell-line.ts'

export interface ProcessEntry {
  pid: number
  parent: number
  group: number
  session: number
  /** Tells this process from a later one with the same pid: as `processStart` of process-start.ts. */
  started: string
  command: string
}

/** What belongs to a command: `leader` is its process, group and session id, `mark` what stands in the environment of all it starts. */
export interface Family {
  leader: number
  mark: string
  /** Of the leader. Nothing that began earlier belongs to it. */
  started?: string | undefined
}

/** The variable that marks every descendant of a call, also those that left its group and session. */
export const MARK = 'TILLER_CALL'

/**
 * All that runs of a family: its group, its session, whoever carries its mark, and their descendants. Linux reads /proc and
 * misses only a process that left group and session, dropped its environment and lost its parent. Elsewhere `ps` must do, and the
 * environment is only seen where `ps -E` shows it (macOS: not for the system's own programs).
 */
export async function family(of: Family, quick = false): Promise<ProcessEntry[]> {
  // Elsewhere than on Linux a look takes a `ps`: after a usual end only where something of the group is left.
  if (quick && process.platform !== 'linux' && !groupLives(of.leader)) return []
  const table = process.platform === 'linux' ? procTable(quick ? of.leader : 0, ticksOf(of.started)) : await psTable()
  const marked = process.platform === 'linux' ? (pid: number) => environOf(pid).includes(`${MARK}=${of.mark}\0`) : await psMarked(of.mark)
  const found = new Map<number, ProcessEntry>()
  // A number is not given out again while a group has it; when a later process leads it, that group is somebody else's.
  const isTaken = of.started !== undefined && table.some(({ pid, started }) => pid === of.leader && started !== of.started)
  const belongs = (entry: ProcessEntry): boolean =>
    (!isTaken && (entry.group === of.leader || entry.session === of.leader)) || found.has(entry.parent) || marked(entry.pid)
  for (let before = -1; before < found.size;) {
    before = found.size
    for (const entry of table) if (!found.has(entry.pid) && entry.pid !== process.pid && belongs(entry)) found.set(entry.pid, { ...entry }) // its command is read now, while it lives
  }
  return [...found.values()]
}

/** Whether this very process still runs: the same pid with another start is somebody else. */
export function isAlive({ pid, started }: { pid: number; started?: string | undefined }): boolean {
  if (process.platform !== 'linux' || started === undefined) return send(pid, 0)
  return startedOf(pid) === started
}

/** Signal 0 to the group: true as long as anything in it lives (or waits as a zombie). */
export function groupLives(group: number): boolean {
  return send(-group, 0)
}

/** false: there is nobody to send it to. A process of another user counts as there. */
export function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Undefined where it cannot be known or the process is gone. Cheap on Linux; elsewhere not asked for at all. */
export function startedOf(pid: number): string | undefined {
  return process.platform === 'linux' ? procEntry(pid)?.started : undefined
}

// ---- Linux

/** With `after`, only those with a later process id: pids are given out in order, so what a command started just now is there. */
function procTable(after: number, since: number): ProcessEntry[] {
  return pidsAfter(after).flatMap((pid) => {
    const entry = procEntry(pid)
    return entry && ticksOf(entry.started) >= since ? [entry] : []
  })
}

const FEW = 200

/** When the counter went round since, all; when it went on by little, without a look at the whole of /proc. */
function pidsAfter(after: number): number[] {
  const last = after > 0 ? lastPid() : 0
  if (last >= after && last - after < FEW && after > 0) return Array.from({ length: last - after + 1 }, (_, index) => after + index).filter(isProcess)
  return readdirSync('/proc').map(Number).filter((pid) => pid > 0 && (pid >= after || last < after))
}

/** Threads can be asked for by number too, though /proc does not list them. */
const isProcess = (pid: number): boolean => existsSync(`/proc/${pid}`) && readOrEmpty(`/proc/${pid}/status`).includes(`\nTgid:\t${pid}\n`)

/** Clock ticks from the start of the machine to that of the process. */
const ticksOf = (started: string | undefined): number => Number(started ?? 0)

/** A zombie is none: it only waits to be counted. */
function procEntry(pid: number): ProcessEntry | undefined {
  const stat = readOrEmpty(`/proc/${pid}/stat`).toString('latin1')
  const end = stat.lastIndexOf(')')
  const [state, parent, group, session] = stat.slice(end + 2).split(' ', 4)
  if (end < 0 || state === undefined || 'ZX'.includes(state)) return undefined
  return {
    pid, parent: Number(parent), group: Number(group), session: Number(session),
    started: stat.slice(end + 2).split(' ')[19] ?? '',
    get command() {
      return commandOf(pid) || stat.slice(stat.indexOf('(') + 1, end)
    },
  }
}

const commandOf = (pid: number): string => withoutPrelude(readOrEmpty(`/proc/${pid}/cmdline`).toString().replaceAll('\0', ' ')).trim().slice(0, 200)
const environOf = (pid: number): Buffer => readOrEmpty(`/proc/${pid}/environ`)
const lastPid = (): number => Number(readOrEmpty('/proc/loadavg').toString().trim().split(' ')[4] ?? 0)

function readOrEmpty(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}

// ---- elsewhere

async function psTable(): Promise<ProcessEntry[]> {
  const lines = (await ps(['-A', ...columns('pid', 'ppid', 'pgid', 'sess', 'stat', 'lstart', 'command')])).split('\n')
  return lines.flatMap((line) => {
    const [, pid, parent, group, session, state, started, command] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\w+ \w+ +\d+ [\d:]+ \d+)\s+(.*)$/.exec(line) ?? []
    if (pid === undefined || state?.startsWith('Z')) return []
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(session), started: started ?? '', command: withoutPrelude(command ?? '').slice(0, 200) }]
  })
}

async function psMarked(mark: string): Promise<(pid: number) => boolean> {
  const lines = (await ps(['-A', '-E', '-ww', ...columns('pid', 'command')])).split('\n')
  const pids = new Set(lines.filter((line) => `${line} `.includes(`${MARK}=${mark} `)).map((line) => Number.parseInt(line, 10)))
  return (pid) => pids.has(pid)
}

/** One `-o` each: a header, here an empty one, goes on to the end of its argument. */
const columns = (...names: string[]): string[] => names.flatMap((name) => ['-o', `${name}=`])

const ps = (args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile('ps', args, { maxBuffer: 64 * 1024 * 1024, env: { PATH: process.env['PATH'] ?? '/bin:/usr/bin', LC_ALL: 'C' } }, (_error, stdout) => { resolve(stdout) })
  })
