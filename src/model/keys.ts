import { ModelError } from '../core/ports.ts'

export interface KeyConfig {
  /** A key, `$NAME` of an environment variable, or `!command` whose output is the key. */
  apiKey?: string | undefined
  apiKeyEnv?: string | undefined
}

export interface KeySources {
  environment: Readonly<Record<string, string | undefined>>
  /** Runs a command line of the person's own configuration; its output. */
  runCommand: (command: string) => Promise<string>
}

export interface Key {
  value: string | undefined
  /** What to do when the key is refused or missing. */
  hint: string
}

/** The key of a provider: as configured, else from the usual variables. It is never part of an error. */
export async function findKey(provider: string, { apiKey, apiKeyEnv }: KeyConfig, usual: readonly string[], { environment, runCommand }: KeySources): Promise<Key> {
  if (apiKey?.startsWith('!')) return { value: await fromCommand(provider, apiKey.slice(1).trim(), runCommand), hint: `Check the command in providers.${provider}.apiKey.` }
  if (apiKey?.startsWith('$')) return fromVariables([apiKey.slice(1).replace(/^\{(.*)\}$/, '$1')], environment)
  if (apiKey !== undefined && apiKey !== '') return { value: apiKey, hint: `Check providers.${provider}.apiKey in .agentrc.` }
  return fromVariables([...(apiKeyEnv === undefined ? [] : [apiKeyEnv]), ...usual], environment, provider)
}

/** Without running any command: whether there is a key to try. */
export function hasKey({ apiKey, apiKeyEnv }: KeyConfig, usual: readonly string[], environment: KeySources['environment']): boolean {
  if (apiKey?.startsWith('$')) return Boolean(environment[apiKey.slice(1).replace(/^\{(.*)\}$/, '$1')])
  return Boolean(apiKey) || [...(apiKeyEnv === undefined ? [] : [apiKeyEnv]), ...usual].some((name) => Boolean(environment[name]))
}

function fromVariables(names: readonly string[], environment: KeySources['environment'], provider?: string): Key {
  const found = names.find((name) => Boolean(environment[name]))
  if (found !== undefined) return { value: environment[found]?.trim(), hint: `Check ${found}.` }
  return { value: undefined, hint: names.length > 0 ? `Set ${names.join(' or ')}.` : `Set providers.${provider ?? '<name>'}.apiKey or apiKeyEnv in .agentrc.` }
}

async function fromCommand(provider: string, command: string, runCommand: KeySources['runCommand']): Promise<string> {
  const key = await runCommand(command).catch((error: unknown) => {
    throw new ModelError({ kind: 'auth', message: `The command in providers.${provider}.apiKey failed: ${error instanceof Error ? error.message.split('\n')[0] : 'unknown cause'}. Run it by hand to see why.` })
  })
  if (key.trim() === '') throw new ModelError({ kind: 'auth', message: `The command in providers.${provider}.apiKey printed nothing. It must print the key.` })
  return key.trim()
}
