import type { Settings } from './configure.ts'

const SECRET = /^(apiKey|authorization|x-api-key|.*token.*|.*secret.*)$/i

/** The settings and where each comes from; keys are never shown. */
export function showConfig({ config, sources, warnings }: Settings, only?: string): string {
  const lines: string[] = []
  const visit = (value: unknown, path: string[]): void => {
    const name = path.join('.')
    const isBranch = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    if (isBranch) return Object.entries(value).forEach(([key, inner]) => visit(inner, [...path, key]))
    if (only !== undefined && name !== only && !name.startsWith(`${only}.`)) return
    const shown = SECRET.test(path.at(-1) ?? '') ? '(set, not shown)' : JSON.stringify(value)
    lines.push(`${name} = ${shown}${sources[name] === undefined ? '' : `   (${sources[name]})`}`)
  }
  visit(config, [])
  if (only !== undefined && lines.length === 0) return `There is no setting ${only}.`
  return [...lines, ...warnings.map((warning) => `! ${warning}`)].join('\n')
}
