import { fixed, type Word } from './shell-word.ts'

/** Files that a command says it writes: `-o`, `--output`, what `tee` and the like take. More than it may be: what is named here is asked for. */
export function outputsOf(program: string, words: readonly Word[]): Word[] {
  const name = program.slice(program.lastIndexOf('/') + 1)
  const operands = words.filter(({ shown }) => !shown.startsWith('-'))
  if (name === 'tee' || name === 'sponge') return operands
  if (name === 'dd') return words.filter(({ shown }) => shown.startsWith('of=')).map(({ shown, values }) => ({ shown: shown.slice(3), values: values?.map((value) => value.slice(3)) ?? null }))
  if (name === 'sed' || name === 'perl') {
    const scripted = words.some(({ shown }) => /^-[a-zA-Z]*[ef]$|^--(?:expression|file)/.test(shown))
    return words.some(({ shown }) => /^-[a-zA-Z]*i|^--in-place/.test(shown)) ? operands.slice(scripted ? 0 : 1) : []
  }
  return NOT_OUTPUT.has(name) ? [] : words.flatMap((word, index) => optionOutput(name, word, words[index + 1]))
}

/** Programs in which `-o` or `--output` is something else: a format, a choice, "only what matches". */
const NOT_OUTPUT: ReadonlySet<string> = new Set([
  'grep', 'egrep', 'fgrep', 'rg', 'ps', 'ls', 'set', 'find', 'ssh', 'scp', 'sftp', 'mount', 'tar', 'unzip', 'od', 'npm', 'pnpm', 'yarn', 'pytest', 'jest', 'vitest', 'kubectl', 'aws', 'az', 'gcloud', 'docker', 'podman', 'helm', 'terraform', 'systemctl', 'journalctl', 'lsblk', 'findmnt', 'chown', 'id', 'useradd', 'python', 'python3',
])

function optionOutput(name: string, word: Word, next: Word | undefined): Word[] {
  const { shown } = word
  const long = /^--(?:o|ou|out|outp|outpu|output|output-?file|output-document|out-?file)(?:=([\s\S]*))?$/i.exec(shown)
  const short = (name === 'wget' ? /^-[a-zA-Z]*[oO]$|^-[oO]([\s\S]+)$/ : /^-[a-zA-Z]*o$|^-o([\s\S]+)$/).exec(shown)
  const found = long ?? short
  if (!found) return []
  const attached = found[1]
  if (attached === undefined) return next && (long || !next.shown.startsWith('-')) ? [next] : []
  // `-only` is rather an option of its own.
  if (!long && !ATTACHES.has(name) && !/[./]/.test(attached)) return []
  return [word.values === null ? { shown: attached, values: null } : fixed(attached)]
}

const ATTACHES: ReadonlySet<string> = new Set(['sort', 'curl', 'wget', 'tree', 'gcc', 'cc', 'g++', 'c++', 'clang', 'clang++', 'ld', 'as'])
