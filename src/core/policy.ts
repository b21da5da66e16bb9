import type { Access, Mode, Rule } from './record.ts'
import { ruleFor } from './rule-match.ts'
import { isElevated, isProtected, isSecret } from './sensitive.ts'
import { lasting } from './suggest.ts'
import { written } from './words.ts'

export interface Policy {
  /** Absolute and real. */
  root: string
  mode: Mode
  /** Of all layers and grants. Deny beats ask beats allow, wherever they come from. */
  rules: readonly Rule[]
  /** A sandbox that works here. */
  sandbox: boolean
  /** `sandbox.enabled` is true: approved commands run in it, too. */
  alwaysSandbox?: boolean
  /** The root is the home folder or `/`: edits there are asked for, `edit` and `auto` count as `ask`. */
  wideRoot?: boolean
}

export interface Decision {
  verdict: 'allow' | 'ask' | 'deny'
  by: 'rule' | 'mode'
  /** For a person: which rule or mode, and because of which access. */
  because: string
  access?: Access
  /** Runs in the sandbox (if it was asked for: once it is approved). */
  sandbox: boolean
  /** What a lasting yes would add. Empty: this can only be allowed once. */
  suggest: Rule[]
}

/** What becomes of one access, and because of what. */
export interface Judgement {
  access: Access
  verdict: Decision['verdict']
  by: Decision['by']
  because: string
  /** Allowed because the sandbox holds it. */
  held: boolean
  /** A rule may allow it for good. */
  lasting: boolean
}

/** Effects the accesses name, judged by rules and mode. Every access must be allowed; when in doubt, ask. */
export function decide(accesses: readonly Access[], policy: Policy): Decision {
  const judged = judge(accesses, policy)
  const strictest = judged.find(({ verdict }) => verdict === 'deny') ?? judged.find(({ verdict }) => verdict === 'ask') ?? judged.find(({ by }) => by === 'mode') ?? judged[0]
  if (!strictest) return { verdict: 'allow', by: 'mode', because: 'it touches nothing', sandbox: false, suggest: [] }
  const { verdict, by, because, access } = strictest
  const command = accesses.some(isCommand)
  const sandbox = policy.sandbox && command && (policy.alwaysSandbox === true || (verdict === 'allow' && judged.some(({ held }) => held)))
  return { verdict, by, because, access, sandbox, suggest: verdict === 'ask' ? lasting(judged, policy.root) : [] }
}

/** Each access on its own, in the order given: for `tiller config explain`. */
export function judge(accesses: readonly Access[], policy: Policy): Judgement[] {
  const mode = policy.wideRoot && (policy.mode === 'edit' || policy.mode === 'auto') ? 'ask' : policy.mode
  return accesses.map((access) => judgeOne(access, { ...policy, mode }))
}

/** Nothing but reading: may run beside other readers, and needs no write-ahead record that is synced. */
export const onlyReads = (accesses: readonly Access[]): boolean => accesses.every((access) => access.kind === 'read' || (access.kind === 'exec' && access.reads === true))

export const isInside = (path: string, root: string): boolean => path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`)

function judgeOne(access: Access, policy: Policy): Judgement {
  const usual = byMode(access, policy)
  const { rule, sure } = ruleFor(access, policy)
  const what = describe(access)
  const said = (verdict: Decision['verdict'], by: Decision['by'], because: string, more: Partial<Judgement> = {}): Judgement => ({ access, verdict, by, because: `${because}: ${what}`, held: false, lasting: false, ...more })

  if (rule?.verdict === 'deny' && sure) return said('deny', 'rule', `rule ${spelt(rule)}`)
  if (usual.verdict === 'deny') {
    return rule?.verdict === 'allow' && access.kind === 'read' ? said('allow', 'rule', `rule ${spelt(rule)}`) : said('deny', 'mode', usual.because)
  }
  if (rule && !sure) return said('ask', 'rule', `rule ${spelt(rule)} may apply, which is only known when it runs`)
  if (rule?.verdict === 'ask') return said('ask', 'rule', `rule ${spelt(rule)}`)
  const always = policy.mode === 'full' ? null : alwaysAsks(access)
  if (always) return said('ask', 'mode', always)
  const secret = policy.mode !== 'full' && access.kind === 'read' && isSecret(access.path)
  // A rule for everything was not written with secrets in mind: only one that names such a file opens it.
  if (rule?.verdict === 'allow' && (!secret || isSecret(rule.match))) return said('allow', 'rule', `rule ${spelt(rule)}`)
  if (secret) return said('ask', 'mode', 'secrets are not read unasked', { lasting: true })
  if (access.kind === 'unknown' && access.part !== 'path' && usual.verdict === 'allow' && policy.rules.some(stopsCommands)) return said('ask', 'rule', 'there are rules for commands, and this cannot be held against them')
  return said(usual.verdict, 'mode', usual.because, { held: usual.held === true, lasting: usual.verdict === 'ask' && access.kind !== 'unknown' })
}

interface Usual { verdict: Decision['verdict']; because: string; held?: boolean }

/** The table of modes. */
function byMode(access: Access, policy: Policy): Usual {
  const { mode, root } = policy
  const because = `mode ${mode}`
  if (mode === 'full') return { verdict: 'allow', because }
  const inside = (access.kind === 'read' || access.kind === 'write') && isInside(access.path, root)
  const otherwise: Usual = { verdict: mode === 'plan' ? 'deny' : 'ask', because: mode === 'auto' && !policy.sandbox ? 'mode auto has no sandbox here and behaves as ask' : because }
  if (access.kind === 'read') return inside ? { verdict: 'allow', because } : { ...otherwise, because: `outside ${root} (${otherwise.because})` }
  if (access.kind === 'exec' && access.reads === true) return { verdict: 'allow', because: 'known to only read' }
  const auto = mode === 'auto' && policy.sandbox
  const held: Usual = { verdict: 'allow', because: 'mode auto, in the sandbox', held: true }
  switch (access.kind) {
    case 'write': {
      if (!inside) return { ...otherwise, because: `outside ${root} (${otherwise.because})` }
      if (access.command) return auto ? held : otherwise
      return mode === 'edit' || auto ? { verdict: 'allow', because } : otherwise
    }
    case 'exec':
      return auto ? held : otherwise
    case 'unknown':
      return auto && access.part ? held : otherwise
    case 'net':
    case 'tool':
      return otherwise
  }
}

/** Whatever a rule says, except in `full`. */
function alwaysAsks(access: Access): string | null {
  if (access.kind === 'write' && isProtected(access.path)) return 'always asked: it could make other programs run something'
  if (access.kind === 'exec' && isElevated(access.argv[0] ?? '')) return 'always asked: it acts as another user'
  return null
}

const stopsCommands = ({ verdict, kind }: Rule): boolean => verdict !== 'allow' && kind === 'exec'

const isCommand = (access: Access): boolean => access.kind === 'exec' || (access.kind === 'unknown' && access.part !== undefined)

const spelt = ({ verdict, kind, match }: Rule): string => `${verdict} ${kind} ${match}`

/** One access for a person, on one line. */
export function describe(access: Access): string {
  switch (access.kind) {
    case 'read':
      return `reads ${access.path}`
    case 'write':
      return `writes ${access.path}`
    case 'exec':
      return `runs ${written(access.argv)}`
    case 'net':
      return `reaches ${access.host}`
    case 'tool':
      return `calls ${access.name}`
    case 'unknown':
      return access.why
  }
}
