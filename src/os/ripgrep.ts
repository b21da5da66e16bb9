import { accessSync, constants, realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { environment } from './environment.ts'
import { exec } from './exec.ts'

/** Where ripgrep is installed: never one that lies in the folder which is worked on, whoever put it there. */
export function findRipgrep(root: string, path = process.env['PATH'] ?? ''): string | null {
  for (const folder of path.split(':').filter(isAbsolute)) {
    try {
      const program = realpathSync(join(folder, 'rg'))
      accessSync(program, constants.X_OK)
      if (!program.startsWith(`${root}/`) && !folder.startsWith(`${root}/`)) return program
    } catch {
      // Not in this one.
    }
  }
  return null
}

/** As long as the arguments of one start may be anywhere. */
const MOST_ARGUMENTS = 200_000
const MOST_OUTPUT = 16 * 1024 * 1024

/** Those of the files in which the coarse pattern is found. null where ripgrep did not do its work: then each has to be looked at. */
export async function candidates(ripgrep: string, pattern: string, paths: readonly string[], signal: AbortSignal): Promise<string[] | null> {
  const found = new Set<string>()
  for (const some of inPortions(paths)) {
    const { reason, exit, stdout } = await exec({
      argv: [ripgrep, '--no-config', '--files-with-matches', '--null', '--text', '--no-messages', '--no-ignore', '--hidden', '--color=never', '-e', pattern, '--', ...some],
      cwd: '/', env: environment(), signal, window: { head: MOST_OUTPUT, tail: 0 },
    })
    // 1: nothing found. 2: something went wrong, maybe with one file only.
    if (reason !== 'exited' || (exit !== 0 && exit !== 1) || stdout.cut > 0) return null
    for (const path of stdout.head.toString().split('\0')) if (path !== '') found.add(path)
  }
  return paths.filter((path) => found.has(path))
}

function inPortions(paths: readonly string[]): string[][] {
  const portions: string[][] = []
  let room = 0
  for (const path of paths) {
    room -= Buffer.byteLength(path) + 10
    if (room < 0 || portions.length === 0) {
      portions.push([])
      room = MOST_ARGUMENTS - Buffer.byteLength(path)
    }
    portions.at(-1)?.push(path)
  }
  return portions
}
