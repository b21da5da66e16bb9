import { findReads, sedReads } from './known-expressions.ts'
import { parseArguments, type Arguments, type Options } from './known-options.ts'
import type { Word } from './shell-word.ts'

/** What a command that is known to only read looks at. */
export interface Reads {
  paths: Word[]
  recursive?: Recursive
}

/** It goes down into folders and shows what is in the files. */
export interface Recursive {
  /** Into hidden ones, too. */
  hidden: boolean
  /** Only files whose name fits one of these. */
  only?: readonly string[]
  /** Folders that are left out. */
  without?: readonly string[]
}

interface Known {
  options: Options
  /** What the words are that are not options: files (the default), text, or nothing at all. */
  operands?: 'paths' | 'text' | 'none'
  /** So many first operands are a pattern or a program text, unless one of these options gave it. */
  patterns?: { count: number; unless: readonly string[] }
  /** A further operand would be written to. */
  most?: number
  /** A program text that could do more than these options say. */
  refused?: RegExp
  /** Options that make it go down into folders. */
  recursive?: (given: Arguments['given']) => Recursive | undefined
}

/**
 * Whether a command is known to only read, whatever its arguments; null: it is not. Closed: a program or an option
 * that stands in no table is not known. `name` is the program without its folder.
 */
export function knownReads(name: string, words: readonly Word[]): Reads | null {
  const special = Object.hasOwn(SPECIAL, name) ? SPECIAL[name] : undefined
  if (special) return special(words)
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined
  const parsed = known ? parseArguments(words, known.options) : null
  return known && parsed ? readsOf(known, parsed) : null
}

function readsOf({ operands = 'paths', patterns, most, recursive, refused }: Known, { operands: all, files, given }: Arguments): Reads | null {
  if (most !== undefined && (all.length > most || all.some(({ values }) => values === null))) return null
  if (refused && all.some(({ shown }) => refused.test(shown))) return null
  if (operands === 'none') return all.length === 0 ? { paths: files } : null
  if (operands === 'text') return { paths: files }
  const skipped = patterns && !patterns.unless.some((option) => given.has(option)) ? patterns.count : 0
  const paths = [...files, ...all.slice(skipped)]
  const goesDown = recursive?.(given)
  if (!goesDown) return { paths }
  return { paths: all.length > skipped ? paths : [...paths, { shown: '.', values: ['.'] }], recursive: goesDown }
}

const any = (short = '', long: string[] = []): Options => ({ short, long, any: true })
const reader = (short = '', long: string[] = []): Known => ({ options: any(short, long) })
const saying: Known = { options: any(), operands: 'text' }
const telling: Known = { options: any(), operands: 'none' }
const only = (globs: readonly string[] | undefined): Pick<Recursive, 'only'> => (globs && globs.length > 0 ? { only: globs } : {})
const GREP: Known = {
  options: {
    short: 'EFGPivwxcLlnoqsbHhTuUzZaryI0123456789e:f<m:A:B:C:',
    long: [
      'regexp=', 'file<', 'max-count=', 'after-context=', 'before-context=', 'context=', 'include=', 'exclude=', 'exclude-from<', 'exclude-dir=', 'label=', 'binary-files=', 'color?', 'colour?',
      'extended-regexp', 'fixed-strings', 'basic-regexp', 'perl-regexp', 'ignore-case', 'no-ignore-case', 'invert-match', 'word-regexp', 'line-regexp', 'count', 'files-without-match', 'files-with-matches', 'line-number', 'only-matching', 'quiet', 'silent', 'no-messages', 'byte-offset', 'with-filename', 'no-filename', 'initial-tab', 'null', 'null-data', 'text', 'recursive', 'line-buffered', 'version', 'help',
    ],
  },
  patterns: { count: 1, unless: ['-e', '-f', '--regexp', '--file'] },
  recursive: (given) => (given.has('-r') || given.has('--recursive') ? { hidden: true, ...only(given.get('--include')), without: given.get('--exclude-dir') ?? [] } : undefined),
}

const KNOWN: Readonly<Record<string, Known>> = {
  ls: reader('I:T:w:', ['block-size=', 'ignore=', 'hide=', 'tabsize=', 'width=', 'time-style=', 'quoting-style=']),
  cat: reader(), tac: reader('s:', ['separator=']), nl: reader('b:d:f:h:i:l:n:s:v:w:'), rev: reader(), head: reader('n:c:', ['lines=', 'bytes=']),
  tail: reader('n:c:s:', ['lines=', 'bytes=', 'sleep-interval=', 'pid=']), wc: { options: { short: 'clmwL', long: ['bytes', 'chars', 'lines', 'words', 'max-line-length', 'total='] } }, cut: reader('b:d:f:c:', ['delimiter=', 'fields=', 'bytes=', 'characters=', 'output-delimiter=']),
  fold: reader('w:'), expand: reader('t:'), unexpand: reader('t:'), paste: reader('d:'), join: reader('a:e:1:2:j:o:t:v:'), comm: reader('', ['output-delimiter=']), cmp: reader('i:n:'),
  od: reader('A:j:N:t:S:', ['format=', 'address-radix=', 'skip-bytes=', 'read-bytes=']), hexdump: reader('n:s:e:f<'), fmt: reader('w:'),
  stat: reader('c:', ['format=', 'printf=']), du: { options: { short: 'abchHkmsSx0d:B:t:', long: ['all', 'apparent-size', 'bytes', 'total', 'human-readable', 'max-depth=', 'summarize', 'exclude=', 'block-size=', 'threshold=', 'separate-dirs', 'one-file-system', 'time?', 'si', 'inodes'] } }, df: reader('B:t:x:', ['block-size=', 'type=', 'exclude-type=']),
  realpath: reader('', ['relative-to=', 'relative-base=']), readlink: reader(), md5sum: reader(), sha1sum: reader(), sha256sum: reader(), sha512sum: reader(), b2sum: reader('l:'), cksum: reader('a:'), shasum: reader('a:'),
  uniq: { options: any('f:s:w:', ['skip-fields=', 'skip-chars=', 'check-chars=']), most: 1 },
  sort: {
    options: {
      short: 'bdfghiMnRrVsuzcCmk:t:S:',
      long: ['ignore-leading-blanks', 'dictionary-order', 'ignore-case', 'general-numeric-sort', 'human-numeric-sort', 'month-sort', 'numeric-sort', 'random-sort', 'reverse', 'version-sort', 'stable', 'unique', 'zero-terminated', 'check?', 'merge', 'key=', 'field-separator=', 'buffer-size=', 'sort=', 'parallel='],
    },
  },
  file: { options: { short: 'bhikLNnprv0F:e:P:', long: ['brief', 'mime', 'mime-type', 'mime-encoding', 'dereference', 'no-dereference', 'no-pad', 'separator=', 'print0', 'raw', 'extension', 'keep-going', 'version'] } },
  tree: { options: { short: 'adfipsughDFCnxtrUvqNL:P:I:', long: ['noreport', 'dirsfirst', 'filesfirst', 'gitignore', 'du', 'si', 'prune', 'charset=', 'filelimit=', 'timefmt=', 'sort?', 'matchdirs', 'ignore-case', 'inodes', 'device'] } },
  base64: { options: { short: 'dw:', long: ['decode', 'wrap='] } },
  column: { options: { short: 'tnexs:c:N:', long: ['table', 'separator=', 'output-width=', 'table-columns='] } },
  jq: {
    options: {
      short: 'rRcnsSjaeMC',
      long: ['raw-output', 'raw-input', 'compact-output', 'null-input', 'slurp', 'sort-keys', 'join-output', 'ascii-output', 'exit-status', 'monochrome-output', 'color-output', 'tab', 'indent=', 'arg==', 'argjson=='],
    },
    patterns: { count: 1, unless: [] },
    // Modules are files of any folder.
    refused: /\b(?:import|include)\b/,
  },
  diff: {
    options: {
      short: 'abBcdeiEnNpqstTuvwyU:C:I:W:F:L:x:X<',
      long: ['brief', 'report-identical-files', 'unified?', 'context?', 'side-by-side', 'width=', 'suppress-common-lines', 'ignore-case', 'ignore-all-space', 'ignore-space-change', 'ignore-blank-lines', 'ignore-trailing-space', 'ignore-tab-expansion', 'ignore-matching-lines=', 'strip-trailing-cr', 'minimal', 'text', 'new-file', 'exclude=', 'exclude-from<', 'color?', 'label=', 'normal', 'from-file<', 'to-file<', 'no-dereference', 'speed-large-files', 'show-c-function'],
    },
    // Of two folders it compares the files in them.
    recursive: () => ({ hidden: true }),
  },
  grep: GREP, egrep: GREP, fgrep: GREP,
  rg: {
    options: {
      short: 'abcFHilnNoPpqsSUvwxVh0.e:f<g:t:T:m:A:B:C:d:M:j:r:E:u',
      long: [
        'regexp=', 'file<', 'glob=', 'iglob=', 'type=', 'type-not=', 'max-count=', 'after-context=', 'before-context=', 'context=', 'max-depth=', 'max-columns=', 'threads=', 'replace=', 'encoding=', 'color=', 'colors=', 'sort=', 'sortr=', 'max-filesize=', 'ignore-file<', 'path-separator=', 'context-separator=', 'engine=',
        'files', 'hidden', 'no-ignore', 'no-ignore-vcs', 'no-ignore-dot', 'no-ignore-parent', 'no-ignore-global', 'ignore-case', 'smart-case', 'case-sensitive', 'line-number', 'no-line-number', 'heading', 'no-heading', 'with-filename', 'no-filename', 'files-with-matches', 'files-without-match', 'count', 'count-matches', 'only-matching', 'fixed-strings', 'word-regexp', 'line-regexp', 'invert-match', 'multiline', 'multiline-dotall', 'pcre2', 'json', 'stats', 'vimgrep', 'column', 'trim', 'null', 'null-data', 'quiet', 'passthru', 'text', 'unrestricted', 'type-list', 'no-messages', 'crlf', 'max-columns-preview', 'pretty', 'no-config', 'one-file-system', 'block-buffered', 'line-buffered', 'version', 'help', 'no-hidden', 'no-follow', 'binary',
      ],
    },
    patterns: { count: 1, unless: ['-e', '-f', '--regexp', '--file', '--files', '--type-list'] },
    recursive: (given) => {
      if (given.has('--files') || given.has('--type-list')) return undefined
      const globs = [...(given.get('-g') ?? []), ...(given.get('--glob') ?? []), ...(given.get('--iglob') ?? [])].filter((glob) => !glob.startsWith('!'))
      // What a glob names is searched even where it is hidden.
      const hidden = globs.length > 0 || ['-u', '-.', '--hidden', '--unrestricted'].some((option) => given.has(option))
      return { hidden, ...only(globs.map((glob) => glob.slice(glob.lastIndexOf('/') + 1))) }
    },
  },
  fd: {
    options: { short: 'HIusigFpaL0t:e:E:d:S:c:j:q1', long: ['hidden', 'no-ignore', 'no-ignore-vcs', 'unrestricted', 'case-sensitive', 'ignore-case', 'glob', 'fixed-strings', 'absolute-path', 'full-path', 'print0', 'max-depth=', 'min-depth=', 'exact-depth=', 'exclude=', 'type=', 'extension=', 'size=', 'changed-within=', 'changed-before=', 'color=', 'threads=', 'max-results=', 'quiet', 'strip-cwd-prefix?', 'version'] },
    patterns: { count: 1, unless: [] },
  },
  echo: saying, basename: saying, dirname: saying, seq: saying, sleep: saying, true: saying, false: saying, ':': saying, which: saying, type: saying, expr: saying, tr: saying,
  pwd: telling, whoami: telling, id: { options: any(), operands: 'text' }, groups: { options: any(), operands: 'text' }, uname: telling, nproc: telling, arch: telling, uptime: telling, free: { options: any('s:c:'), operands: 'none' }, tty: telling,
  exit: { options: {}, operands: 'text', most: 1 }, break: { options: {}, operands: 'text', most: 1 }, continue: { options: {}, operands: 'text', most: 1 }, return: { options: {}, operands: 'text', most: 1 }, wait: { options: {}, operands: 'none' },
}

const literal = (words: readonly Word[]): string[] | null => (words.every(({ values }) => values?.length === 1) ? words.map(({ shown }) => shown) : null)
const nothing: Reads = { paths: [] }
/** Only its version. Shells and interpreters take other options of that look to mean: run what comes in. */
const version = (words: readonly Word[], also = ''): Reads | null => (words.length === 1 && ['--version', also].includes(literal(words)?.[0] ?? '-') ? nothing : null)

const SPECIAL: Readonly<Record<string, (words: readonly Word[]) => Reads | null>> = {
  find: findReads,
  sed: sedReads,
  // `-v NAME` of printf and test evaluates an index in NAME, which may run a command.
  printf: (words) => (words[0] && words[0].values?.length === 1 && !words[0].shown.startsWith('-') ? nothing : null),
  test: (words) => testReads(words),
  '[': (words) => testReads(words),
  date: (words) => (literal(words)?.every((word, index, all) => /^(\+|-u$|-R$|-I\w*$|--utc$|--rfc-3339=\w+$|--iso-8601)/.test(word) || word === '-d' || all[index - 1] === '-d' || word.startsWith('--date=')) ? nothing : null),
  hostname: (words) => (words.length === 0 ? nothing : null),
  set: (words) => (/^(-[eux]+o?|-o|\+[ex]+|pipefail| )+$/.test(literal(words)?.join(' ') || 'none') ? nothing : null),
  read: (words) => (literal(words)?.every((word) => word === '-r' || /^[a-z_][a-z0-9_]*$/.test(word)) ? nothing : null),
  command: (words) => (['-v', '-V'].includes(literal(words.slice(0, 1))?.[0] ?? '') ? nothing : null),
  node: (words) => version(words, '-v'), python: (words) => version(words, '-V'), python3: (words) => version(words, '-V'), bash: (words) => version(words), gcc: (words) => version(words), cmake: (words) => version(words),
}

function testReads(words: readonly Word[]): Reads | null {
  return literal(words)?.every((word) => !/^-[vR]$/.test(word)) ? nothing : null
}
