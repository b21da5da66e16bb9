import { join } from 'node:path'
import { exec, textOf } from '../os/exec.ts'
import { BOUND, sizeOfCheckpoints } from '../session/checkpoint-prune.ts'
import { whyNotWritable } from '../session/store.ts'
import { size } from '../ui/figures.ts'
import type { Settings } from './configure.ts'
import { modelsOf } from './models.ts'
import { folderOf } from './open-session.ts'
import type { Options } from './options.ts'
import type { Place } from './place.ts'

declare const TILLER_VERSION: string

/** What works here and what does not, one line each; what does not says what to do. */
export async function doctor(place: Place, settings: Settings, options: Options): Promise<string> {
  const lines: string[] = []
  const say = (good: boolean | null, what: string): void => void lines.push(`${good === null ? '-' : good ? 'ok' : '!!'}  ${what}`)
  say(true, `tiller ${TILLER_VERSION}, Node ${process.version} (${process.execPath}), ${process.platform} ${process.arch}`)
  say(null, `folder ${place.cwd}, root ${place.root}${settings.trusted ? ', trusted' : ', not trusted'}`)
  const git = await exec({ argv: ['git', '--version'], cwd: place.cwd })
  say(git.exit === 0, git.exit === 0 ? textOf(git.stdout).trim() : 'git is not there: the git tool needs it, and undo for what commands change')
  say(place.repository !== null, place.repository ? `repository, ${place.repository.branch ?? 'detached'}` : 'not a git repository: everything works but the git tool')
  const rg = await exec({ argv: ['rg', '--version'], cwd: place.cwd })
  say(rg.exit === 0 ? true : null, rg.exit === 0 ? textOf(rg.stdout).split('\n')[0]?.trim() ?? 'ripgrep' : 'ripgrep is not there: searching is slower, with the same answers')
  const unwritable = whyNotWritable(folderOf(place, settings))
  say(unwritable === null, unwritable?.message ?? `sessions in ${folderOf(place, settings)}`)
  say(null, await checkpointsText(place, folderOf(place, settings)))
  for (const warning of settings.warnings) say(false, warning)
  await modelLines(place, settings, options, say)
  say(isTerminal(), isTerminal() ? `terminal ${process.env['TERM'] ?? 'unknown'}` : 'no terminal: headless only')
  return lines.join('\n')
}

/** What undo keeps, how much room it takes, and for how long. */
async function checkpointsText({ root }: Place, folder: string): Promise<string> {
  const bytes = await sizeOfCheckpoints({ dir: join(folder, 'checkpoints'), root })
  return `checkpoints of the files, for undo: ${size(bytes)}; kept for ${BOUND.days} days and up to ${size(BOUND.bytes)}, of the last ${BOUND.runs} runs of a session in use in any case`
}

const isTerminal = (): boolean => process.stdin.isTTY && process.stdout.isTTY

async function modelLines(place: Place, settings: Settings, options: Options, say: (good: boolean | null, what: string) => void): Promise<void> {
  const models = modelsOf(settings, options, place.cwd, { get: () => undefined })
  const local = await models.discover()
  say(local.length > 0 ? true : null, local.length > 0 ? `local models: ${local.map(({ id }) => id).join(', ')}` : 'no local model server answers (Ollama, LM Studio, llama.cpp)')
  const id = settings.config.model ?? (await models.firstUsable()) ?? null
  if (id === null) return say(false, 'no model: set a key (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY), start a local server, or try tiller demo')
  try {
    const { limits } = await models.get(id)
    say(true, `model ${id}, window ${limits.contextWindow ?? 'unknown'}${limits.guessed ? ' (a guess)' : ''}, price ${limits.price ? `$${limits.price.input}/$${limits.price.output} a million tokens` : 'unknown'}`)
  } catch (error) {
    say(false, `model ${id}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
