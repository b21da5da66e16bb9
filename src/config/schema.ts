import * as z from 'zod/mini'
import { Effort, Mode, type Rule } from '../core/record.ts'
import { nearest } from './nearest.ts'

/**
 * Everything `.agentrc` may hold, once: schema, default and comment of each key. The types, the errors and
 * `.agentrc.example` come from here. A layer may leave out any key; the defaults are the first layer.
 */

/** `schema` judges what a file says; `preset` is the default; `about` is its comment in the example. */
export interface Key<T> { schema: z.ZodMiniType<T>; preset: T; about: string }
export interface Section<K extends Keys = Keys> { about: string; keys: K }
export type Keys = { readonly [name: string]: Key<unknown> | Section }

const key = <T>(schema: z.ZodMiniType<T>, preset: NoInfer<T>, about: string): Key<T> => ({ schema, preset, about })
const section = <K extends Keys>(about: string, keys: K): Section<K> => ({ about, keys })

// Each message says what is expected; the reader of a file adds where it stands.
const text = z.string({ error: 'a string in quotes' }).check(z.minLength(1, { error: 'a string that is not empty' }))
const texts = z.array(text, { error: 'a list of strings' })
const flag = z.boolean({ error: 'true or false' })
const positive = z.number({ error: 'a number above 0' }).check(z.positive({ error: 'a number above 0' }))
const whole = z.int({ error: 'a whole number' }).check(z.nonnegative({ error: 'a whole number, 0 or more' }))
const counting = z.int({ error: 'a whole number above 0' }).check(z.positive({ error: 'a whole number above 0' }))
const oneOf = <const V extends readonly string[]>(values: V): z.ZodMiniEnum<{ [K in V[number]]: K }> => z.enum(values, { error: `one of ${values.join(', ')}` })
const orNull = <T>(schema: z.ZodMiniType<T>, what: string): z.ZodMiniType<T | null> => z.union([schema, z.null()], { error: `${what}, or null` }) as z.ZodMiniType<T | null>
const named = <T>(schema: z.ZodMiniType<T>, what: string): z.ZodMiniType<Record<string, T>> => z.record(z.string(), schema, { error: `an object in { }: ${what}` })

/** An object that knows all its keys: a misspelt one is an error that names the nearest. */
function shape<S extends z.core.$ZodShape>(fields: S): z.ZodMiniObject<S, z.core.$strict> {
  const known = Object.keys(fields)
  return z.strictObject(fields, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return 'an object in { }'
      return issue.keys.map((name) => `unknown key "${name}"${suggestion(name, known)}`).join('\n')
    },
  })
}

function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near ? `, did you mean "${near}"?` : `; known here: ${known.join(', ')}`
}

const Price = shape({ input: z.number({ error: 'US dollars for a million tokens' }), output: z.number({ error: 'US dollars for a million tokens' }), cacheRead: z.exactOptional(z.number({ error: 'a number' })), cacheWrite: z.exactOptional(z.number({ error: 'a number' })) })
const ModelEntry = shape({
  contextWindow: z.exactOptional(counting), maxOutput: z.exactOptional(counting), images: z.exactOptional(flag),
  price: z.exactOptional(Price), effort: z.exactOptional(texts),
})
export type ModelEntry = z.infer<typeof ModelEntry>

export const PROVIDER_TYPES = ['anthropic', 'openai', 'openai-compatible', 'google'] as const
const Provider = shape({
  type: z.exactOptional(oneOf(PROVIDER_TYPES)),
  baseURL: z.exactOptional(z.string({ error: 'a URL that begins with http:// or https://' }).check(z.regex(/^https?:\/\/\S+$/, { error: 'a URL that begins with http:// or https://' }))),
  /** The key itself, `$NAME` of a variable, or `!command` whose output it is. */
  apiKey: z.exactOptional(text),
  apiKeyEnv: z.exactOptional(text),
  headers: z.exactOptional(named(text, 'names and values of HTTP headers')),
  models: z.exactOptional(named(ModelEntry, 'models by name')),
  /** How long a reply may be silent. */
  idleSeconds: z.exactOptional(positive),
})
export type Provider = z.infer<typeof Provider>

const RULE_KINDS = ['exec', 'read', 'write', 'net', 'tool'] as const
const kind = z.exactOptional(oneOf(RULE_KINDS))
/** Written `{ "allow": "exec", "match": "npm test" }`. */
const RuleEntry = shape({ allow: kind, ask: kind, deny: kind, match: text }).check(
  z.check((payload) => {
    if (payload.issues.length > 0) return
    const verdicts = VERDICTS.filter((verdict) => payload.value[verdict] !== undefined)
    if (verdicts.length !== 1) payload.issues.push({ code: 'custom', message: 'exactly one of allow, ask, deny', input: payload.value })
  }),
)
export type RuleEntry = z.infer<typeof RuleEntry>
const VERDICTS = ['allow', 'ask', 'deny'] as const

export function ruleOf(entry: RuleEntry): Rule {
  for (const verdict of VERDICTS) {
    const ruleKind = entry[verdict]
    if (ruleKind) return { verdict, kind: ruleKind, match: entry.match }
  }
  throw new Error('a rule without a verdict passed the schema')
}

/** `exec:npm test`, as `--allow` and `--deny` take it. */
export function parseRule(verdict: Rule['verdict'], written: string): { ok: true; rule: Rule } | { ok: false; expected: string } {
  const [, ruleKind, match] = /^(\w+):(.+)$/s.exec(written) ?? []
  const checked = RuleEntry.safeParse({ [verdict]: ruleKind, match })
  if (checked.success) return { ok: true, rule: ruleOf(checked.data) }
  const issue = checked.error.issues[0]
  return { ok: false, expected: ruleKind === undefined || issue?.path.length !== 1 ? `kind:match with a kind of ${RULE_KINDS.join(', ')}, such as 'exec:npm test'` : issue.message }
}

const runLimits = { steps: z.exactOptional(orNull(counting, 'a whole number above 0')), minutes: z.exactOptional(orNull(positive, 'a number above 0')), calls: z.exactOptional(orNull(counting, 'a whole number above 0')), tokens: z.exactOptional(orNull(counting, 'a whole number above 0')), cost: z.exactOptional(orNull(positive, 'US dollars above 0')) }

export const HOOK_EVENTS = ['session-start', 'input', 'before-call', 'after-call', 'before-stop', 'outcome'] as const
const Hook = shape({ command: text, match: z.exactOptional(text), timeoutSeconds: z.exactOptional(positive) })
export type Hook = z.infer<typeof Hook>
export type HookEvent = (typeof HOOK_EVENTS)[number]
const hookList = z.exactOptional(z.array(Hook, { error: 'a list of { "command", "match", "timeoutSeconds" }' }))
const Hooks = shape(Object.fromEntries(HOOK_EVENTS.map((event) => [event, hookList])) as Record<HookEvent, typeof hookList>)

const McpServer = shape({
  command: z.exactOptional(text), args: z.exactOptional(z.array(z.string(), { error: 'a list of strings' })), env: z.exactOptional(named(z.string({ error: 'a string in quotes' }), 'environment variables')), cwd: z.exactOptional(text),
  url: z.exactOptional(text), headers: z.exactOptional(named(text, 'names and values of HTTP headers')),
  enabled: z.exactOptional(flag), timeoutSeconds: z.exactOptional(positive), tools: z.exactOptional(texts),
}).check(z.refine((server) => (server.command === undefined) !== (server.url === undefined), { error: 'either a command (a program on this machine) or a url (a server)' }))
export type McpServer = z.infer<typeof McpServer>

export const KEYS = {
  model: key(orNull(text, 'provider/model in quotes'), null, 'provider/model, such as "anthropic/claude-sonnet-4-5"; null: the first provider with a key, else a local server that answers'),
  fallback: key(orNull(text, 'provider/model in quotes'), null, 'provider/model that takes over for the rest of a run when the model fails for good (overloaded, out of quota, not to be reached); null: none'),
  effort: key(oneOf(Effort.options), 'medium', 'how much the model thinks: none, low, medium, high, max'),
  mode: key(oneOf(Mode.options), 'ask', 'how much is allowed unasked: plan, ask, edit, auto, full'),
  providers: key(named(Provider, 'providers by name'), {}, 'by name: { "type", "baseURL", "apiKey" (a string, "$NAME" or "!command"), "apiKeyEnv", "headers", "models", "idleSeconds" (how long a reply may be silent; 300) }; built in: anthropic, openai, google, openrouter, ollama, lmstudio, llamacpp'),
  rules: key(z.array(RuleEntry, { error: 'a list of rules such as { "allow": "exec", "match": "npm test" }' }), [], 'such as { "allow": "exec", "match": "npm test" }; allow, ask or deny of exec, read, write, net, tool; deny beats ask beats allow; all layers add up'),
  checks: key(texts, [], 'commands that prove the work; a run that changed files is verified only if they pass'),
  checkAttempts: key(counting, 3, 'how often a failing check goes back to the model'),
  limits: section('a run ends at the first one reached; null: no limit', {
    steps: key(orNull(counting, 'a whole number above 0'), 200, 'model requests'),
    minutes: key(orNull(positive, 'a number above 0'), 60, 'minutes'),
    calls: key(orNull(counting, 'a whole number above 0'), null, 'tool calls'),
    tokens: key(orNull(counting, 'a whole number above 0'), null, 'tokens, in and out'),
    cost: key(orNull(positive, 'US dollars above 0'), null, 'US dollars; needs a model whose price is known'),
    sameCall: key(counting, 3, 'the same call with the same result, before the model is told that it goes in circles'),
    failedEdits: key(counting, 3, 'the same edit failing, before the model is told'),
    session: key(shape(runLimits), {}, 'the same keys (steps, minutes, calls, tokens, cost) for the whole session'),
  }),
  shell: section('the shell tool', {
    path: key(orNull(text, 'the path of a shell'), null, 'the shell; null: bash, else sh'),
    timeoutSeconds: key(positive, 120, 'the time of a command that names none'),
    env: section('what commands see of the environment', {
      inherit: key(flag, true, 'pass on the environment of Tiller; false: only PATH, HOME, LANG and the like'),
      drop: key(texts, ['*_API_KEY', '*_TOKEN'], 'names that are not passed on; * is any text'),
    }),
  }),
  sandbox: section('what holds commands that run unasked (Linux: bubblewrap, macOS: Seatbelt)', {
    enabled: key(z.union([oneOf(['auto']), flag], { error: '"auto", true or false' }), 'auto', '"auto": where it works, for commands that were not approved; true: for every command; false: never'),
    network: key(oneOf(['deny', 'allow']), 'deny', 'network in the sandbox: deny or allow'),
    write: key(texts, ['.'], 'folders that are writable in it, relative to the root or absolute'),
  }),
  compaction: section('what happens when the context fills', {
    auto: key(flag, true, 'compact before the window is full'),
    reserveTokens: key(whole, 16_384, 'room kept for the reply'),
    keepTokens: key(whole, 20_000, 'the newest part that is kept word for word'),
  }),
  instructions: key(texts, ['AGENTS.md', 'CLAUDE.md'], 'file names of project instructions, looked for from the root down to the working directory'),
  sessionDir: key(text, '.agent/sessions', 'where sessions are kept, relative to the root or absolute'),
  hooks: key(Hooks, {}, `commands by event (${HOOK_EVENTS.join(', ')}): a list of { "command", "match", "timeoutSeconds" }`),
  mcp: key(named(McpServer, 'MCP servers by name'), {}, 'MCP servers by name: { "command", "args", "env", "cwd" } or { "url", "headers" }; also "enabled", "timeoutSeconds", "tools"'),
  keys: key(named(z.union([text, texts, z.null()], { error: 'a key such as "ctrl+x", a list of them, or null' }), 'keys by action'), {}, 'keys by action, such as { "interrupt": "ctrl+x" }; null takes one away'),
  theme: key(text, 'auto', 'the colours: auto, dark, light, or a name that /theme lists'),
  notify: key(oneOf(['auto', 'bell', 'system', 'off']), 'auto', 'how you are told that a run ended or a question waits: auto, bell, system, off'),
} as const satisfies Keys

type Values<K extends Keys> = { -readonly [N in keyof K]: K[N] extends Section<infer S> ? Values<S> : K[N] extends Key<infer T> ? T : never }
type Written<K extends Keys> = { -readonly [N in keyof K]?: K[N] extends Section<infer S> ? Written<S> : K[N] extends Key<infer T> ? T : never }

/** What one layer says: any part of it. */
export type Layer = Written<typeof KEYS>
/** All layers together. `rules` are in the words of the log. */
export type Config = Omit<Values<typeof KEYS>, 'rules'> & { rules: Rule[] }

const layerSchema = (keys: Keys): z.ZodMiniType => shape(Object.fromEntries(Object.entries(keys).map(([name, entry]) => [name, z.exactOptional('keys' in entry ? layerSchema(entry.keys) : entry.schema)])))
const Layer = layerSchema(KEYS)

export type Issue = { path: (string | number)[]; message: string }

/** Judges what a file or the options say. Several issues are several errors. */
export function checkLayer(value: unknown): { ok: true; layer: Layer } | { ok: false; issues: Issue[] } {
  const checked = Layer.safeParse(value)
  if (checked.success) return { ok: true, layer: checked.data as Layer }
  return { ok: false, issues: checked.error.issues.flatMap(readable) }
}

function readable(issue: z.core.$ZodIssue): Issue | Issue[] {
  const path = issue.path as (string | number)[]
  if (issue.code === 'unrecognized_keys') return issue.keys.map((name, index) => ({ path: [...path, name], message: issue.message.split('\n')[index] ?? issue.message }))
  // A union tells only that nothing fitted; where one branch got further, its words are better.
  const inner = issue.code === 'invalid_union' ? issue.errors.map((errors) => errors[0]).find((error) => error !== undefined && (error.path.length > 0 || error.code === 'too_small')) : undefined
  if (inner) return { path: [...path, ...(inner.path as (string | number)[])], message: `expected ${inner.message}` }
  return { path, message: `expected ${issue.message}` }
}

export const presets = (keys: Keys = KEYS): Record<string, unknown> =>
  Object.fromEntries(Object.entries(keys).map(([name, entry]) => [name, 'keys' in entry ? presets(entry.keys) : structuredClone(entry.preset)]))
