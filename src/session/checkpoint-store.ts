import { lstatSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { EnvironmentOptions } from '../os/environment.ts'
import { sha256 } from '../os/files.ts'
import { git, type GitCall, type GitEnd } from '../os/git.ts'
import { repository, type Repository } from '../os/git-repository.ts'
import { gitSettings } from '../os/git-settings.ts'
import { processStart } from '../os/process-start.ts'
import { makePrivateFolder, writePrivate } from './private.ts'

/** A git repository of our own over a session's root. What it keeps are the bytes on disk; the person's repository is only read. */
export interface CheckpointStore {
  folder: string
  root: string
  /** The person's repository, if the root is the top of one. */
  repository: Repository | null
  run: (args: readonly string[], options?: StoreCall) => Promise<GitEnd>
  /** Brings what is ignored beside the .gitignore files of the tree up to date. When it changes, a file may come into view that is not new. */
  ignoreRules: () => string
}

export interface StoreCall extends Pick<GitCall, 'signal' | 'timeoutMs' | 'maxBytes' | 'input' | 'onOutput' | 'onSpawn' | 'discard'> {
  index?: string
  /** Many new files: they go into one pack, which is much faster than a file for each. */
  bulk?: boolean
}

const CONFIG = [
  'core.bare=false', 'core.autocrlf=false', 'core.eol=lf', 'core.safecrlf=false', 'core.attributesFile=/dev/null', 'core.splitIndex=false', 'core.untrackedCache=false', 'index.version=4',
  ...(process.platform === 'darwin' ? ['core.ignoreCase=true', 'core.precomposeUnicode=true'] : []),
  // Any name that the file system allows, as long as no part of it is `.git`.
  'core.protectNTFS=false', 'core.protectHFS=false',
  'core.compression=1', 'core.fsync=loose-object,pack', 'core.fsyncMethod=batch',
]
/** An empty file is no part of a pack; where it is synced in a batch, git loses the pack that it is writing. */
const BULK = ['core.bigFileThreshold=0', 'core.fsyncMethod=fsync']
/** Over whatever .gitattributes in the tree say: no conversion, no filter, no driver. */
const ATTRIBUTES = '* -text -ident -filter !eol !working-tree-encoding !diff !merge\n'
/** The same state has the same name, whoever takes it and when. */
const NOBODY = Object.fromEntries(['AUTHOR', 'COMMITTER'].flatMap((who) => [[`GIT_${who}_NAME`, 'tiller'], [`GIT_${who}_EMAIL`, 'tiller'], [`GIT_${who}_DATE`, '@0 +0000']]))
/** glibc gives a compressor's memory back for each file, and asks for it again; that is half of the time. */
const MALLOC = { MALLOC_TOP_PAD_: '67108864', MALLOC_TRIM_THRESHOLD_: '268435456' }

/** A folder that a repository ships is not taken as it is: what could run or lead elsewhere is written anew. Nobody else may read it, whatever the umask. */
const LAYOUT = { config: '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n\tsharedRepository = 0600\n', HEAD: 'ref: refs/heads/none\n', 'info/attributes': ATTRIBUTES, 'objects/info/alternates': '' }
const FOLDERS = ['.', 'git', 'git/objects', 'git/objects/info', 'git/objects/pack', 'git/refs', 'git/info']

/** Where the states of a root are kept. */
export const storeFolder = ({ dir, root }: { dir: string; root: string }): string => join(dir, sha256(Buffer.from(root)).slice(0, 16))

/** Makes it if it is not there. Throws with an errno where the folder cannot be written or is not ours. */
export async function openStore(folder: string, root: string, environment?: EnvironmentOptions): Promise<CheckpointStore> {
  const gitDir = join(folder, 'git')
  const found = repository(root)
  const own = found?.root === root ? found : null
  for (const each of FOLDERS) makePlainFolder(join(folder, each))
  for (const [name, content] of Object.entries(LAYOUT)) keep(join(gitDir, name), content)
  removeLeftovers(folder)
  const settings = await gitSettings(own ?? { root, gitDir: root }, { environment })
  const excludesFile = settings.excludesFile ?? join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'git', 'ignore')
  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: root, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', ...NOBODY, ...MALLOC }
  return {
    folder, root, repository: own,
    run: (args, { index, bulk, ...call } = {}) =>
      git({
        ...call, args, cwd: root, purpose: 'read', environment,
        env: { ...env, ...(index === undefined ? {} : { GIT_INDEX_FILE: index }) },
        config: [...CONFIG, ...(bulk ? BULK : []), `core.excludesFile=${excludesFile}`],
      }),
    ignoreRules() {
      const rules = [...(own ? [read(join(own.commonDir, 'info', 'exclude'))] : []), ownFolder(root, folder), ''].join('\n')
      keep(join(gitDir, 'info', 'exclude'), rules)
      return `${rules}\0${read(excludesFile)}`
    },
  }
}

/** Copies of the index that a process made which is gone by now. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = Number(/^index\.(\d+)\.\d+(?:\.lock)?$/.exec(name)?.[1])
    if (pid > 0 && processStart(pid) === null) rmSync(join(folder, name), { force: true })
  }
}

function makePlainFolder(path: string): void {
  makePrivateFolder(path)
  if (!lstatSync(path).isDirectory()) throw Object.assign(new Error(`${path} is a link`), { code: 'ELINKOUT' })
}

/** Where sessions and checkpoints lie, as a pattern of .gitignore: what Tiller writes itself is no change of the work tree. */
function ownFolder(root: string, folder: string): string {
  const places = [dirname(dirname(folder)), dirname(folder)].map((place) => relative(root, place)).filter((inside) => inside !== '' && !inside.startsWith('..'))
  const inside = places.find((place) => place.startsWith('.agent/')) ? '.agent' : places[0]
  return inside === undefined ? '' : `/${inside.replace(/[\\*?[\]!#\s]/g, '\\$&')}/`
}

function keep(path: string, content: string): void {
  if (read(path) !== content) writePrivate(path, content, false)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
