import { readFileSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { repository, type Repository } from './git-repository.ts'

/**
 * The tops of the work trees of a repository, this one first, read from its files as `repository` does. One that is gone, or that does not lead
 * back to this repository, is left out: whoever made the files could have named any folder.
 */
export function workTrees({ root, commonDir }: Pick<Repository, 'root' | 'commonDir'>): string[] {
  const main = basename(commonDir) === '.git' ? [dirname(commonDir)] : []
  const trees = [root, ...main, ...linked(join(commonDir, 'worktrees'))]
  return [...new Set(trees)].filter((tree) => {
    const found = repository(tree)
    return found?.root === tree && found.commonDir === commonDir
  })
}

/** `gitdir` in a linked work tree's own folder names its `.git` file. */
function linked(folder: string): string[] {
  return namesIn(folder).flatMap((name) => {
    try {
      return [realpathSync(dirname(resolve(folder, name, readFileSync(join(folder, name, 'gitdir'), 'utf8').trim())))]
    } catch {
      return []
    }
  })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}
