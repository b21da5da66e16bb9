import { escapeGlob } from './glob.ts'
import type { Judgement } from './policy.ts'
import type { Rule } from './record.ts'
import { written } from './words.ts'

/** The rules that would allow everything that asks here; empty where one of them cannot be allowed for good. */
export function lasting(judged: readonly Judgement[], root: string): Rule[] {
  const asking = judged.filter(({ verdict }) => verdict === 'ask')
  if (asking.some((one) => !one.lasting)) return []
  const rules = asking.flatMap((one) => ruleOf(one, root) ?? [])
  return rules.filter((rule, index) => rules.findIndex((other) => other.kind === rule.kind && other.match === rule.match) === index)
}

function ruleOf({ access }: Judgement, root: string): Rule | null {
  switch (access.kind) {
    case 'read':
    case 'write':
      return { verdict: 'allow', kind: access.kind, match: escapeGlob(relative(access.path, root)) }
    case 'exec':
      return { verdict: 'allow', kind: 'exec', match: command(access.argv) }
    case 'net':
      return { verdict: 'allow', kind: 'net', match: access.host }
    case 'tool':
      return { verdict: 'allow', kind: 'tool', match: access.name }
    case 'unknown':
      return null
  }
}

const relative = (path: string, root: string): string => (path !== root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path)

/** These words, or, where the first ones say what is done and the rest only how, these and anything after them. */
function command(argv: readonly string[]): string {
  const [program = '', first = '', second = ''] = argv
  const known = OPEN_ENDED[program]
  if (known === true) return `${written([program])} *`
  if (known?.has(first)) return `${written([program, first])} *`
  if (known?.has(`${first} _`) && /^[\w:.-]+$/.test(second) && !second.startsWith('-')) return `${written([program, first, second])} *`
  return written(argv)
}

/** Programs that a person lets run with any arguments once they let them run at all: tests, builds, linters. `_` is any one name. */
const node: ReadonlySet<string> = new Set(['test', 'run _'])
const OPEN_ENDED: Readonly<Record<string, ReadonlySet<string> | true>> = {
  npm: node, pnpm: node, yarn: new Set(['test', 'run _']), bun: node, deno: new Set(['test', 'check', 'lint', 'fmt']),
  cargo: new Set(['build', 'check', 'test', 'clippy', 'fmt', 'doc']), go: new Set(['build', 'test', 'vet', 'fmt']),
  git: new Set(['add', 'commit']), dotnet: new Set(['build', 'test']), mvn: new Set(['test', 'compile', 'verify']), gradle: new Set(['test', 'build', 'check']),
  pytest: true, jest: true, vitest: true, mocha: true, tsc: true, eslint: true, prettier: true, oxlint: true, ruff: true, mypy: true, black: true,
}
