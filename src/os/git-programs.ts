import { execFile } from 'node:child_process'
import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { resolveReal } from './real-path.ts'

/**
 * Why git would, even for reading, run a program that the repository around a folder names (`core.fsmonitor`,
 * filters, external diff, hooks), or look beyond the root; null: it would not. Asking this runs nothing of them:
 * only `git config` and `git rev-parse`. What the person's own configuration names is the person's.
 */
export async function gitPrograms(folder: string, root: string): Promise<string | null> {
  const [listed, places] = await Promise.all([
    askGit(folder, ['config', '--list', '--show-scope', '-z']),
    askGit(folder, ['rev-parse', '--path-format=absolute', '--git-common-dir', '--git-path', 'hooks', '--show-toplevel'], { partly: true }),
  ])
  if (listed === null) return 'its configuration cannot be read'
  const fields = listed.split('\0')
  for (let index = 0; index + 1 < fields.length; index += 2) {
    if (!OWN_SCOPES.has(fields[index] ?? '')) continue
    const [key = '', value = 'true'] = splitOnce(fields[index + 1] ?? '')
    if (key === 'core.fsmonitor' ? !/^(?:|true|false|yes|no|on|off|0|1)$/i.test(value) : PROGRAMS.test(key)) return `its repository configures ${key}`
  }
  // No repository, or one without a work tree: nothing of these runs, and git says so itself.
  const [common, hooks, top] = places?.trimEnd().split('\n') ?? []
  if (!common || !hooks) return null
  if (isExecutable(join(hooks, 'post-index-change'))) return 'its repository has a post-index-change hook'
  if (hasEntries(join(common, 'modules'))) return 'its repository has submodules, which have settings of their own'
  if (top && !within(resolveReal(top, folder), root) && !within(root, resolveReal(top, folder))) return `its work tree is ${top}, outside the root`
  return null
}

/** For a shell in which every command only reads: belt and braces beside `gitPrograms`. Not for others, whose hooks and fetches must go on working. */
export const safeGitEnvironment: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'core.hooksPath',
  GIT_CONFIG_VALUE_1: '/dev/null',
}

const OWN_SCOPES: ReadonlySet<string> = new Set(['local', 'worktree', 'submodule', 'unknown'])
const PROGRAMS =
  /^(?:filter\..*\.(?:clean|smudge|process)|diff\.(?:.*\.)?(?:external|command|textconv)|lfs\.extension\..*|gpg\.(?:.*\.)?program|extensions\.partialclone|remote\..*\.(?:promisor|uploadpack|vcs)|core\.(?:sshcommand|gitproxy|alternaterefscommand)|uploadpack\.packobjectshook)$/i

const splitOnce = (entry: string): string[] => {
  const cut = entry.indexOf('\n')
  return cut < 0 ? [entry] : [entry.slice(0, cut), entry.slice(cut + 1)]
}

/** null: git says no, is not there, or takes too long. `partly`: what it says before that is good, too; `mayFind`: exit 1 means that there is nothing. */
export function askGit(folder: string, args: string[], { partly = false, mayFind = false, env: more }: { partly?: boolean; mayFind?: boolean; env?: Readonly<Record<string, string>> } = {}): Promise<string | null> {
  const env = { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^GIT_(?!CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)$)/.test(name))), ...more }
  return new Promise((settle) => {
    execFile('git', args, { cwd: folder, env, timeout: 5_000, maxBuffer: 8 * 1024 * 1024, encoding: 'utf8' }, (error, stdout) => settle(error && !partly && !(mayFind && error.code === 1) ? null : stdout))
  })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function hasEntries(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0
  } catch {
    return false
  }
}

const within = (path: string, folder: string): boolean => path === folder || resolve(path).startsWith(folder === '/' ? '/' : `${folder}/`)
