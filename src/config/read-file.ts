import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import type { JSONPath, Node, ParseError } from 'jsonc-parser'
import { checkLayer, type Issue, type Layer } from './schema.ts'

export type FileLayer =
  | { ok: true; layer: Layer; warnings: string[]; /** `file:line` of a key. */ where: (path: JSONPath) => string }
  | { ok: false; errors: string[] }

/** One configuration file; null: there is none. Every error names file, line, key and what was expected. */
export async function readLayer(file: string): Promise<FileLayer | null> {
  const read = readRegular(file)
  if (read === null) return null
  if ('why' in read) return { ok: false, errors: [`${file}: ${read.why}`] }
  const text = read.text.replace(/^\uFEFF/, '')
  if (text.trim() === '') return { ok: true, layer: {}, warnings: [], where: () => file }

  const { parseTree, getNodeValue, findNodeAtLocation, printParseErrorCode } = await import('jsonc-parser')
  const problems: ParseError[] = []
  const tree = parseTree(text, problems, { allowTrailingComma: true, disallowComments: false })
  const at = (offset: number): string => `${file}:${lineOf(text, offset)}`
  const [problem] = problems
  if (problem || !tree) return { ok: false, errors: [`${at(problem?.offset ?? 0)}: not JSON (comments and trailing commas are fine)${problem ? `: ${spaced(printParseErrorCode(problem.error))}` : ''}`] }
  const twice = repeatedKeys(tree)
  if (twice.length > 0) return { ok: false, errors: twice.map(({ name, offset }) => `${at(offset)}: "${name}" stands twice in one object, expected once`) }

  const where = (path: JSONPath): string => at(findNodeAtLocation(tree, path)?.offset ?? tree.offset)
  const value: unknown = getNodeValue(tree)
  const checked = checkLayer(value)
  if (!checked.ok) return { ok: false, errors: checked.issues.map((issue) => `${where(issue.path)}: ${say(issue, value)}`) }
  return { ok: true, layer: checked.layer, warnings: rightsWarnings(file, read.mode, checked.layer), where }
}

/** `limits.steps: expected a whole number above 0, or null, found "many"`. What may be a secret is not repeated. */
export function say(issue: Issue, whole: unknown): string {
  const key = issue.path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${part}`)).join('')
  const found = issue.message.startsWith('unknown') || issue.path.some((part) => ['apiKey', 'headers', 'env'].includes(String(part))) ? '' : shown(issue.path.reduce<unknown>(step, whole))
  return `${key ? `${key}: ` : ''}${issue.message}${found}`
}

const step = (value: unknown, part: string | number): unknown => (typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>)[part] : undefined)

function shown(value: unknown): string {
  if (value === undefined) return ', found nothing'
  if (Array.isArray(value)) return ', found a list'
  if (typeof value === 'object' && value !== null) return ', found an object'
  const written = JSON.stringify(value)
  return `, found ${written.length > 60 ? `a ${typeof value}` : written}`
}

/** A pipe or a device under this name must not stop the start. */
function readRegular(file: string): { text: string; mode: number } | { why: string } | null {
  let handle: number
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    return { why: `cannot be read (${code ?? 'unknown error'}), expected a readable file` }
  }
  try {
    const stat = fstatSync(handle)
    if (!stat.isFile()) return { why: 'is not a regular file, expected JSON with comments' }
    if (stat.size > MOST_BYTES) return { why: `is larger than ${MOST_BYTES} bytes` }
    return { text: readFileSync(handle, 'utf8'), mode: stat.mode }
  } finally {
    closeSync(handle)
  }
}
const MOST_BYTES = 4 * 1024 * 1024

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length
const spaced = (code: string): string => code.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()

function repeatedKeys(node: Node): { name: string; offset: number }[] {
  const names = new Set<string>()
  return (node.children ?? []).flatMap((child) => {
    const deeper = repeatedKeys(child)
    const name = child.type === 'property' ? child.children?.[0] : undefined
    if (!name) return deeper
    const repeated = names.has(String(name.value))
    names.add(String(name.value))
    return repeated ? [{ name: String(name.value), offset: name.offset }, ...deeper] : deeper
  })
}

/** A key that stands in the file itself is everybody's who can read the file. */
function rightsWarnings(file: string, mode: number, layer: Layer): string[] {
  const open = mode & 0o077
  if (open === 0 || process.platform === 'win32' || !holdsKey(layer)) return []
  return [`${file} holds a key and can be read by other users (mode ${(mode & 0o777).toString(8)}): chmod 600 ${file}`]
}

export function holdsKey(layer: Layer): boolean {
  const literal = (key: string | undefined): boolean => key !== undefined && !/^[$!]/.test(key)
  const secretHeader = (headers: Record<string, string> | undefined): boolean => Object.keys(headers ?? {}).some((name) => /auth|key|token|cookie|secret/i.test(name))
  return (
    Object.values(layer.providers ?? {}).some((provider) => literal(provider.apiKey) || secretHeader(provider.headers)) ||
    Object.values(layer.mcp ?? {}).some((server) => secretHeader(server.headers) || secretHeader(server.env))
  )
}
