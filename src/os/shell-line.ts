import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'

export interface ShellLine {
  argv: string[]
  /** Whether the shell tells at its end, on REPORT_FD, how the parts of the last pipe ended and where it stood. */
  reports: boolean
  cleanUp(): void
}

/** Out of the way of what scripts use (3 to 9) and of what bash takes itself (10 and up, 63 and down). */
export const REPORT_FD = 98

/**
 * Set before the person's text, on its first line so that line numbers stay right; the text itself is not changed. `set +x`
 * keeps the trap out of a trace. Bash quotes the first line in a syntax error: `withoutPrelude` takes ours out again.
 */
const TRAP = `{ tiller=("$?" "\${PIPESTATUS[@]}"); set +x; } 2>/dev/null; { printf "%s " "\${tiller[@]}"; printf "\\0%s\\0" "$PWD"; } 2>/dev/null >&${REPORT_FD}`
const EXPORTS = `; { unset IFS; for tiller in $(compgen -e); do printf "%s=%s\\0" "$tiller" "\${!tiller}"; done; } 2>/dev/null >&${REPORT_FD}`
const prelude = (exports: boolean): string => `trap '${TRAP}${exports ? EXPORTS : ''}' EXIT; `

export const withoutPrelude = (output: string): string => output.replaceAll(prelude(false), '').replaceAll(prelude(true), '')

/** A single argument may have 128 KiB on Linux; longer texts go by a file. */
const LONGEST_ARGUMENT = 100_000

/** How to run a text with a shell. Throws where the text is too long for an argument and there is no room for a file. */
export function shellLine(command: string, options: { shell?: string | undefined; exports?: boolean | undefined } = {}): ShellLine {
  const shell = options.shell ?? defaultShell()
  const reports = isBash(shell)
  const text = reports ? prelude(options.exports === true) + command : command
  if (Buffer.byteLength(text) <= LONGEST_ARGUMENT) return { argv: [shell, '-c', text], reports, cleanUp: () => {} }
  const folder = mkdtempSync(join(tmpdir(), 'tiller-command-'))
  const file = join(folder, 'command')
  writeFileSync(file, text, { mode: 0o600 })
  return { argv: [shell, file], reports, cleanUp: () => { rmSync(folder, { recursive: true, force: true }) } }
}

export const isBash = (shell: string): boolean => basename(shell) === 'bash'

/** bash where there is one, else sh. */
export function defaultShell(path = process.env['PATH'] ?? ''): string {
  for (const folder of [...path.split(delimiter), '/bin', '/usr/bin', '/usr/local/bin']) {
    const candidate = join(folder, 'bash')
    if (folder.startsWith('/') && isExecutable(candidate)) return candidate
  }
  return '/bin/sh'
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export interface Report {
  /** Exit codes of the parts of the last pipe. */
  stages: number[]
  cwd: string
  /** All exported variables, where they were asked for. */
  exports: Record<string, string>
}

/** What the shell wrote on REPORT_FD. The command could have written there too: nothing in it is more than a claim of the command's. */
export function readReport(data: Buffer): Report | undefined {
  const [codes, cwd, ...pairs] = data.toString().split('\0')
  const stages = (codes ?? '').trim().split(' ').map(Number)
  if (cwd === undefined || !cwd.startsWith('/') || stages.length < 2 || !stages.every(Number.isInteger)) return undefined
  const exports = pairs.flatMap((pair) => (pair.includes('=') ? [[pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const] : []))
  return { stages: stages.slice(1), cwd, exports: Object.fromEntries(exports) }
}
