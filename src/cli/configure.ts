import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadConfig } from '../config/layers.ts'
import type { Places } from '../config/places.ts'
import type { Config } from '../config/schema.ts'
import { readTrust } from '../config/trust.ts'
import { UsageError, type Options } from './options.ts'
import type { Place } from './place.ts'

export interface Settings {
  config: Config
  sources: Record<string, string>
  /** One line each, for stderr or the screen. */
  warnings: string[]
  trusted: boolean
  /** The project's own configuration, and what of it waits for trust. */
  project: { file: string; ignored: string[] } | null
  places: Places
}

/** All layers of configuration for this start. A wrong one is a usage error that names file, line and key. */
export async function configure(options: Options, place: Place): Promise<Settings> {
  const places: Places = { home: place.home, env: process.env }
  const remembered = readTrust(place.root, places)
  const trusted = options.trust === true || remembered.trusted
  const loaded = await loadConfig({
    ...places, cwd: place.cwd, root: place.root, trusted, granted: remembered.rules,
    options: {
      ...pick(options, 'model', 'effort', 'mode', 'sessionDir', 'config'), allow: options.allow, deny: options.deny, checks: options.check,
      limits: { ...given('steps', options.maxSteps), ...given('minutes', options.maxMinutes), ...given('calls', options.maxCalls), ...given('tokens', options.maxTokens), ...given('cost', options.maxCost) },
      ...(options.sandbox ? {} : { sandbox: false }),
    },
  })
  if (!loaded.ok) throw new UsageError(loaded.errors.join('\n'))
  return { ...loaded, warnings: [...remembered.warnings, ...loaded.warnings, ...unbuilt(loaded.config)], trusted, places }
}

/** What may be configured and is not done yet: whoever relies on it must know. */
const unbuilt = ({ hooks, mcp }: Config): string[] => [
  ...(Object.keys(hooks).length > 0 ? [`hooks are configured (${Object.keys(hooks).join(', ')}), but this version runs none: nothing is stopped or started by them`] : []),
  ...(Object.keys(mcp).length > 0 ? [`tool servers are configured (${Object.keys(mcp).join(', ')}), but this version has no MCP client`] : []),
]

/** `--system @file` and the like: the text, or the file's. */
export function textOrFile(option: string, value: string | undefined, cwd: string): string | undefined {
  if (value === undefined || !value.startsWith('@')) return value
  return readFileArgument(option, value.slice(1), cwd)
}

export function readFileArgument(option: string, name: string, cwd: string): string {
  const file = resolve(cwd, name)
  if (!existsSync(file)) throw new UsageError(`${option}: there is no file ${file}`)
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${option}: ${file} cannot be read (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown cause'})`)
  }
}

function pick<K extends 'model' | 'effort' | 'mode' | 'sessionDir' | 'config'>(options: Options, ...keys: K[]): Partial<Record<K, string>> {
  const picked: Partial<Record<K, string>> = {}
  for (const key of keys) {
    const value = options[key]
    if (value !== undefined) picked[key] = value
  }
  return picked
}

const given = <K extends string>(key: K, value: number | undefined): Partial<Record<K, number>> => (value === undefined ? {} : ({ [key]: value } as Record<K, number>))
