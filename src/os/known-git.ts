import type { Reads } from './known-commands.ts'
import { parseArguments, type Options } from './known-options.ts'
import type { Word } from './shell-word.ts'

/** A git command that is known to only read, if the repository names no programs of its own (git-programs.ts). */
export interface GitReads extends Reads {
  /** `-C`: where it works, relative to where it is run. */
  folder: string | null
  /** It does not look at any repository. */
  anywhere: boolean
  /** It shows what is in files that it does not name. The command in words; null: some of them are only known when it runs. */
  shows?: { words: string[] | null }
}

/** null: not known to only read. Options are listed, because git takes any unambiguous beginning of one: `--outp=file` writes. */
export function gitReads(words: readonly Word[]): GitReads | null {
  let folder: string | null = null
  const texts = words.map(({ values }) => (values?.length === 1 ? values[0] : undefined))
  let index = 0
  for (; texts[index]?.startsWith('-'); index++) {
    const option = texts[index] ?? ''
    if (option === '--version' && texts.length === 1) return { paths: [], folder: null, anywhere: true }
    if (option === '-C' && folder === null && texts[index + 1] !== undefined) folder = texts[++index] ?? null
    else if (!['--no-pager', '-P', '--no-optional-locks', '--literal-pathspecs'].includes(option)) return null
  }
  const name = texts[index]
  const rest = words.slice(index + 1)
  if (name === undefined) return null
  if (name === 'version') return rest.length === 0 ? { paths: [], folder: null, anywhere: true } : null
  const known = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  const sub = known?.sub && rest.length > 0 ? Object.entries(known.sub).find(([word]) => word === rest[0]?.values?.[0]) : undefined
  if (known?.sub && rest.length > 0 && !sub && !known.bare) return null
  const chosen = sub?.[1] ?? known?.bare ?? known
  const parsed = chosen?.options ? parseArguments(sub ? rest.slice(1) : rest, chosen.options) : null
  if (!chosen || !parsed || (chosen.operands && !chosen.operands(parsed.operands.length, parsed.given))) return null
  const command = texts.slice(index)
  const shows = showsContent(sub ? `${name} ${sub[0]}` : name, parsed.given) ? { shows: { words: command.every((text) => text !== undefined) ? command : null } } : {}
  return { paths: [...parsed.files, ...parsed.operands.map(pathOf)], folder, anywhere: false, ...shows }
}

const PATCH = ['-p', '-u', '--patch', '--patch-with-raw', '--patch-with-stat', '-U', '--unified', '-W', '--function-context', '--word-diff', '--color-words', '-c', '--cc', '-m', '--remerge-diff', '--diff-merges', '-L', '--binary', '-G', '-S']
const NO_PATCH = ['--name-only', '--name-status', '--stat', '--numstat', '--shortstat', '--dirstat', '--cumulative', '--summary', '--compact-summary', '--raw', '--quiet', '-q', '-s', '--no-patch', '--check', '-l', '--files-with-matches', '--files-without-match', '-c', '--count']

/** `cat-file` and `blame` name what they show. */
function showsContent(command: string, given: Given): boolean {
  const has = (options: readonly string[]): boolean => options.some((option) => given.has(option))
  switch (command) {
    case 'diff':
    case 'show':
      return has(PATCH.filter((option) => option !== '-c')) || !has(NO_PATCH.filter((option) => option !== '-c'))
    case 'log':
    case 'whatchanged':
    case 'stash show':
    case 'reflog show':
      return has(PATCH)
    case 'grep':
      return !has(NO_PATCH)
    default:
      return false
  }
}

/** `HEAD:src/a` and `:(top)src` name paths; revisions look like paths that are not there. */
function pathOf(word: Word): Word {
  const text = word.values?.[0]
  if (word.values?.length !== 1 || text === undefined) return word
  const path = text.startsWith(':') ? text.replace(/^:(?:\([^)]*\)|[/!^]*)/, '') : text.replace(/^[^:/]+:(?=.)/, '')
  return { shown: path, values: [path === '' ? '.' : path] }
}

type Given = ReadonlyMap<string, readonly string[]>
interface Command { options?: Options; operands?: (count: number, given: Given) => boolean; sub?: Record<string, Command>; /** Without one of the sub-commands. */ bare?: Command }

const none = (count: number): boolean => count === 0
const onlyWith = (...options: string[]) => (count: number, given: Given): boolean => count === 0 || options.some((option) => given.has(option))
/** `name=` takes its value in the same word, as most options of git's must; `name:` perhaps in the next. */
const of = (short: string, long: string, operands?: Command['operands']): Command => ({
  options: { short, long: long.split(' ').map((name) => name.replace(/=$/, '~').replace(/:$/, '=')) },
  ...(operands ? { operands } : {}),
})

const DIFF_SHORT = 'pusRabwWzBDM?C?U?S:G:l:'
const DIFF =
  'patch no-patch raw patch-with-raw patch-with-stat stat? stat-width= stat-count= stat-name-width= numstat shortstat dirstat? cumulative summary compact-summary name-only name-status color? no-color color-moved? word-diff? word-diff-regex= color-words? no-renames find-renames? find-copies? find-copies-harder diff-filter= diff-algorithm= minimal patience histogram anchored= indent-heuristic no-indent-heuristic ignore-space-change ignore-all-space ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol ignore-matching-lines= ignore-submodules? submodule? full-index binary abbrev? no-ext-diff no-textconv text function-context inter-hunk-context= unified= exit-code quiet check relative? no-relative no-prefix src-prefix= dst-prefix= line-prefix= pickaxe-all pickaxe-regex ws-error-highlight= rename-empty no-rename-empty irreversible-delete'
const LOG_SHORT = 'iEFPcmgqtn:L:0123456789'
const LOG =
  'oneline decorate? no-decorate all branches? tags? remotes? graph no-graph merges no-merges first-parent author: committer: grep: since: until: after: before: since-as-filter= max-count: skip: format= pretty? abbrev-commit no-abbrev-commit date: reverse follow full-diff all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp left-right left-only right-only cherry cherry-pick cherry-mark topo-order date-order author-date-order boundary simplify-by-decoration simplify-merges ancestry-path? full-history dense sparse parents children source use-mailmap no-mailmap mailmap no-use-mailmap clear-decorations decorate-refs= decorate-refs-exclude= exclude= glob: notes? show-notes? no-notes walk-reflogs relative-date min-parents= max-parents= encoding= no-walk? not diff-merges= combined-all-paths cc remerge-diff show-linear-break? log-size expand-tabs? no-expand-tabs count'
const LIST = 'list contains: no-contains: merged: no-merged: sort: format: points-at: column? no-column color? no-color ignore-case omit-empty'
const log = of(DIFF_SHORT + LOG_SHORT, `${DIFF} ${LOG}`)

const COMMANDS: Readonly<Record<string, Command>> = {
  status: of('sbvzu?', 'short branch no-branch porcelain? long verbose untracked-files? ignored? ignore-submodules? column? no-column ahead-behind no-ahead-behind renames no-renames find-renames? show-stash null'),
  diff: of(`${DIFF_SHORT}q0123`, `${DIFF} cached staged merge-base base ours theirs`),
  log, show: log, whatchanged: log, shortlog: of('snecw?', `${LOG} summary numbered email group=`),
  'rev-list': of(LOG_SHORT, `${LOG} objects objects-edge object-names header timestamp stdin disk-usage? use-bitmap-index`),
  blame: of('wsneflpbtcM?C?L:', 'line-porcelain porcelain incremental root show-name show-number show-email show-stats date= first-parent since= abbrev= color-lines color-by-age ignore-rev= ignore-revs-file< minimal encoding= progress no-progress'),
  'ls-files': of('cdmoistukzvfx:X<', 'cached deleted modified others ignored stage unmerged killed directory no-empty-directory eol exclude= exclude-from< exclude-standard error-unmatch full-name abbrev? deduplicate sparse format='),
  'ls-tree': of('rdtlz', 'name-only name-status object-only full-name full-tree abbrev? long format='),
  'rev-parse': of('q', 'short? abbrev-ref? show-toplevel git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository verify quiet symbolic-full-name symbolic show-prefix show-cdup show-superproject-working-tree all branches? tags? remotes? path-format= git-path= local-env-vars show-object-format? sq not'),
  'merge-base': of('a', 'all octopus independent is-ancestor fork-point'), 'name-rev': of('', 'tags refs= exclude= all name-only no-undefined always'),
  describe: of('', 'tags all long always dirty? broken? abbrev= contains match: exclude: candidates= exact-match first-parent'),
  'cat-file': of('ptse', ''), 'show-ref': of('dsq', 'head heads branches tags dereference hash? abbrev? verify quiet'), 'for-each-ref': of('', `${LIST} count= shell perl python tcl stdin exclude= include-root-refs`),
  'symbolic-ref': of('q', 'short quiet no-recurse', (count) => count === 1), 'count-objects': of('vH', 'verbose human-readable', none), 'check-ignore': of('vnqz', 'quiet verbose non-matching no-index'), 'check-attr': of('az', 'all cached'), cherry: of('v', 'abbrev?'),
  grep: of(
    'inwvlLchHoEFGPIpqraWzA:B:C:e:f<m:0123456789',
    'line-number column ignore-case word-regexp invert-match files-with-matches files-without-match name-only count only-matching show-function function-context heading break all-match not and or cached max-depth= threads= context= after-context= before-context= quiet fixed-strings extended-regexp perl-regexp basic-regexp text recursive no-recursive color? no-color full-name null max-count= no-textconv',
  ),
  // With a name these make one.
  branch: of('arvliq', `${LIST} all remotes verbose show-current no-abbrev abbrev=`, onlyWith('-l', '--list')),
  tag: of('lin?', LIST, onlyWith('-l', '--list')),
  remote: { sub: { 'get-url': of('', 'push all') }, bare: of('v', 'verbose', none) },
  stash: { sub: { list: log, show: of(DIFF_SHORT, `${DIFF} include-untracked only-untracked`) } },
  reflog: { sub: { show: log }, bare: of(DIFF_SHORT + LOG_SHORT, `${DIFF} ${LOG}`, none) },
  worktree: { sub: { list: of('vz', 'porcelain verbose', none) } },
}
