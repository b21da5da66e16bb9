import type { Settings } from './configure.ts'

/** The values of keys in our environment and configuration, so that they reach neither the log nor a model, in whatever form they are shown. */
export function secretsOf(env: NodeJS.ProcessEnv, providers: Settings['config']['providers']): string[] {
  const named = Object.entries(env).flatMap(([name, value]) => (/_(API_KEY|ACCESS_KEY|TOKEN|SECRET|PASSWORD)$/.test(name) ? [value] : []))
  const configured = Object.values(providers).flatMap(({ apiKey, apiKeyEnv, headers }) => [
    apiKeyEnv === undefined ? undefined : env[apiKeyEnv],
    apiKey?.startsWith('$') ? env[apiKey.slice(1).replace(/^\{(.*)\}$/, '$1')] : apiKey?.startsWith('!') ? undefined : apiKey,
    ...Object.entries(headers ?? {}).flatMap(([name, value]) => (/auth|key|token|cookie|secret/i.test(name) ? [value.replace(/^(Bearer|Basic) /i, '')] : [])),
  ])
  return [...new Set([...named, ...configured])].filter((value): value is string => value !== undefined && isTelling(value))
}

/** Not what people put where some key must stand (`ollama`, `lm-studio`): that is a word of many texts. */
const isTelling = (value: string): boolean => value.length >= 12 || (value.length >= 8 && /\d/.test(value) && /[a-z]/i.test(value))
