import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { Cwds, Surroundings } from './shell-access.ts'

/** What bash runs itself before it looks for a program of that name. */
const BUILTINS: ReadonlySet<string> = new Set([
  'echo', 'printf', 'test', '[', 'pwd', 'true', 'false', ':', 'cd', 'read', 'set', 'exit', 'break', 'continue', 'return', 'wait', 'type', 'command', 'builtin', 'exec', 'eval', 'source', '.', 'time', 'trap',
])

/**
 * The plain name of a program that is the machine's own; null where the word leads to some other file, such as
 * `/tmp/evil/ls`, or would be found first in the project, a temporary folder or a relative entry of the PATH.
 */
export function isSystemProgram(program: string, { root, path = process.env['PATH'] ?? '' }: Surroundings, cwds: Cwds): string | null {
  const entries = path.split(':')
  const foreign = (file: string): boolean => [root, ...(cwds ?? []), tmpdir(), '/tmp', '/var/tmp', '/dev/shm'].some((folder) => folder !== '/' && (file === folder || file.startsWith(`${folder}/`)))
  if (program.includes('/')) return isAbsolute(program) && entries.includes(dirname(program)) && !foreign(real(program)) ? basename(program) : null
  if (BUILTINS.has(program)) return program
  for (const entry of entries) {
    if (!isAbsolute(entry)) return null
    const file = join(entry, program)
    if (isProgram(file)) return foreign(file) || foreign(real(file)) ? null : program
  }
  // Nothing of that name: the shell will say so.
  return program
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

function real(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
