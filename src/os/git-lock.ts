import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { exec } from './exec.ts'
import type { GitEnd } from './git.ts'

const WAIT_MS = 3_000
const LOOK_EVERY_MS = 100

/** Runs a git command that takes a lock; where another git holds it, waits a little and tries again. Such a command has done nothing yet. */
export async function waitForLock(root: string, run: () => Promise<GitEnd>, signal: AbortSignal, waitMs = WAIT_MS): Promise<GitEnd> {
  const until = performance.now() + waitMs
  for (;;) {
    const end = await run()
    const lock = lockOf(end.stderr, root)
    if (!lock || end.reason !== 'exited' || end.exit === 0 || signal.aborted || performance.now() > until) return end
    while (existsSync(lock) && performance.now() < until && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

/** The lock file that git complained about. */
export function lockOf(stderr: string, root: string): string | null {
  const path = /Unable to create '(.+?\.lock)': File exists/.exec(stderr)?.[1]
  return path === undefined ? null : resolve(root, path)
}

/** Whose a lock is and how old: for the person, who alone may take it away. */
export async function describeLock(path: string, root: string): Promise<string> {
  let age: string
  try {
    age = ageOf(Date.now() - statSync(path).mtimeMs)
  } catch {
    return `${path} was held by another git and is free again: try again.`
  }
  const holders = process.platform === 'linux' ? fromProc(path, root) : await fromPs(root)
  if (holders.length > 0) return `${path} is ${age} old and ${holders.join(', ')} may hold it: wait for it, then try again. A lock that is in use must not be removed.`
  return `${path} is ${age} old, and no git process that works here was found: a git that was killed probably left it. If nothing else uses this repository, a person can remove it: rm '${path}'`
}

function ageOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

/** Processes that have the lock open, and git processes that work in this tree. Those of other users cannot be seen. */
function fromProc(path: string, root: string): string[] {
  const found: string[] = []
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const folder = join('/proc', pid)
    const words = read(join(folder, 'cmdline')).split('\0')
    const worksHere = /^git(-|$)/.test(basename(words[0] ?? '')) && isUnder(link(join(folder, 'cwd')), root)
    if (worksHere || opens(folder, path)) found.push(`process ${pid} (${words.join(' ').trim().slice(0, 80)})`)
  }
  return found
}

function opens(folder: string, path: string): boolean {
  try {
    return readdirSync(join(folder, 'fd')).some((fd) => link(join(folder, 'fd', fd)) === path)
  } catch {
    return false
  }
}

/** Where processes cannot be asked for their folder: every git that runs. */
async function fromPs(root: string): Promise<string[]> {
  const { stdout } = await exec({ argv: ['ps', '-axo', 'pid=,args='], cwd: root, timeoutMs: 2_000 })
  return stdout.head.toString().split('\n').flatMap((line) => {
    const [, pid, args] = /^\s*(\d+)\s+(\S*\bgit(?:\s.*)?)$/.exec(line) ?? []
    return pid && args ? [`process ${pid} (${args.slice(0, 80)})`] : []
  })
}

const isUnder = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`)

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
