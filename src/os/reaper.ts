import { spawn, type ChildProcess } from 'node:child_process'
import { REAPER_SCRIPT } from './reaper-script.ts'

/** One process tree that must not outlive Tiller. */
export interface Guard {
  /** Tells which process group it is, once there is one. */
  group(pid: number, started: string | undefined): void
  /** Nothing of it is left. */
  release(): void
  /** It may outlive Tiller. */
  letGo(): void
}

const guarded = new Map<string, string[]>()
let reaper: ChildProcess | undefined

/**
 * From now on, whatever carries this mark in its environment ends with Tiller, by whatever cause Tiller ends. Called before the
 * process begins, so that no moment is left in which Tiller could die and leave it. Starts the reaper where none runs.
 */
export function guard(mark: string): Guard {
  const tell = (line: string): void => {
    guarded.set(mark, [...(guarded.get(mark) ?? []), line])
    say([line])
  }
  tell(`mark ${mark}`)
  return {
    group: (pid, started) => { tell(`group ${mark} ${pid} ${started ?? ''}`) },
    release: () => {
      if (guarded.delete(mark)) sayLater(`free ${mark}`)
    },
    letGo: () => {
      if (guarded.delete(mark)) say([`free ${mark}`])
    },
  }
}

/** Starts it ahead of the first command; undefined where there is no /bin/sh. */
export function startReaper(): number | undefined {
  if (reaper?.pid === undefined) begin()
  return reaper?.pid
}

/** That something is over can wait: the model is told of it first. */
const LATER_MS = 5
let unsaid: string[] = []

function sayLater(line: string): void {
  if (unsaid.length === 0) setTimeout(say, LATER_MS, []).unref()
  unsaid.push(line)
}

function say(lines: readonly string[]): void {
  const all = [...unsaid, ...lines]
  unsaid = []
  if (all.length === 0) return
  if (reaper?.pid === undefined) begin() // tells it everything, this too
  else reaper.stdin?.write(all.map((line) => `${line}\n`).join(''))
}

function begin(): void {
  // Its own session: no signal to Tiller's group or terminal reaches it. A clean environment: it carries no mark itself.
  const child = spawn('/bin/sh', ['-c', REAPER_SCRIPT, 'tiller-reaper'], {
    cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: { PATH: `${process.env['PATH'] ?? ''}:/usr/bin:/bin`, LC_ALL: 'C' },
  })
  const gone = (): void => {
    if (reaper === child) reaper = undefined // whoever comes next starts another, which is told everything
  }
  child.on('error', gone)
  child.on('exit', gone)
  child.stdin.on('error', gone)
  child.unref()
  ;(child.stdin as Partial<{ unref(): void }>).unref?.()
  reaper = child
  child.stdin.write([...guarded.values()].flat().map((line) => `${line}\n`).join(''))
}
