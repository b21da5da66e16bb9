import { Mode } from '../core/record.ts'
import type { Config, Layer } from './schema.ts'

/**
 * What a project's file may say before a person trusted the folder: only what makes things stricter than they
 * are. Everything else, harmless or not, is left out and named, so that a new key is closed until somebody thinks.
 */
export function tighten(layer: Layer, current: Pick<Config, 'mode' | 'limits' | 'sandbox' | 'shell'>): { taken: Layer; ignored: string[] } {
  const taken: Layer = {}
  const rules = layer.rules?.filter((rule) => rule.allow === undefined) ?? []
  if (rules.length > 0) taken.rules = rules
  if (layer.mode && strictness(layer.mode) < strictness(current.mode)) taken.mode = layer.mode
  const limits = lower(layer.limits, current.limits)
  if (limits) taken.limits = limits
  const sandbox = {
    ...(layer.sandbox?.enabled === true ? { enabled: true as const } : {}),
    ...(layer.sandbox?.network === 'deny' ? { network: 'deny' as const } : {}),
  }
  if (Object.keys(sandbox).length > 0) taken.sandbox = sandbox
  const env = {
    ...(layer.shell?.env?.inherit === false ? { inherit: false } : {}),
    ...(layer.shell?.env?.drop ? { drop: [...new Set([...current.shell.env.drop, ...layer.shell.env.drop])] } : {}),
  }
  if (Object.keys(env).length > 0) taken.shell = { env }
  return { taken, ignored: [...untaken(layer, taken, current), ...(layer.rules?.some((rule) => rule.allow) ? ['rules that allow'] : [])] }
}

const strictness = (mode: Mode): number => Mode.options.indexOf(mode)

const LIMITS = ['steps', 'minutes', 'calls', 'tokens', 'cost'] as const
function lower(wanted: Layer['limits'], current: Config['limits']): Layer['limits'] {
  const lowered = LIMITS.flatMap((name) => {
    const value = wanted?.[name]
    const now = current[name]
    return typeof value === 'number' && (now === null || value < now) ? [[name, value] as const] : []
  })
  return lowered.length > 0 ? Object.fromEntries(lowered) : undefined
}

/** The keys that were left out and would have changed something; `limits.steps` and the like for those in sections. */
function untaken(wanted: object, taken: object, current: object, path = ''): string[] {
  return Object.entries(wanted).flatMap(([name, value]) => {
    const key = path ? `${path}.${name}` : name
    const got: unknown = Reflect.get(taken, name)
    const now: unknown = Reflect.get(current, name)
    if (key === 'rules' || JSON.stringify(value) === JSON.stringify(now)) return []
    if (SECTIONS.has(key)) return untaken(value as object, (got as object | undefined) ?? {}, (now as object | undefined) ?? {}, key)
    return got === undefined ? [key] : []
  })
}
const SECTIONS: ReadonlySet<string> = new Set(['limits', 'shell', 'shell.env', 'sandbox', 'compaction'])
