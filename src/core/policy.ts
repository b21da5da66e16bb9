import type { Access, Mode, Rule } from './record.ts'

export interface Policy {
  /** Absolute and real. */
  root: string
  mode: Mode
  /** Of all layers and grants. Deny beats ask beats allow, wherever they come from. */
  rules: readonly Rule[]
  /** A sandbox that works here. */
  sandbox: boolean
}

export interface Decision {
  verdict: 'allow' | 'ask' | 'deny'
  by: 'rule' | 'mode'
  /** For a person: which rule or mode, and because of which access. */
  because: string
  access?: Access
  /** Runs in the sandbox. */
  sandbox: boolean
  /** What a lasting yes would add. Empty: this can only be allowed once. */
  suggest: Rule[]
}

/** Effects the accesses name, judged by rules and mode. Every access must be allowed; when in doubt, ask. */
export function decide(accesses: readonly Access[], policy: Policy): Decision {
  throw new Error(`to be written: ${accesses.length} ${policy.mode}`)
}

/** Nothing but reading: may run beside other readers, and needs no write-ahead record that is synced. */
export const onlyReads = (accesses: readonly Access[]): boolean => accesses.every((access) => access.kind === 'read' || (access.kind === 'exec' && access.reads === true))
