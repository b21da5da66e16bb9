import ignore, { type Ignore } from 'ignore'
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** The ignore rules that hold in a folder: those of the folders above it, and its own. */
export interface Rules {
  /** Absolute: what the rules' paths are relative to. */
  base: string
  matcher: Ignore
}

const NAMES = ['.gitignore', '.ignore']
const MOST_BYTES = 1024 * 1024

/** For a folder to start in: the rules from the top of its repository down to it. Empty ones where the folder itself is ignored: it was asked for by name. */
export function rulesAt(start: string, root: string): Rules {
  const top = topOf(start, root)
  let rules = rulesOfTop(top)
  let folder = top
  for (const name of start.slice(top.length).split('/').filter((part) => part !== '')) {
    folder = join(folder, name)
    if (isIgnored(rules, folder, true)) return rulesOfTop(start)
    rules = rulesIn(folder, rules)
  }
  return rules
}

export const isIgnored = ({ base, matcher }: Rules, path: string, folder: boolean): boolean => matcher.test(`${path.slice(base === '/' ? 1 : base.length + 1)}${folder ? '/' : ''}`).ignored

/** The rules inside a folder that is not ignored itself. A repository in a repository has its own only. */
export function rulesIn(folder: string, outer: Rules): Rules {
  if (isRepository(folder)) return rulesOfTop(folder)
  const own = NAMES.flatMap((name) => patterns(join(folder, name)))
  if (own.length === 0) return outer
  const prefix = folder.slice(outer.base === '/' ? 0 : outer.base.length)
  return { base: outer.base, matcher: create().add(outer.matcher).add(own.map((pattern) => below(prefix, pattern)).filter((pattern) => pattern !== null)) }
}

const create = (): Ignore => ignore({ ignorecase: process.platform === 'darwin' })

function rulesOfTop(top: string): Rules {
  const exclude = excludeFile(top)
  return { base: top, matcher: create().add([...(exclude === null ? [] : patterns(exclude)), ...NAMES.flatMap((name) => patterns(join(top, name)))]) }
}

/** The repository that the folder is in; else the root of the session, if it is in that; else the folder itself. */
function topOf(start: string, root: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (isRepository(folder)) return folder
    if (folder === '/') break
  }
  return start === root || start.startsWith(`${root}/`) ? root : start
}

const isRepository = (folder: string): boolean => statSync(join(folder, '.git'), { throwIfNoEntry: false }) !== undefined

/** A worktree's `.git` is a file that names its folder, and that one names the folder which all worktrees share. */
function excludeFile(top: string): string | null {
  const git = join(top, '.git')
  const stat = statSync(git, { throwIfNoEntry: false })
  if (!stat) return null
  if (stat.isDirectory()) return join(git, 'info/exclude')
  const named = /^gitdir: (.*)$/m.exec(read(git) ?? '')?.[1]
  if (named === undefined) return null
  const folder = resolve(top, named)
  return join(resolve(folder, (read(join(folder, 'commondir')) ?? '.').trim()), 'info/exclude')
}

const patterns = (path: string): string[] => (read(path) ?? '').split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'))

/** Never waits for a pipe, and never follows a link that a repository brought along. */
function read(path: string): string | null {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(file)
      return stat.isFile() && stat.size <= MOST_BYTES ? readFileSync(file, 'utf8') : null
    } finally {
      closeSync(file)
    }
  } catch {
    return null
  }
}

/** A pattern of a folder below, as one of the base; null where it says nothing. */
function below(prefix: string, pattern: string): string | null {
  const not = pattern.startsWith('!') ? '!' : ''
  const body = pattern.slice(not.length).replace(/^\\(?=[#!])/, '')
  const kept = body.replace(/(?<!\\) +$/, '')
  if (kept === '' || kept === '/') return null
  const anchored = kept.slice(0, -1).includes('/')
  return `${not}${prefix.replace(/[\\*?[\]!# ]/g, '\\$&')}/${anchored ? kept.replace(/^\//, '') : `**/${kept}`}`
}
