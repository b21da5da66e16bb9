import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setUserKey } from '../config/user-settings.ts'
import { trust } from '../config/trust.ts'
import { makePrivateFolder } from '../session/private.ts'
import type { About, Connection, ModelChoice, UiHost } from '../ui/port.ts'
import { answer } from './answers.ts'
import { instructionsOf } from './assemble.ts'
import { clipboardImage, namedImages } from './attach-image.ts'
import { copyText } from './clipboard.ts'
import type { Connections } from './connections.ts'
import { editText } from './external-editor.ts'
import { fileCompletion } from './file-completion.ts'
import { putBackFor, treeFor } from './go-back.ts'
import { folderOf } from './open-session.ts'
import { shortFolder } from './place.ts'
import { sessionChoices } from './session-choices.ts'

declare const TILLER_VERSION: string

export interface HostParts {
  connections: Connections
  demo: boolean
  /** Ends what runs, and the process. */
  leave: UiHost['leave']
  startDemo(): Promise<Connection>
}

/** What the screen needs from outside, as `cli` has it. */
export function uiHost({ connections, demo, leave, startDemo }: HostParts): UiHost {
  const { place, settings } = connections
  const { config } = settings
  // Read anew where it may have become another one (the demo of a first run).
  const folder = (): string => folderOf(connections.place, connections.settings)
  return {
    about: aboutOf(connections, demo),
    warnings: demo ? [] : [...settings.warnings, ...instructionsOf(place, settings).notes],
    settings: {
      keys: Object.fromEntries(Object.entries(config.keys).map(([action, keys]) => [action, keys ?? []])),
      theme: config.theme, fullscreen: connections.options.fullscreen === true, plain: process.env['TERM'] === 'dumb', notify: config.notify !== 'off',
      limits: config.limits,
    },
    sessions: sessionChoices(connections),
    models: () => modelChoices(connections),
    mustBeUsable: (model) => connections.current().models.mustBeUsable(model),
    contextWindow: (model) => connections.current().contextWindow(model),
    files: fileCompletion(place),
    images: {
      named: (text) => namedImages(text, connections.place.cwd, connections.current().blobs, new AbortController().signal),
      clipboard: () => clipboardImage(connections.current().blobs, new AbortController().signal),
    },
    history: historyOf(join(folder(), 'prompt-history')),
    externalEditor: editText,
    copy: copyText,
    tree: treeFor(connections),
    putBack: putBackFor(connections),
    answer: (name, argument, signal) => answer(connections, name, argument, signal),
    custom: { list: () => Promise.resolve([]), expand: (name) => Promise.reject(new Error(`There is no command /${name}.`)) },
    trust: trustQuestion(connections),
    firstRun: connections.current().model === null ? firstRun(connections, startDemo) : null,
    output: (sha256) => Promise.resolve(connections.current().blobs.get(sha256)).then((data) => (data ? new TextDecoder().decode(data) : undefined)),
    remember: ({ theme }) => void setUserKey(['theme'], theme, settings.places),
    leave,
  }
}

export function aboutOf({ place, settings, current }: Pick<Connections, 'place' | 'settings' | 'current'>, demo: boolean): About {
  return {
    version: TILLER_VERSION, root: place.root, cwd: place.cwd, folder: shortFolder(place.cwd, place.home), branch: place.repository?.branch ?? null,
    model: demo ? 'scripted model' : current().model, mode: current().agent.state.mode ?? settings.config.mode, demo,
  }
}

async function modelChoices(connections: Connections): Promise<ModelChoice[]> {
  const { models } = connections.current()
  const found = [...(await models.discover()), ...models.list()]
  // What can be used stands first.
  return [...found.filter(({ ready }) => ready), ...found.filter(({ ready }) => !ready)].map(({ id, limits, ready }) => ({
    id, ready,
    note: [limits.contextWindow === null ? null : `${Math.round(limits.contextWindow / 1000)}k window${limits.guessed ? ' (a guess)' : ''}`, limits.price === null ? 'price unknown' : `$${limits.price.input} in, $${limits.price.output} out`].filter(Boolean).join(' · '),
  }))
}

/** One JSON string a line, so that a prompt of several lines stays one. */
function historyOf(file: string): UiHost['history'] {
  return {
    load: () => {
      if (!existsSync(file)) return Promise.resolve([])
      const lines = readFileSync(file, 'utf8').split('\n').slice(-1_000)
      return Promise.resolve(lines.flatMap((line) => {
        try {
          const text: unknown = JSON.parse(line)
          return typeof text === 'string' ? [text] : []
        } catch {
          return []
        }
      }))
    },
    append: (text) => {
      try {
        makePrivateFolder(dirname(file))
        appendFileSync(file, `${JSON.stringify(text)}\n`, { mode: 0o600 })
      } catch {
        // A history that cannot be kept is no reason to lose the prompt.
      }
    },
  }
}

/** Asked only where the folder brings something that waits for it. */
function trustQuestion(connections: Connections): UiHost['trust'] {
  const { place, settings } = connections
  const { project, trusted } = settings
  if (trusted || !project || project.ignored.length === 0) return null
  return {
    folder: shortFolder(place.root, place.home),
    brings: [`${basename(project.file)}: ${project.ignored.join(', ')}`],
    answer: (yes) => {
      if (!yes) return
      trust(place.root, settings.places)
      void connections.reconfigure()
    },
  }
}

function firstRun(connections: Connections, startDemo: () => Promise<Connection>): UiHost['firstRun'] {
  return {
    keys: [
      { variable: 'ANTHROPIC_API_KEY', provider: 'Anthropic' }, { variable: 'OPENAI_API_KEY', provider: 'OpenAI' },
      { variable: 'GEMINI_API_KEY', provider: 'Google' }, { variable: 'OPENROUTER_API_KEY', provider: 'OpenRouter' },
    ],
    discover: async (signal) => {
      const byProvider = Map.groupBy(await connections.current().models.discover(signal), ({ id }) => id.slice(0, id.indexOf('/')))
      return [...byProvider].map(([name, models]) => ({ name, url: '', models: models.map(({ id }) => id) }))
    },
    use: (model) => connections.useModel(model),
    demo: startDemo,
  }
}
