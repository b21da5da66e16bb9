import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { addProjectRules } from '../config/trust.ts'
import { userFolder } from '../config/places.ts'
import { loadInstructions, type Instructions } from '../config/instructions.ts'
import { systemPrompt } from '../config/system-prompt.ts'
import { addUserRules } from '../config/user-settings.ts'
import type { Blobs, Host, Tool } from '../core/ports.ts'
import type { FactOf } from '../core/record.ts'
import { redact } from '../core/redact.ts'
import { openAgent, type Agent } from '../loop/agent.ts'
import type { Look } from '../loop/reconcile.ts'
import type { AgentDeps } from '../loop/work.ts'
import type { EnvironmentOptions } from '../os/environment.ts'
import { wait } from '../os/wait.ts'
import type { SessionLog } from '../session/log.ts'
import { whyNotRead } from '../session/open-log.ts'
import { textOrFile, type Settings } from './configure.ts'
import type { Options } from './options.ts'
import type { Place } from './place.ts'
import type { HeldCommands } from './sandbox.ts'
import { secretsOf } from './secrets.ts'

export interface Assembly {
  log: SessionLog
  place: Place
  settings: Settings
  options: Options
  tools: readonly Tool[]
  blobs: Blobs
  sandbox: Pick<HeldCommands, 'works'>
  model: AgentDeps['model']
  /** Taken when neither the log nor the command line names one. */
  defaultModel: string | null
  checkpoint: Host['checkpoint']
  canAsk(): boolean
  /** Somebody looks at a screen: at a limit they are asked. */
  canPause: boolean
}

/** An agent over this log, once it is read, with everything the loop needs from outside. */
export async function assemble(parts: Assembly): Promise<Agent> {
  const { log, settings, options, place } = parts
  const { config } = settings
  const secrets = secretsOf(process.env, config.providers)
  const system = systemOf(parts, secrets)
  await log.rest().catch((error: unknown) => {
    throw new Error(whyNotRead(log.file, error).message, { cause: error })
  })
  const agent = await openAgent(log, {
    host: hostOf(parts),
    tools: parts.tools,
    model: parts.model,
    system: () => Promise.resolve(system),
    cwd: place.cwd,
    // Read anew each time: a folder that is trusted meanwhile brings its own.
    get policy() {
      return { root: place.root, rules: settings.config.rules, sandbox: parts.sandbox.works(), alwaysSandbox: settings.config.sandbox.enabled === true, wideRoot: place.tooWide }
    },
    get limits() {
      return settings.config.limits
    },
    get checks() {
      return settings.config.checks
    },
    get checkAttempts() {
      return settings.config.checkAttempts
    },
    get compaction() {
      return settings.config.compaction
    },
    redact: (text) => redact(text, secrets),
    canAsk: () => parts.canAsk(),
    canPause: () => parts.canPause,
    get fallback() {
      return settings.config.fallback
    },
    saveGrant: async (scope, rules) => {
      const saved = scope === 'user' ? await addUserRules(rules, settings.places) : addProjectRules(place.root, rules, settings.places)
      if (!saved.ok) throw new Error(`The grant holds for this session only: ${saved.why}`)
    },
    defaults: { model: parts.defaultModel, effort: config.effort, mode: config.mode },
  }, lookLater(place.cwd, { inherit: config.shell.env.inherit, drop: config.shell.env.drop }, (text) => redact(text, secrets)))
  if (log.readOnly === null) settle(agent, parts, options)
  return agent
}

/** What this start asks for and the log does not say yet. A log may tighten the mode that is configured here; to loosen it takes a person. */
function settle(agent: Agent, { defaultModel, settings: { config } }: Assembly, options: Options): void {
  const { state } = agent
  const wanted: FactOf<'set'> = { type: 'set' }
  const model = options.model === undefined ? (state.model ?? defaultModel) : config.model
  if (model !== null && model !== state.model) wanted.model = model
  if (state.effort === null || options.effort !== undefined) if (config.effort !== state.effort) wanted.effort = config.effort
  const mode = options.mode === undefined && state.mode !== null && STRICTNESS.indexOf(state.mode) < STRICTNESS.indexOf(config.mode) ? state.mode : config.mode
  if (mode !== state.mode) wanted.mode = mode
  if (Object.keys(wanted).length > 1) agent.note(wanted)
}

const STRICTNESS = ['plan', 'ask', 'edit', 'auto', 'full']

/** Project instructions; `notes` say what was cut or left out. */
export const instructionsOf = (place: Place, { config, places }: Pick<Settings, 'config' | 'places'>): Instructions =>
  loadInstructions({ root: place.root, cwd: place.cwd, names: config.instructions, own: join(userFolder(places), 'AGENTS.md') })

/** Taken once a start, so that the prefix of every request stays the same. */
function systemOf({ place, settings: { config, places }, options }: Assembly, secrets: readonly string[]): Pick<FactOf<'system'>, 'text' | 'instructions'> {
  const { repository } = place
  const files = instructionsOf(place, { config, places }).files.map((file) => {
    const text = redact(file.text, secrets)
    return text === file.text ? file : { ...file, text, sha256: createHash('sha256').update(text).digest('hex') }
  })
  const custom = textOrFile('--system', options.system, place.cwd)
  const append = textOrFile('--append-system', options.appendSystem, place.cwd)
  const text = systemPrompt({
    facts: {
      cwd: place.cwd, root: place.root, platform: process.platform, shell: config.shell.path ?? 'bash', day: new Date().toISOString().slice(0, 10),
      git: repository ? { head: repository.head, branch: repository.branch } : null, mode: config.mode,
    },
    instructions: files,
    ...(custom === undefined ? {} : { system: custom }),
    ...(append === undefined ? {} : { append }),
  })
  return { text, ...(files.length > 0 ? { instructions: files.map(({ path, sha256 }) => ({ path, sha256 })) } : {}) }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** Nine letters and digits: short on a screen, and an id that every provider takes. */
export const newId = (): string => Array.from(randomBytes(9), (byte) => ALPHABET[byte % ALPHABET.length]).join('')

const hostOf = ({ blobs, checkpoint }: Assembly): Host => ({
  now: () => Date.now(),
  id: newId,
  random: () => Math.random(),
  // Given a long string, Node takes several times as long.
  sha256: (data) => createHash('sha256').update(typeof data === 'string' ? Buffer.from(data) : data).digest('hex'),
  wait,
  blobs,
  checkpoint,
})

/** What a crash left is looked at only where there was one, which is seldom. */
function lookLater(cwd: string, child: EnvironmentOptions, tell: (text: string) => string): Look {
  const loaded = async (): Promise<Look> => (await import('./crash-look.ts')).crashLook(cwd, child, tell)
  return {
    hashOf: async (path) => (await loaded()).hashOf(path),
    tidy: async (path) => (await loaded()).tidy(path),
    lives: async (spawn) => (await loaded()).lives(spawn),
    outputOf: async (spawn) => (await loaded()).outputOf(spawn),
    commitOn: async (head, call) => (await loaded()).commitOn(head, call),
  }
}
