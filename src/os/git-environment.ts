import { environment, type EnvironmentOptions } from './environment.ts'

/**
 * `read`: nothing that the repository names is run, no lock is taken, messages are in English.
 * `write`: the repository's hooks run as they would in a terminal, so their locale is the person's; nobody can be asked.
 */
export type GitPurpose = 'read' | 'write'

/** The only GIT_* variables that are passed on: who commits, and which of the person's own configuration files hold. */
const KEPT = new Set(['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM', 'GIT_EXEC_PATH', 'GIT_CEILING_DIRECTORIES', 'GIT_DISCOVERY_ACROSS_FILESYSTEM'])
const isKept = (name: string): boolean => KEPT.has(name) || /^GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$/.test(name)

/** The environment of a git call: the repository is the one of its folder, whatever a hook that started Tiller had set (GIT_DIR, GIT_INDEX_FILE, …). */
export function gitEnvironment(purpose: GitPurpose, options: EnvironmentOptions = {}): Record<string, string> {
  const base = options.base ?? process.env
  // Without GPG_TTY a signing agent has no terminal to ask on.
  const kept = Object.entries(environment(options)).filter(([name]) => !/^(GIT_.*|GPG_TTY)$/i.test(name))
  const passed = Object.entries(base).filter((pair): pair is [string, string] => isKept(pair[0]) && pair[1] !== undefined)
  return {
    ...Object.fromEntries([...kept, ...passed]),
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'false', GIT_SEQUENCE_EDITOR: 'false', EDITOR: 'false', VISUAL: 'false',
    GIT_PAGER: 'cat', PAGER: 'cat',
    GIT_ASKPASS: '', SSH_ASKPASS: '', SSH_ASKPASS_REQUIRE: 'never',
    // No operation here needs a server. A partial clone would fetch what is missing, with a program that the repository names.
    GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1',
    ...(purpose === 'read' ? { LC_ALL: 'C', LANGUAGE: '', GIT_OPTIONAL_LOCKS: '0' } : spoken(base)),
  }
}

/** English messages, which we read, in the person's own character set, which hooks rely on. */
function spoken(base: Record<string, string | undefined>): Record<string, string> {
  const type = base['LC_ALL'] || base['LC_CTYPE'] || base['LANG'] || 'C.UTF-8'
  return { LC_ALL: '', LC_CTYPE: type, LC_MESSAGES: 'C', LANGUAGE: '' }
}
