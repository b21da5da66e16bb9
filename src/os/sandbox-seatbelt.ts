import { join } from 'node:path'
import { hiddenFiles, hiddenFolders, keptFiles, keptFolders, type Places } from './sandbox-places.ts'

/** macOS. Written from Apple's and others' descriptions of the profile language; nobody has tried it yet. */
export function seatbelt(argv: readonly string[], { home, writable, temporary, network }: Places): { argv: string[]; env: Record<string, string> } {
  const folders = [...writable, temporary]
  const profile = [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${folders.map(subpath).join(' ')} (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper") (regex #"^/dev/fd/") (regex #"^/dev/std(out|err)$"))`,
    `(deny file-write* ${writable.flatMap((folder) => [...keptFolders.map((name) => subpath(join(folder, name))), ...keptFiles.map((name) => literal(join(folder, name))), literal(join(folder, '.git'))]).join(' ')})`,
    `(deny file-read* ${[...hiddenFolders(home).map(subpath), ...hiddenFiles(home).map(literal)].join(' ')})`,
    '(deny signal) (allow signal (target same-sandbox))',
    '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd"))',
    ...(network ? [] : ['(deny network*)', '(allow network* (local ip "localhost:*"))', '(allow network-outbound (remote ip "localhost:*"))']),
  ].join('\n')
  return { argv: ['/usr/bin/sandbox-exec', '-p', profile, ...argv], env: { TMPDIR: temporary } }
}

const quoted = (path: string): string => `"${path.replace(/["\\]/g, String.raw`\$&`)}"`
const subpath = (path: string): string => `(subpath ${quoted(path)})`
const literal = (path: string): string => `(literal ${quoted(path)})`
