import { existsSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Rule } from '../core/record.ts'
import { userFile, type Places } from './places.ts'
import { readLayer, say } from './read-file.ts'
import { checkLayer, parseRule, presets, ruleOf, type Config, type Issue, type Layer } from './schema.ts'
import { tighten } from './tighten.ts'

/** What the command line says; as typed, so that this one place judges it. */
export interface Options {
  model?: string
  effort?: string
  mode?: string
  allow?: string[]
  deny?: string[]
  checks?: string[]
  limits?: { steps?: number; minutes?: number; calls?: number; tokens?: number; cost?: number }
  sessionDir?: string
  /** `--no-sandbox` */
  sandbox?: false
  /** `--config`: this file instead of all files and the environment. Who names a file trusts it. */
  config?: string
}

export interface Surroundings extends Places {
  cwd: string
  root: string
  options: Options
  /** The person trusts the root: remembered, or `--trust`. */
  trusted: boolean
  /** Granted "always in this project" (trust.ts). */
  granted?: readonly Rule[]
}

export type Loaded =
  | {
      ok: true
      config: Config
      /** What set each key that is not at its default: `limits.steps` -> `/r/.agentrc:7`, `TILLER_MODE`, `--mode`. */
      sources: Record<string, string>
      warnings: string[]
      /** The project's file, and which of its keys wait for trust. */
      project: { file: string; ignored: string[] } | null
    }
  | { ok: false; errors: string[] }

type Read = { layer: Layer; where: (path: (string | number)[]) => string }

/** Defaults, the person's file, the project's, the environment, the options: later wins; rules and hooks add up. */
export async function loadConfig(surroundings: Surroundings): Promise<Loaded> {
  const { root, cwd, env, options, trusted } = surroundings
  const errors: string[] = []
  const warnings: string[] = []
  const read = async (file: string): Promise<Read | null> => {
    const found = await readLayer(file)
    if (found?.ok === false) errors.push(...found.errors)
    if (found?.ok) warnings.push(...found.warnings)
    return found?.ok ? found : null
  }
  const merged: Merged = { values: presets(), rules: [], sources: {} }

  let project: { file: string; ignored: string[] } | null = null
  if (options.config !== undefined) {
    const file = resolve(cwd, options.config)
    if (!existsSync(file)) errors.push(`--config: ${file} does not exist, expected a configuration file`)
    add(merged, await read(file))
  } else {
    const own = userFile(surroundings)
    add(merged, await read(own))
    const file = join(root, '.agentrc')
    const found = sameFile(file, own) ? null : await read(file)
    if (found) {
      const { taken, ignored } = trusted ? { taken: found.layer, ignored: [] } : tighten(found.layer, merged.values as Config)
      add(merged, { layer: taken, where: found.where })
      project = { file, ignored }
      if (ignored.length > 0) warnings.push(`${file} can only tighten until this folder is trusted (--trust, /trust); ignored: ${ignored.join(', ')}`)
    }
    addChecked(merged, errors, environment(env, cwd), ENVIRONMENT)
  }
  merged.rules.push(...(surroundings.granted ?? []))
  addChecked(merged, errors, given(options, cwd), OPTIONS)
  addRules(merged.rules, errors, options)

  if (errors.length > 0) return { ok: false, errors }
  return { ok: true, config: { ...merged.values, rules: merged.rules.map((rule) => atHome(rule, surroundings.home)) } as Config, sources: merged.sources, warnings, project }
}

interface Merged { values: Record<string, unknown>; rules: Rule[]; sources: Record<string, string> }

function add(merged: Merged, read: Read | null): void {
  if (!read) return
  const { rules = [], ...layer } = read.layer
  merged.rules.push(...rules.map(ruleOf))
  if (rules.length > 0) merged.sources['rules'] = [merged.sources['rules'], read.where(['rules'])].filter(Boolean).join(', ')
  merged.values = merge(merged.values, layer, [], (path) => {
    merged.sources[path.join('.')] = read.where(path)
  })
}

function merge(base: Record<string, unknown>, layer: object, path: string[], note: (path: string[]) => void): Record<string, unknown> {
  const result = { ...base }
  for (const [name, value] of Object.entries(layer) as [string, unknown][]) {
    const deeper = [...path, name]
    const before = result[name]
    if (isObject(value) && !WHOLE.has(path.join('.'))) {
      result[name] = merge(isObject(before) ? before : {}, value, deeper, note)
      continue
    }
    result[name] = path[0] === 'hooks' && Array.isArray(before) && Array.isArray(value) ? [...(before as unknown[]), ...(value as unknown[])] : value
    note(deeper)
  }
  return result
}

/** Entries of these are replaced as a whole: half a server of one layer and half of another is neither. */
const WHOLE: ReadonlySet<string> = new Set(['mcp'])
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const ENVIRONMENT: Readonly<Record<string, string>> = { model: 'TILLER_MODEL', effort: 'TILLER_EFFORT', mode: 'TILLER_MODE', sessionDir: 'TILLER_SESSION_DIR' }

function environment(env: Places['env'], cwd: string): object {
  const set = Object.entries(ENVIRONMENT).flatMap(([key, name]) => (env[name] ? [[key, env[name]] as const] : []))
  return absoluteSessionDir(Object.fromEntries(set), cwd)
}

const OPTIONS: Readonly<Record<string, string>> = {
  model: '--model', effort: '--effort', mode: '--mode', checks: '--check', sessionDir: '--session-dir', sandbox: '--no-sandbox',
  'limits.steps': '--max-steps', 'limits.minutes': '--max-minutes', 'limits.calls': '--max-calls', 'limits.tokens': '--max-tokens', 'limits.cost': '--max-cost',
}

function given({ model, effort, mode, checks, limits, sessionDir, sandbox }: Options, cwd: string): object {
  const all = { model, effort, mode, checks: checks?.length ? checks : undefined, limits: limits && defined(limits), sessionDir, sandbox: sandbox === false ? { enabled: false } : undefined }
  return absoluteSessionDir(defined(all), cwd)
}

const defined = (values: object): Record<string, unknown> => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
/** In a file it is relative to the root; typed, it is relative to where it was typed. */
const absoluteSessionDir = (values: Record<string, unknown>, cwd: string): object =>
  typeof values['sessionDir'] === 'string' && values['sessionDir'] !== '' ? { ...values, sessionDir: resolve(cwd, values['sessionDir']) } : values

function addChecked(merged: Merged, errors: string[], value: object, names: Readonly<Record<string, string>>): void {
  const name = (path: (string | number)[]): string => names[path.slice(0, 2).join('.')] ?? names[String(path[0])] ?? path.join('.')
  const checked = checkLayer(value)
  if (checked.ok) add(merged, { layer: checked.layer, where: name })
  else errors.push(...checked.issues.map((issue: Issue) => say(issue, value).replace(/^[^:]*/, name(issue.path))))
}

function addRules(rules: Rule[], errors: string[], options: Options): void {
  for (const verdict of ['allow', 'deny'] as const) {
    for (const written of options[verdict] ?? []) {
      const parsed = parseRule(verdict, written)
      if (parsed.ok) rules.push(parsed.rule)
      else errors.push(`--${verdict} '${written}': expected ${parsed.expected}`)
    }
  }
}

/** `~/` in a rule for files is this person's home folder. */
const atHome = (rule: Rule, home: string): Rule => ((rule.kind === 'read' || rule.kind === 'write') && rule.match.startsWith('~/') ? { ...rule, match: home + rule.match.slice(1) } : rule)

function sameFile(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b)
  } catch {
    return false
  }
}
