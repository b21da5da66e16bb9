import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { bubblewrap } from './sandbox-bubblewrap.ts'
import { seatbelt } from './sandbox-seatbelt.ts'

/** What a command may do in the sandbox: read the machine but for keys, write these folders, reach nobody. */
export interface Held {
  cwd: string
  /** Absolute and real. */
  root: string
  /** Folders that are writable, relative to the root or absolute; a temporary folder of its own always is. */
  write: readonly string[]
  network: boolean
}

export interface Wrapped { argv: string[]; env: Record<string, string> }

export type Sandbox = { works: true; kind: 'bubblewrap' | 'seatbelt'; wrap: (argv: readonly string[], held: Held) => Wrapped } | { works: false; why: string }

let found: Promise<Sandbox> | undefined

/** The sandbox of this machine, tried out once: what does not truly hold is none. */
export function sandbox(): Promise<Sandbox> {
  found ??= tryOut()
  return found
}

async function tryOut(): Promise<Sandbox> {
  const kind = process.platform === 'linux' ? 'bubblewrap' : process.platform === 'darwin' ? 'seatbelt' : null
  if (!kind) return { works: false, why: `there is no sandbox for ${process.platform}` }
  const probe = realpathSync(mkdtempSync(join(tmpdir(), 'tiller-probe-')))
  const outside = join(homedir(), `.${basename(probe)}`)
  try {
    // It starts, writes where it may, and not elsewhere: the home folder is looked at from outside.
    const { argv, env } = wrap(kind, ['/bin/sh', '-c', 'echo x > "$1/inside"; { echo x > "$2"; } 2>/dev/null; ! test -w /', 'probe', probe, outside], { cwd: probe, root: probe, write: ['.'], network: false })
    const failed = (await run(argv, env)) ?? (existsSync(join(probe, 'inside')) && !existsSync(outside) ? null : `${kind} does not hold here`)
    return failed === null ? { works: true, kind, wrap: (line, held) => wrap(kind, line, held) } : { works: false, why: failed }
  } finally {
    rmSync(probe, { recursive: true, force: true })
    rmSync(outside, { force: true })
  }
}

function wrap(kind: 'bubblewrap' | 'seatbelt', argv: readonly string[], { cwd, root, write, network }: Held): Wrapped {
  const places = { cwd, root, home: homedir(), writable: write.map((folder) => resolve(root, folder)), temporary: temporary(), network }
  return kind === 'bubblewrap' ? bubblewrap(argv, places) : seatbelt(argv, places)
}

let own: string | undefined

/** One for the sandboxed commands of this process, so that what one leaves in /tmp the next one finds; gone when it ends. */
function temporary(): string {
  if (own === undefined) {
    const made = realpathSync(mkdtempSync(join(tmpdir(), 'tiller-sandbox-')))
    process.on('exit', () => rmSync(made, { recursive: true, force: true }))
    own = made
  }
  return own
}

function run(argv: readonly string[], env: Record<string, string>): Promise<string | null> {
  const [program = '', ...rest] = argv
  return new Promise((settle) => {
    execFile(program, rest, { env: { ...process.env, ...env }, timeout: 10_000, encoding: 'utf8' }, (error, _stdout, stderr) => {
      if (!error) settle(null)
      else if (error.code === 'ENOENT') settle(`${program} is not installed`)
      else settle(`${program} does not work here: ${stderr.trim().split('\n')[0] || (typeof error.code === 'number' ? 'what it should hold was not held' : error.message)}`)
    })
  })
}
