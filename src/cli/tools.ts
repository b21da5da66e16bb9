import { join } from 'node:path'
import { isKnownRecord } from '../core/path.ts'
import type { Blobs, Tool } from '../core/ports.ts'
import type { Access } from '../core/record.ts'
import { isProtected, isSecret } from '../core/sensitive.ts'
import type { Agent } from '../loop/agent.ts'
import { environment } from '../os/environment.ts'
import { accessesOf } from '../os/shell-syntax.ts'
import { imageKeeper } from '../session/blob.ts'
import { blobsOf, outputsOf } from '../session/companion.ts'
import type { SessionLog } from '../session/log.ts'
import { edit } from '../tools/edit.ts'
import { find } from '../tools/find.ts'
import { git } from '../tools/git.ts'
import { grep } from '../tools/grep.ts'
import { job } from '../tools/job.ts'
import { backgroundJobs, type Jobs } from '../tools/jobs.ts'
import { ls } from '../tools/ls.ts'
import { read } from '../tools/read.ts'
import { redactionOf } from '../tools/redaction.ts'
import { shell } from '../tools/shell.ts'
import { todo } from '../tools/todo.ts'
import { write } from '../tools/write.ts'
import type { Settings } from './configure.ts'
import { sandboxFor, type HeldCommands } from './sandbox.ts'
import { UsageError, type Options } from './options.ts'
import { secretsOf } from './secrets.ts'
import type { Place } from './place.ts'

export interface Tools {
  tools: Tool[]
  jobs: Jobs
  sandbox: HeldCommands
  /** Ends of background jobs go to this agent's log. */
  attach(agent: Agent): void
}

interface Wanted { log: SessionLog; place: Place; settings: Settings; options: Options; blobs: Blobs }

/** The tools of this start, with what each needs. */
export function toolsFor({ log, place, settings, options, blobs }: Wanted): Tools {
  const { config } = settings
  let agent: Agent | null = null
  const child = { inherit: config.shell.env.inherit, drop: [...config.shell.env.drop, ...keyVariables(config.providers)] }
  const jobs = backgroundJobs({
    before: () => new Set(log.records.flatMap((record) => (isKnownRecord(record) && record.type === 'spawn' && record.job !== undefined ? [record.job] : []))).size,
    onEnd: ({ id, call, command, ended, because }) =>
      agent?.note({ type: 'job', id, call, command, exit: ended?.exit ?? null, ...(ended?.signal ? { signal: ended.signal } : {}), ...(because ? { because } : {}) }),
  })
  const held = sandboxFor(place, settings, () => agent?.state.mode ?? config.mode)
  const judged = accessesOfCommand(place, settings)
  const accesses = async (command: string, cwd: string): Promise<Access[]> => {
    await held.ready()
    return judged(command, cwd)
  }
  const commands = shell({
    accesses, blobs, jobs, sandbox: held.wrap, environment: () => environment(child), outputDir: outputsOf(log.file), path: config.shell.path, timeoutSeconds: config.shell.timeoutSeconds,
    redaction: redactionOf(secretsOf(process.env, config.providers)),
    blobPath: ({ sha256 }) => join(blobsOf(log.file), sha256.slice(0, 2), sha256.slice(2)),
  })
  const keep = imageKeeper(blobsOf(log.file))
  const keeping = (tool: Tool): Tool => ({ ...tool, prepare: (input, here) => tool.prepare(input, { ...here, keep }) })
  const all: Tool[] = [read({ blobs }), keeping(write), keeping(edit), ls, find, grep, commands, job({ jobs }), git({ environment: child, wrap: (argv) => held.wrap(argv, { cwd: place.cwd }) ?? argv }), todo({ shell: commands })]
  return { tools: chosen(all, options.tools), jobs, sandbox: held, attach: (to) => void (agent = to) }
}

/** What a command line would do, as policy judges it. */
export const accessesOfCommand = (place: Place, { config }: Pick<Settings, 'config'>) => (command: string, cwd: string): Promise<Access[]> =>
  accessesOf(command, { cwd, root: place.root, home: place.home, isSecret, isProtected, ...(config.shell.path === null ? {} : { shell: config.shell.path }) })

/** Commands never see the variables that hold the providers' keys. */
const keyVariables = (providers: Settings['config']['providers']): string[] =>
  Object.values(providers).flatMap(({ apiKeyEnv, apiKey }) => [...(apiKeyEnv === undefined ? [] : [apiKeyEnv]), ...(apiKey?.startsWith('$') ? [apiKey.slice(1)] : [])])

/** `--tools a,b` names them all; `--tools -c` takes one away. */
function chosen(all: readonly Tool[], wanted: string | undefined): Tool[] {
  if (wanted === undefined) return [...all]
  const names = wanted.split(',').map((name) => name.trim()).filter((name) => name !== '')
  const without = names.filter((name) => name.startsWith('-')).map((name) => name.slice(1))
  const only = names.filter((name) => !name.startsWith('-'))
  const unknown = [...without, ...only].find((name) => !all.some((tool) => tool.name === name))
  if (unknown !== undefined) throw new UsageError(`--tools: there is no tool ${unknown}; expected some of ${all.map((tool) => tool.name).join(', ')}`)
  return all.filter((tool) => (only.length === 0 || only.includes(tool.name)) && !without.includes(tool.name))
}
