import type { Blobs, Tool } from '../core/ports.ts'
import type { Agent } from '../loop/agent.ts'
import type { SessionLog } from '../session/log.ts'
import { edit } from '../tools/edit.ts'
import { find } from '../tools/find.ts'
import { git } from '../tools/git.ts'
import { grep } from '../tools/grep.ts'
import { ls } from '../tools/ls.ts'
import { read } from '../tools/read.ts'
import { todo } from '../tools/todo.ts'
import { write } from '../tools/write.ts'
import type { Settings } from './configure.ts'
import { UsageError, type Options } from './options.ts'
import type { Place } from './place.ts'

interface Wanted { log: SessionLog; place: Place; settings: Settings; options: Options; blobs: Blobs }

/** The tools of this start, with what each needs. */
export async function toolsFor({ options, blobs }: Wanted): Promise<{ tools: Tool[]; sandboxWorks: boolean; attach(agent: Agent): void }> {
  const all: Tool[] = [read({ blobs }), write, edit, ls, find, grep, git(), todo]
  return { tools: chosen(all, options.tools), sandboxWorks: false, attach: () => undefined }
}

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
