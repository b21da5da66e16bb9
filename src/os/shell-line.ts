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
/**
 * Before each command: whether a part of the pipe before it failed and only its last part was seen, by `$?` or `&&`. Where nothing did it runs
 * no command, so that `$_` stays; where something did, `$_` is set again.
 */
const PIPES = `set -T; trap '[[ \${#PIPESTATUS[@]} -gt 1 && \${PIPESTATUS[*]::\${#PIPESTATUS[@]}-1} == *[1-9]* && -n \${tiller_at:=.$_} && -n \${tiller_of:=\${PIPESTATUS[*]}} ]] && { printf "|%s\\0" "$tiller_of" >&${REPORT_FD}; tiller_to=\${tiller_at#.}; unset tiller_at tiller_of; : "$tiller_to"; } 2>/dev/null' DEBUG; `
const prelude = ({ exports, pipes }: { exports: boolean; pipes: boolean }): string => `trap '${TRAP}${exports ? EXPORTS : ''}' EXIT; ${pipes ? PIPES : ''}`

/** The longer ones first: one is the beginning of another. */
const PRELUDES = [true, false].flatMap((pipes) => [true, false].map((exports) => prelude({ exports, pipes })))
export const withoutPrelude = (output: string): string => PRELUDES.reduce((text, each) => text.replaceAll(each, ''), output)

/**
 * Whether a pipe is followed by something. In loops and functions a look before each command would take its time, and would be seen
 * where the shell is told to show what it does.
 */
const watchesPipes = (command: string): boolean => command.length < 10_000 && /(?:^|[^|])\|&?[^|][\s\S]*(?:;|&&|\|\||\n)\s*[^\s#]/.test(command) && !/\b(?:for|while|until|select|function|trap|xtrace|functrace|BASH_COMMAND)\b|\(\s*\)|\bset\s+-\w*[xT]/.test(command)

/** A single argument may have 128 KiB on Linux; longer texts go by a file. */
const LONGEST_ARGUMENT = 100_000

/** How to run a text with a shell. Throws where the text is too long for an argument and there is no room for a file. */
export function shellLine(command: string, options: { shell?: string | undefined; exports?: boolean | undefined } = {}): ShellLine {
  const shell = options.shell ?? defaultShell()
  const reports = isBash(shell)
  const text = reports ? prelude({ exports: options.exports === true, pipes: watchesPipes(command) }) + command : command
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
  /** The same of pipes before it in which another part than the last one failed. */
  earlier: number[][]
  cwd: string
  /** All exported variables, where they were asked for. */
  exports: Record<string, string>
}

/** What the shell wrote on REPORT_FD. The command could have written there too: nothing in it is more than a claim of the command's. */
export function readReport(data: Buffer): Report | undefined {
  const fields = data.toString().split('\0')
  const failing = fields.findIndex((field) => !field.startsWith('|'))
  const [codes, cwd, ...pairs] = fields.slice(Math.max(0, failing))
  const stages = (codes ?? '').trim().split(' ').map(Number)
  if (cwd === undefined || !cwd.startsWith('/') || stages.length < 2 || !stages.every(Number.isInteger)) return undefined
  const exports = pairs.flatMap((pair) => (pair.includes('=') ? [[pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const] : []))
  return { stages: stages.slice(1), earlier: pipesIn(fields.slice(0, Math.max(0, failing)), stages.slice(1)), cwd, exports: Object.fromEntries(exports) }
}

const SIGPIPE_EXIT = 128 + 13

/** Each once, though it was seen before every command that came next; the last pipe is told elsewhere. */
function pipesIn(fields: readonly string[], last: readonly number[]): number[][] {
  const pipes = fields.map((field) => (field.match(/\d+/g) ?? []).map(Number)).filter((codes) => codes.length > 1 && codes.slice(0, -1).some((code) => code !== 0 && code !== SIGPIPE_EXIT))
  return pipes.filter((codes, index) => String(codes) !== String(pipes[index - 1])).filter((codes, index, all) => index < all.length - 1 || String(codes) !== String(last))
}
