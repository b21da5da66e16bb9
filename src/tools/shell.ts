import * as z from 'zod/mini'
import type { Tool } from '../core/ports.ts'
import type { Access } from '../core/record.ts'
import { preparePipes } from '../os/pipes.ts'
import { startReaper } from '../os/reaper.ts'
import { defaultShell, isBash } from '../os/shell-line.ts'
import { commandCall, type CommandDeps } from './command-call.ts'
import { folderFor, freshState, stateAccesses } from './shell-state.ts'

export interface ShellDeps extends CommandDeps {
  /** Every effect that a command line names; `unknown` for what cannot be known. */
  accesses(command: string, cwd: string): Promise<Access[]>
  timeoutSeconds?: number | undefined
}

const input = z.object({
  command: z.string().check(z.minLength(1), z.describe('For bash, passed on byte for byte')),
  timeout: z.optional(z.number().check(z.positive(), z.maximum(86_400), z.describe('Seconds after which it is ended'))),
  background: z.optional(z.boolean().check(z.describe('Start it as a job and return at once; see the `job` tool'))),
  cwd: z.optional(z.string().check(z.describe('Folder to run in, this time'))),
  keep: z.optional(z.boolean().check(z.describe('Keep its last folder and its exported variables for later commands'))),
})
type Input = z.infer<typeof input>

const USUAL_TIMEOUT = 120

/** Runs command lines. Each begins in the working directory with a fresh environment, unless an earlier one was kept. */
export function shell(deps: ShellDeps): Tool<Input> {
  const state = freshState()
  const usual = deps.timeoutSeconds ?? USUAL_TIMEOUT
  return {
    name: 'shell',
    about: `Run a command line with bash. There is no terminal and no stdin: nothing can ask, page or open an editor. It is ended after ${usual} s unless timeout says otherwise. cd and export last for this one command, unless keep is true. What has no end (servers, watchers) belongs in the background. stdout and stderr come together, in the order written; of a long output the beginning and the end.`,
    input,
    async prepare(asked, here) {
      // Ready by the time the gates are passed: the command then does not wait for them.
      void preparePipes()
      startReaper()
      const folder = folderFor(asked.cwd, state, here)
      if ('refused' in folder) return { refused: folder.refused, accesses: [] }
      const refused = refusal(asked, deps.path)
      if (refused !== null) return { refused, accesses: [] }
      const accesses = [...(await accessesOf(deps, asked.command, folder.cwd)), ...stateAccesses(folder.cwd, here.root, state)]
      const timeout = asked.timeout ?? (asked.background ? undefined : usual)
      const call = commandCall(deps, state, { ...asked, ...folder, timeoutMs: timeout === undefined ? undefined : timeout * 1000 }, here)
      const note = [asked.background && 'in the background', asked.keep && 'its folder and variables are kept for later commands', folder.notice].filter(Boolean).join('; ')
      return { accesses, changes: [], preview: { kind: 'command', command: asked.command, cwd: folder.cwd, ...(note === '' ? {} : { note }) }, ...call }
    },
  }
}

function refusal({ command, background, keep }: Input, path: string | null | undefined): string | null {
  if (command.includes('\0')) return 'A command cannot hold NUL bytes. Write them as \\0 for printf, or put them into a file.'
  if (keep && background) return 'keep does not go with background: a job has no end whose folder could be kept. Leave one of them out.'
  if (keep && !isBash(path ?? defaultShell())) return `keep needs bash, and commands run with ${path ?? defaultShell()} here. Leave keep out and put cd and export in front of each command.`
  return null
}

/** What cannot be judged asks. */
async function accessesOf(deps: ShellDeps, command: string, cwd: string): Promise<Access[]> {
  try {
    return await deps.accesses(command, cwd)
  } catch (error) {
    return [{ kind: 'unknown', why: `the command could not be judged: ${error instanceof Error ? error.message : String(error)}`, part: 'program' }]
  }
}
