import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { git, type GitPlace } from './git.ts'
import type { Repository } from './git-repository.ts'

/** What a repository's configuration would make git do beside its work. */
export interface GitSettings {
  /** Filter programs that the repository itself names, not the person's own (such as git-lfs, installed for the user). */
  ownFilters: string[]
  /** There may be a filter that `-c` cannot switch off (because of its name, or the configuration cannot be asked): reading may run it. */
  unsafeFilter: boolean
  /** `core.worktree` points to a folder other than the repository's. */
  elsewhere: string | null
  signs: boolean
  excludesFile: string | null
}

const KEYS = String.raw`^(core\.(worktree|excludesfile)|commit\.gpgsign|filter\..*\.(clean|smudge|process)|lfs\.extension\..*)$`

/** One look at the configuration, which runs nothing. A repository that git refuses has none. */
export async function gitSettings(repository: Pick<Repository, 'root' | 'gitDir'>, place: Omit<GitPlace, 'cwd'> = {}): Promise<GitSettings> {
  const end = await git({ ...place, cwd: repository.root, purpose: 'read', args: ['config', '-z', '--show-scope', '--get-regexp', KEYS] })
  const settings: GitSettings = { ownFilters: [], unsafeFilter: end.exit !== 0 && end.exit !== 1, elsewhere: null, signs: false, excludesFile: null }
  const own = new Set<string>()
  const fields = end.stdout.toString().split('\0')
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [scope = '', entry = ''] = [fields[index], fields[index + 1]]
    const cut = entry.indexOf('\n')
    const [key, value] = cut < 0 ? [entry, 'true'] : [entry.slice(0, cut), entry.slice(cut + 1)]
    const byRepository = scope === 'local' || scope === 'worktree'
    if (key === 'commit.gpgsign') settings.signs = /^(true|yes|on|1)$/i.test(value)
    else if (key === 'core.excludesfile') settings.excludesFile = value.replace(/^~(?=\/)/, homedir())
    else if (key === 'core.worktree') settings.elsewhere = sameFolder(resolve(repository.gitDir, value), repository.root) ? null : value
    // git-lfs runs the programs of its extensions, so one of the repository's makes the whole filter the repository's.
    else if (byRepository) own.add(/^filter\.(.*)\.(?:clean|smudge|process)$/s.exec(key)?.[1] ?? 'lfs')
  }
  settings.ownFilters = [...own].filter((name) => !/[=\n]/.test(name))
  settings.unsafeFilter ||= settings.ownFilters.length < own.size
  return settings
}

/** Configuration under which the repository's own filters do nothing: content is compared and shown as it is on disk. */
export const withoutFilters = (settings: GitSettings): string[] =>
  settings.ownFilters.flatMap((name) => ['clean=', 'smudge=', 'process=', 'required=false'].map((part) => `filter.${name}.${part}`))

function sameFolder(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b)
  } catch {
    return false
  }
}
