import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'

/** Real repositories in a temporary folder, with a configuration of the tests' own. */
export const top = realpathSync(mkdtempSync(join(tmpdir(), 'tiller-git-test-')))
const globalConfig = join(top, 'gitconfig')
writeFileSync(globalConfig, '[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n')
process.env['GIT_CONFIG_GLOBAL'] = globalConfig
process.env['GIT_CONFIG_NOSYSTEM'] = '1'
afterAll(() => rmSync(top, { recursive: true, force: true }))

let count = 0

export function folder(): string {
  const path = join(top, `f${++count}`)
  mkdirSync(path)
  return path
}

export function emptyRepo(): string {
  const path = folder()
  raw(path, 'init', '-q')
  return path
}

/** With one commit of `a.txt`, whose content is `a`. */
export function repo(): string {
  const path = emptyRepo()
  write(path, 'a.txt', 'a\n')
  raw(path, 'add', '.')
  raw(path, 'commit', '-qm', 'first')
  return path
}

export function write(cwd: string, path: string, content: string | Uint8Array, mode?: number): void {
  const full = join(cwd, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, content)
  if (mode !== undefined) chmodSync(full, mode)
}

export const hook = (cwd: string, name: string, script: string): void => write(cwd, `.git/hooks/${name}`, `#!/bin/sh\n${script}\n`, 0o755)

/** Git as a person would call it. */
export function raw(cwd: string, ...args: string[]): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^GIT_(DIR|INDEX_FILE|WORK_TREE)$/.test(name)))
  return execFileSync('git', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Whether it went well. */
export function tryRaw(cwd: string, ...args: string[]): boolean {
  try {
    raw(cwd, ...args)
    return true
  } catch {
    return false
  }
}

export function fails(cwd: string, ...args: string[]): void {
  if (tryRaw(cwd, ...args)) throw new Error(`git ${args.join(' ')} was expected to fail`)
}
