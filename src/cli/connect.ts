import { dirname, join } from 'node:path'
import { isKnownRecord } from '../core/path.ts'
import type { Blobs, Tool } from '../core/ports.ts'
import type { SessionRecord } from '../core/record.ts'
import type { Agent } from '../loop/agent.ts'
import type { Models } from '../model/registry.ts'
import { checkpoints, type Checkpoints } from '../session/checkpoint.ts'
import { openBlobs } from '../session/blob.ts'
import { blobsOf } from '../session/companion.ts'
import type { SessionLog } from '../session/log.ts'
import { assemble } from './assemble.ts'
import type { Jobs } from '../tools/jobs.ts'
import type { Settings } from './configure.ts'
import { lateAgent } from './late-agent.ts'
import { modelsOf } from './models.ts'
import { UsageError, type Options } from './options.ts'
import type { Place } from './place.ts'
import type { HeldCommands } from './sandbox.ts'
import { tidyWhenQuiet } from './tidy.ts'
import { toolsFor } from './tools.ts'
import { warmForCommand } from './warm.ts'

export interface Connected {
  agent: Agent
  log: SessionLog
  models: Models
  tools: readonly Tool[]
  blobs: Blobs
  jobs: Jobs
  /** Only the end of the session was read, and the agent waits: reads the rest, when it is called. */
  rest?: () => Promise<Connected>
  /** Resolves when the agent is there, at once where nothing had to be read. */
  ready(): Promise<unknown>
  checkpoints: Checkpoints
  /** What this session would ask now; null: none is set. */
  readonly model: string | null
  /** Records of a session that is not yet on the disk: they are written with its first input. */
  fresh: readonly SessionRecord[]
  /** Of a model that was used or is listed; null: unknown. */
  contextWindow(model: string): number | null
  close(): void
}

export interface ToConnect {
  log: SessionLog
  place: Place
  settings: Settings
  options: Options
  canAsk(): boolean
  /** Somebody looks at a screen, so a run may wait to be told how it goes on. */
  canPause?: boolean
  /** Without a model there is nothing to do: exit 2 and how to set one. */
  mustHaveModel: boolean
  msPerDelta?: number
}

/** An agent over a session, with its models and tools. */
export async function connect(wanted: ToConnect): Promise<Connected> {
  const { log, place, settings, options } = wanted
  const blobs = openBlobs(blobsOf(log.file))
  const models = modelsOf(settings, options, place.cwd, blobs, wanted.msPerDelta)
  const defaultModel = settings.config.model ?? lastModel(log) ?? (await models.firstUsable()) ?? null
  if (defaultModel === null && wanted.mustHaveModel) throw new UsageError(NO_MODEL)
  const { limits, fallback } = settings.config
  if (limits.cost != null) for (const id of [defaultModel, fallback]) if (id !== null) await refuseUnknownPrice(models, id, options)
  const { tools, sandbox, attach, jobs } = toolsFor({ log, place, settings, options, blobs })
  if (settings.config.sandbox.enabled === true) await mustHold(sandbox)
  const kept = { dir: join(dirname(log.file), 'checkpoints'), root: place.root }
  const states = checkpoints(kept)
  const windows = new Map<string, number | null>()
  const { partial } = log
  const open = (): Promise<Agent> => assemble({
    log, place, settings, options, tools, blobs, sandbox, defaultModel,
    model: async (id) => {
      const model = await models.get(id)
      windows.set(id, model.limits.contextWindow)
      return model
    },
    checkpoint: (why, signal, extra) => states.take(why, signal, extra),
    canAsk: () => wanted.canAsk(),
    canPause: wanted.canPause ?? false,
  })
  const late = partial ? lateAgent(open) : null
  const agent = late ?? (await open())
  attach(agent)
  warmForCommand(agent, states, tools.some(({ name }) => name === 'shell'))
  const stopTidying = wanted.canPause && log.readOnly === null ? tidyWhenQuiet(agent, kept) : () => undefined
  const connected: Connected = {
    agent, log, models, tools, blobs, jobs, checkpoints: states, ready: () => late?.ready() ?? Promise.resolve(),
    get model() {
      return agent.state.model ?? defaultModel
    },
    fresh: !partial && log.records.length > 0 && log.records.every((record) => record.type === 'session' || record.type === 'set') ? (log.records as readonly SessionRecord[]) : [],
    contextWindow: (model) => {
      if (!windows.has(model)) windows.set(model, models.list().find(({ id }) => id === model)?.limits.contextWindow ?? null)
      return windows.get(model) ?? null
    },
    close: () => {
      stopTidying()
      log.close()
    },
  }
  return late ? { ...connected, rest: () => late.open().then(() => connected) } : connected
}

/** Who wants every command held must not get one that is not. */
async function mustHold(sandbox: HeldCommands): Promise<void> {
  await sandbox.ready()
  if (!sandbox.works()) throw new UsageError(`sandbox.enabled is true, and there is no sandbox here: ${sandbox.why()}. Install bubblewrap, or set it to "auto"`)
}

const NO_MODEL =
  'no model is set, and neither a key nor a local server was found. Name one with --model provider/model or "model" in ~/.config/tiller/agentrc, with its key in ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY; or start Ollama, LM Studio or llama.cpp; or try tiller demo'

function lastModel(log: SessionLog): string | null {
  const known = log.records.filter(isKnownRecord)
  const set = known.findLast((record) => record.type === 'set' && record.model !== undefined)
  if (set?.type === 'set') return set.model ?? null
  // Of a session of which only the end was read, what it asked last.
  const step = known.findLast((record) => record.type === 'step')
  return step?.model ?? null
}

async function refuseUnknownPrice(models: Models, id: string, options: Options): Promise<void> {
  if (options.maxCost === undefined) return
  const model = await models.get(id)
  if (model.limits.price === null) throw new UsageError(`--max-cost: the price of ${id} is unknown, so its cost cannot be limited. Set providers.<name>.models.<model>.price in .agentrc, or use --max-tokens`)
}
