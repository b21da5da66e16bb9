import * as z from 'zod/mini'

/**
 * The facts a session is made of. One line of the log is `{ seq, at, type, ... }`.
 * A reader passes over types and fields it does not know and keeps them; it never rewrites a line.
 */

export const VERSION = 1

export const Mode = z.enum(['plan', 'ask', 'edit', 'auto', 'full'])
export type Mode = z.infer<typeof Mode>

export const Effort = z.enum(['none', 'low', 'medium', 'high', 'max'])
export type Effort = z.infer<typeof Effort>

/** When an input lands: cutting in, before the next request (steering), or when the run has its outcome (follow-up). */
export const When = z.enum(['now', 'next', 'after'])
export type When = z.infer<typeof When>

export const BlobRef = z.object({ sha256: z.string(), bytes: z.number() })
export type BlobRef = z.infer<typeof BlobRef>

export const Image = z.object({ blob: BlobRef, mediaType: z.string(), name: z.optional(z.string()) })
export type Image = z.infer<typeof Image>

/** What a provider wants back unread (signatures, encrypted reasoning). Returned only to the provider named in `by`. */
export const Opaque = z.object({ by: z.string(), data: z.unknown() })
export type Opaque = z.infer<typeof Opaque>

export const TextPart = z.object({ type: z.literal('text'), text: z.string(), opaque: z.optional(Opaque) })
export const ReasoningPart = z.object({ type: z.literal('reasoning'), text: z.string(), opaque: z.optional(Opaque) })
export const CallPart = z.object({
  type: z.literal('call'),
  /** Unique in the session and safe for every provider: the provider's own id where it is both, else one of ours. */
  id: z.string(),
  name: z.string(),
  /** The arguments as parsed; `{}` where they were not JSON, and then `invalid` says why. */
  input: z.unknown(),
  invalid: z.optional(z.string()),
  opaque: z.optional(Opaque),
})
export type TextPart = z.infer<typeof TextPart>
export type ReasoningPart = z.infer<typeof ReasoningPart>
export type CallPart = z.infer<typeof CallPart>
export const Part = z.discriminatedUnion('type', [TextPart, ReasoningPart, CallPart])
export type Part = z.infer<typeof Part>

export const Stop = z.enum(['end', 'calls', 'length', 'filter', 'interrupted', 'error'])
export type Stop = z.infer<typeof Stop>

export const Usage = z.object({
  /** All input tokens, cached ones included. */
  input: z.number(),
  output: z.number(),
  cacheRead: z.optional(z.number()),
  cacheWrite: z.optional(z.number()),
  reasoning: z.optional(z.number()),
  /** The provider gave none; counted by us. */
  estimated: z.optional(z.boolean()),
})
export type Usage = z.infer<typeof Usage>

export const FaultKind = z.enum([
  'auth', 'not-found', 'rate-limit', 'quota', 'overload', 'server', 'network', 'idle', 'overflow', 'filter', 'bad-request', 'garbage',
])
export type FaultKind = z.infer<typeof FaultKind>

export const Fault = z.object({
  kind: FaultKind,
  /** One sentence for the person: what failed, where, what to do. Never holds a key. */
  message: z.string(),
  status: z.optional(z.number()),
  retryAfterMs: z.optional(z.number()),
  /** The window a server named in an overflow error. */
  contextWindow: z.optional(z.number()),
})
export type Fault = z.infer<typeof Fault>

/** One effect a call would have. Paths are absolute and real (links resolved as far as they exist). */
export const Access = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('read'), path: z.string() }),
  z.object({
    kind: z.literal('write'),
    path: z.string(),
    /** The write is made by a command (redirection, `-o`, `tee`), so it is judged as one. */
    command: z.optional(z.boolean()),
  }),
  z.object({
    kind: z.literal('exec'),
    argv: z.array(z.string()),
    /** Known to only read, whatever its arguments and the repository's configuration say. */
    reads: z.optional(z.boolean()),
  }),
  z.object({ kind: z.literal('net'), host: z.string() }),
  /** What a tool server does on its own side (MCP): `server.tool`, as `tool` rules name it. */
  z.object({ kind: z.literal('tool'), name: z.string() }),
  /** `part`: of a command line, so that a sandbox would hold it: which program runs, or which file a known one reads or writes. */
  z.object({ kind: z.literal('unknown'), why: z.string(), part: z.optional(z.enum(['program', 'path'])) }),
])
export type Access = z.infer<typeof Access>

/** What a person is shown when asked. */
export const Preview = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('diff'), diff: z.string(), note: z.optional(z.string()) }),
  z.object({ kind: z.literal('command'), command: z.string(), cwd: z.string(), note: z.optional(z.string()) }),
  z.object({ kind: z.literal('text'), text: z.string() }),
])
export type Preview = z.infer<typeof Preview>

export const Rule = z.object({ verdict: z.enum(['allow', 'ask', 'deny']), kind: z.enum(['read', 'write', 'exec', 'net', 'tool']), match: z.string() })
export type Rule = z.infer<typeof Rule>

/** A file's content by hash; null: there is no such file. */
export const FileChange = z.object({ path: z.string(), before: z.nullable(z.string()), after: z.nullable(z.string()) })
export type FileChange = z.infer<typeof FileChange>

/** What the model has seen of a file: the whole of it, or lines `from` to `to` of `of`. */
export const Seen = z.object({ path: z.string(), sha256: z.string(), whole: z.boolean(), lines: z.optional(z.object({ from: z.number(), to: z.number(), of: z.number() })) })
export type Seen = z.infer<typeof Seen>

export const ResultStatus = z.enum(['ok', 'failed', 'rejected', 'denied', 'skipped', 'interrupted', 'unknown'])
export type ResultStatus = z.infer<typeof ResultStatus>

export const OutcomeStatus = z.enum(['done', 'verified', 'unverified', 'interrupted', 'limit', 'needs-user', 'failed', 'lost'])
export type OutcomeStatus = z.infer<typeof OutcomeStatus>

/** What a limit counts: model requests, minutes at work, tool calls, tokens in and out, US dollars. */
export const LimitName = z.enum(['steps', 'minutes', 'calls', 'tokens', 'cost'])
export type LimitName = z.infer<typeof LimitName>

/** A limit that was reached: whose, which, and how much more a `raise` gives. */
export const Reached = z.object({ of: z.enum(['run', 'session']), limit: LimitName, by: z.number() })
export type Reached = z.infer<typeof Reached>

/** What a person can say while a run is paused. */
export const Choice = z.enum(['go-on', 'raise', 'summarise', 'stop'])
export type Choice = z.infer<typeof Choice>

export const Totals = z.object({
  steps: z.number(), calls: z.number(), input: z.number(), output: z.number(),
  /** Milliseconds at work: of all runs that have ended, without what they waited for a person. */
  ms: z.optional(z.number()),
  cost: z.number(),
  /** Some of it had no known price, so the cost is a lower bound. */
  costUnknown: z.boolean(),
})
export type Totals = z.infer<typeof Totals>

export const ToolDeclaration = z.object({ name: z.string(), about: z.optional(z.string()), input: z.unknown() })
export type ToolDeclaration = z.infer<typeof ToolDeclaration>

/** What a compaction must not forget: whole-file facts of the records before it, so that they need not be read. */
export const Carry = z.object({
  model: z.optional(z.string()), effort: z.optional(Effort), mode: z.optional(Mode), title: z.optional(z.string()),
  grants: z.array(Rule), totals: Totals, seen: z.array(Seen),
  /** Limits of the session that a person raised. */
  raised: z.optional(z.array(Reached)),
  /** Inputs that are waiting, or that the kept records deliver. */
  inputs: z.array(z.object({ id: z.string(), seq: z.optional(z.number()), text: z.string(), when: z.optional(When), images: z.optional(z.array(Image)) })),
})
export type Carry = z.infer<typeof Carry>

/** Made when a record of the type comes by: most starts see few of them, and a schema takes its time. */
const facts = {
  session: () => z.object({
    version: z.number(), id: z.string(), cwd: z.string(), root: z.string(),
    tiller: z.optional(z.string()),
    git: z.optional(z.object({ head: z.nullable(z.string()), branch: z.nullable(z.string()) })),
    fork: z.optional(z.object({ id: z.string(), seq: z.number() })),
  }),
  system: () => z.object({
    text: z.string(), tools: z.array(ToolDeclaration),
    instructions: z.optional(z.array(z.object({ path: z.string(), sha256: z.string() }))),
  }),
  set: () => z.object({
    model: z.optional(z.string()), effort: z.optional(Effort), mode: z.optional(Mode), title: z.optional(z.string()),
    label: z.optional(z.object({ seq: z.number(), text: z.string() })),
  }),
  input: () => z.object({
    id: z.string(), text: z.string(), from: z.optional(z.enum(['user', 'check', 'hook', 'tiller'])), when: z.optional(When),
    images: z.optional(z.array(Image)),
  }),
  withdraw: () => z.object({ input: z.string(), because: z.optional(z.enum(['user', 'interrupt', 'resume'])) }),
  /** A `!` command of the person. With `model`, the model sees it. */
  shell: () => z.object({ call: z.optional(z.string()), command: z.string(), exit: z.nullable(z.number()), text: z.string(), model: z.boolean(), output: z.optional(BlobRef) }),
  step: () => z.object({
    run: z.string(), number: z.number(), attempt: z.number(), inputs: z.array(z.string()), model: z.string(),
    effort: z.optional(Effort), maxOutput: z.optional(z.number()),
    request: z.object({ sha256: z.string(), bytes: z.number() }),
  }),
  reply: () => z.object({
    run: z.string(), parts: z.array(Part), stop: Stop, usage: Usage,
    /** US dollars; null: the model's price is unknown. */
    cost: z.optional(z.nullable(z.number())),
    ms: z.optional(z.object({ first: z.number(), total: z.number() })),
    fault: z.optional(Fault),
    /** This attempt failed and another follows: when, of how many, and by which model if it is another one from now on. */
    retry: z.optional(z.object({ at: z.number(), of: z.number(), model: z.optional(z.string()) })),
    wire: z.optional(z.object({ sha256: z.string(), bytes: z.number(), package: z.string() })),
  }),
  ask: () => z.object({
    run: z.string(), call: z.string(), accesses: z.array(Access), preview: z.optional(Preview), because: z.optional(z.string()),
    /** The rules that a lasting yes would add; without them it can be allowed only this once. */
    lasting: z.optional(z.array(Rule)),
  }),
  answer: () => z.object({
    run: z.string(), call: z.string(), verdict: z.enum(['allow', 'deny']), by: z.enum(['user', 'rule', 'mode', 'nobody']),
    because: z.optional(z.string()), reason: z.optional(z.string()),
    /** The lasting part of a yes: rules that hold for the session, the project or the user from now on. */
    grant: z.optional(z.object({ scope: z.enum(['session', 'project', 'user']), rules: z.array(Rule) })),
  }),
  start: () => z.object({
    run: z.string(), call: z.string(),
    reads: z.optional(z.boolean()),
    changes: z.optional(z.array(z.object({ path: z.string(), before: z.nullable(z.string()), intended: z.nullable(z.string()) }))),
    /** Of a commit: what it is made on top of; null: it is the first one. */
    head: z.optional(z.nullable(z.string())),
  }),
  spawn: () => z.object({ run: z.string(), call: z.string(), pid: z.number(), started: z.optional(z.string()), output: z.optional(z.string()), job: z.optional(z.string()) }),
  result: () => z.object({
    run: z.string(), call: z.string(), status: ResultStatus, text: z.string(),
    output: z.optional(BlobRef), images: z.optional(z.array(Image)),
    changes: z.optional(z.array(FileChange)), diff: z.optional(z.string()), seen: z.optional(z.array(Seen)),
    /** Processes that the call left running. */
    alive: z.optional(z.array(z.number())),
    exit: z.optional(z.nullable(z.number())),
    ms: z.optional(z.number()),
  }),
  job: () => z.object({ id: z.string(), call: z.optional(z.string()), command: z.string(), exit: z.nullable(z.number()), signal: z.optional(z.string()), because: z.optional(z.string()) }),
  compact: () => z.object({
    summary: z.string(), keep: z.number(), tokens: z.object({ before: z.number(), after: z.number() }),
    carry: z.optional(Carry), usage: z.optional(Usage), cost: z.optional(z.nullable(z.number())),
  }),
  omit: () => z.object({ record: z.number(), text: z.optional(z.string()) }),
  checkpoint: () => z.object({
    run: z.optional(z.string()), call: z.optional(z.string()), why: z.string(), tree: z.nullable(z.string()), note: z.optional(z.string()),
    /** Around an undo: files are put back to how they were right after record `to`. Before it, what is to be done; after it, what was. */
    undo: z.optional(z.object({ to: z.number(), changes: z.array(FileChange) })),
  }),
  check: () => z.object({
    run: z.string(), command: z.string(), exit: z.nullable(z.number()), attempt: z.number(),
    text: z.optional(z.string()), output: z.optional(BlobRef), tree: z.optional(z.nullable(z.string())), ms: z.optional(z.number()),
  }),
  rewind: () => z.object({ to: z.number() }),
  /** The run waits for the person: at a limit, in a circle, before a long wait for the provider. Written only where somebody is there. */
  pause: () => z.object({ run: z.string(), why: z.enum(['limit', 'circle', 'wait']), text: z.string(), choices: z.array(Choice), reached: z.optional(Reached), waitMs: z.optional(z.number()) }),
  /** How it goes on. `input`: a text that was sent meanwhile said so. */
  choice: () => z.object({ run: z.string(), choice: Choice, by: z.enum(['user', 'input']), reached: z.optional(Reached) }),
  outcome: () => z.object({
    run: z.string(), status: OutcomeStatus, reason: z.string(), ms: z.optional(z.number()),
    /** The state of the files that was proved. */
    tree: z.optional(z.string()),
    /** Processes that still run. */
    alive: z.optional(z.array(z.number())),
  }),
}

type Facts = typeof facts
export type FactType = keyof Facts
export type Fact = { [T in FactType]: { type: T } & z.infer<ReturnType<Facts[T]>> }[FactType]
export type FactOf<T extends FactType> = Extract<Fact, { type: T }>
export type SessionRecord = Fact & { seq: number; at: number }
export type RecordOf<T extends FactType> = FactOf<T> & { seq: number; at: number }

/** A line of a type that this version does not know: kept, counted, passed over. */
export type UnknownRecord = { seq: number; at: number; type: string } & { unknown: true; line: string }

/** Facts after which nothing is told before they are on the disk. A `start` that only reads is left out. */
const SYNCED: ReadonlySet<FactType> = new Set<FactType>([
  'session', 'input', 'withdraw', 'shell', 'reply', 'ask', 'answer', 'start', 'spawn', 'result', 'job', 'compact', 'checkpoint', 'check', 'rewind', 'pause', 'choice', 'outcome',
])
export const isSynced = (fact: Fact): boolean => SYNCED.has(fact.type) && !(fact.type === 'start' && fact.reads)

export type Line = { ok: true; record: SessionRecord | UnknownRecord } | { ok: false; why: string }

const isKnown = (type: string): type is FactType => Object.hasOwn(facts, type)

/** One line of a log. Never throws; what is wrong is said. */
export function parse(line: string): Line {
  let raw: unknown
  try {
    raw = JSON.parse(line)
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : 'not JSON' }
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return { ok: false, why: 'not an object' }
  const { seq, at, type } = raw as Record<string, unknown>
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0) return { ok: false, why: 'no seq' }
  if (typeof at !== 'number') return { ok: false, why: 'no at' }
  if (typeof type !== 'string') return { ok: false, why: 'no type' }
  if (!isKnown(type)) return { ok: true, record: { seq, at, type, unknown: true, line } }
  const checked = schemaOf(type).safeParse(raw)
  if (!checked.success) {
    const issue = checked.error.issues[0]
    return { ok: false, why: `${type}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'does not fit'}` }
  }
  return { ok: true, record: raw as SessionRecord }
}

const made = new Map<FactType, { schema: z.ZodMiniType; used: number }>()
/** Compiled, a schema is as strict and three times as quick; that takes some milliseconds, which a long log wins back. */
const MANY = 300

function schemaOf(type: FactType): z.ZodMiniType {
  const known = made.get(type) ?? { schema: facts[type](), used: 0 }
  made.set(type, known)
  if (++known.used === MANY) known.schema = z.compile(known.schema)
  return known.schema
}
