import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decide } from '../../src/core/policy.ts'
import { Mode, type Rule } from '../../src/core/record.ts'
import { isProtected, isSecret } from '../../src/core/sensitive.ts'
import { accessesOf } from '../../src/os/shell-syntax.ts'

export interface Place { root: string; home: string; outside: string; remove(): void }

/** A repository with a few files, a home folder and a folder outside, all temporary. */
export function place(): Place {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tiller-shell-')))
  const [root, home, outside] = ['root', 'home', 'outside'].map((name) => join(base, name)) as [string, string, string]
  for (const folder of [root, home, outside, join(root, 'src/deep'), join(root, 'clean')]) mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries({ f: 'x\n', 'a.ts': 'a\n', 'b.ts': 'b\n', '.env': 'KEY=1\n', 'src/c.ts': 'c\n', 'src/deep/server.pem': 'PEM\n', 'clean/d.ts': 'd\n' })) writeFileSync(join(root, name), text)
  writeFileSync(join(outside, 'secret.txt'), 'S\n')
  symlinkSync(outside, join(root, 'out'))
  git(root, 'init', '-q', '-b', 'main')
  git(root, 'add', '-f', 'f', 'a.ts', 'src/c.ts')
  git(root, '-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-q', '-m', 'one')
  return { root, home, outside, remove: () => rmSync(base, { recursive: true, force: true }) }
}

export const git = (cwd: string, ...args: string[]): void => void execFileSync('git', args, { cwd, stdio: 'ignore', env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' } })

export const accesses = async (command: string, { root, home }: Pick<Place, 'root' | 'home'>, more: { cwd?: string; shell?: string; path?: string } = {}) =>
  await accessesOf(command, { cwd: root, root, home, isSecret, isProtected, path: '/usr/local/bin:/usr/bin:/bin', ...more })

export const verdict = async (command: string, at: Place, rules: Rule[] = [], mode: Mode = 'ask', more: { cwd?: string; shell?: string; path?: string } = {}) =>
  decide(await accesses(command, at, more), { root: at.root, mode, rules, sandbox: true }).verdict

/** The verdicts of several modes, from one look. */
export async function verdicts(command: string, at: Place, rules: Rule[], ...modes: Mode[]) {
  const all = await accesses(command, at)
  return modes.map((mode) => decide(all, { root: at.root, mode, rules, sandbox: true }).verdict)
}

export const allow = (match: string): Rule => ({ verdict: 'allow', kind: 'exec', match })
