import { join } from 'node:path'
import { askGit, safeGitEnvironment } from './git-programs.ts'

/**
 * Secret files whose content a reading git command would show without naming them: `git diff`, `git log -p`, `git grep`. Only for a
 * repository that runs no programs (`gitPrograms`): the same command is asked for the names alone. null: it cannot be known.
 */
export async function secretsShown(folder: string, words: readonly string[] | null, isSecret: (path: string) => boolean): Promise<string[] | null> {
  const [top, tracked] = await Promise.all([askGit(folder, ['rev-parse', '--show-toplevel']), askGit(folder, ['ls-files', '-z', '--full-name', ':/'])])
  const root = top?.replace(/\n$/, '')
  // No repository: the command shows nothing.
  if (!root || tracked === null) return []
  const secrets = (names: string): string[] => names.split(/\0|\n/).map((name) => join(root, name)).filter((path) => path !== root && isSecret(path))
  // Most repositories track none, and the question costs nothing more.
  if (secrets(tracked).length === 0) return []
  if (words === null) return null
  const [command = '', ...rest] = words
  const shown = await askGit(folder, ['-c', 'core.quotePath=false', command, ...(command === 'stash' ? ['show', ...NAMES, ...rest.slice(1)] : command === 'grep' ? ['-l', '-z', '--full-name', ...rest] : [...NAMES, ...(command === 'diff' ? [] : ['--format=']), ...rest])], { env: safeGitEnvironment, mayFind: command === 'grep' })
  return shown === null ? null : [...new Set(secrets(shown))]
}

const NAMES = ['--name-only', '-z', '--no-relative']
