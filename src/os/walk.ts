import { readdirSync, type Dirent } from 'node:fs'
import { join } from 'node:path'
import picomatch from 'picomatch'
import { isIgnored, rulesAt, rulesIn, type Rules } from './ignore-files.ts'

export interface WalkOptions {
  /** Absolute and real. */
  start: string
  root: string
  /** Relative to `start`; without a slash it is matched with names at any depth. */
  glob?: string | undefined
  /** Folders are named too, with a slash at the end. */
  folders?: boolean | undefined
  /** Only what can be searched: regular files, no links. */
  regular?: boolean | undefined
}

export interface Walked {
  /** Relative to `start`, in order. */
  paths: string[]
  /** There are more; these are not all. */
  cut: boolean
  /** Folders that could not be listed. */
  unreadable: number
}

const MOST_PATHS = 500_000

/** The files below a folder that no ignore file leaves out. Never `.git`, follows no link, opens nothing but ignore files. Synchronous: for a worker. */
export function walk({ start, root, glob, folders = false, regular = false }: WalkOptions): Walked {
  const walked: Walked = { paths: [], cut: false, unreadable: 0 }
  const wanted = glob === undefined ? () => true : globMatcher(glob, start)
  const add = (path: string): void => {
    if (!wanted(path)) return
    if (walked.paths.length < MOST_PATHS) walked.paths.push(path)
    else walked.cut = true
  }
  const visit = (folder: string, within: string, outer: Rules): void => {
    const entries = entriesOf(folder, walked)
    const rules = within !== '' && entries.some(({ name }) => BRINGS_RULES.has(name)) ? rulesIn(folder, outer) : outer
    for (const entry of entries) {
      const path = join(folder, entry.name)
      const name = within === '' ? entry.name : `${within}/${entry.name}`
      if (walked.cut) return
      if (entry.name === '.git' || isIgnored(rules, path, entry.isDirectory())) continue
      if (!entry.isDirectory()) {
        if (entry.isFile() || (!regular && entry.isSymbolicLink())) add(name)
        continue
      }
      if (folders) add(`${name}/`)
      visit(path, name, rules)
    }
  }
  visit(start, '', rulesAt(start, root))
  walked.paths.sort()
  return walked
}

const BRINGS_RULES: ReadonlySet<string> = new Set(['.git', '.gitignore', '.ignore'])

function entriesOf(folder: string, walked: Walked): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    walked.unreadable++
    return []
  }
}

/** `*.ts` is a name at any depth, `src/*.ts` a path from the start; `!` in front turns it round. A folder is given with its slash. */
export function globMatcher(glob: string, start: string): (path: string) => boolean {
  const not = glob.startsWith('!') && !glob.startsWith('!(')
  const bare = (not ? glob.slice(1) : glob).replace(`${start}/`, (prefix, at: number) => (at === 0 ? '' : prefix)).replace(/^(?:\.?\/)+/, '')
  const onlyFolders = bare.endsWith('/')
  const pattern = onlyFolders ? bare.slice(0, -1) : bare
  const matches = picomatch(pattern, { dot: true, basename: !pattern.includes('/'), nonegate: true })
  return (path) => {
    const folder = path.endsWith('/')
    if (onlyFolders && !folder) return not
    return matches(folder ? path.slice(0, -1) : path) !== not
  }
}
