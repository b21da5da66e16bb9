export interface EnvironmentOptions {
  /** false: only what programs need to work at all (PATH, HOME, locale, …). */
  inherit?: boolean | undefined
  /** Globs of names that are left out, such as `*_TOKEN`; case does not count. */
  drop?: readonly string[] | undefined
  /** Added last, over everything else. */
  extra?: Readonly<Record<string, string>> | undefined
  /** Where it comes from; Tiller's own where nothing is said. */
  base?: Readonly<Record<string, string | undefined>> | undefined
}

/** The environment of a child: no editor, pager, prompt or colour, no repository of somebody else's, no secret. */
export function environment(options: EnvironmentOptions = {}): Record<string, string> {
  const base = options.base ?? process.env
  const dropped = [...NEVER, ...(base['npm_lifecycle_event'] === undefined ? [] : NPM_RUN), ...(options.drop ?? [])].map(globOf)
  const entries = Object.entries(base).filter((entry): entry is [string, string] => {
    const [name, value] = entry
    if (value === undefined || dropped.some((glob) => glob.test(name))) return false
    return options.inherit !== false || NEEDED.test(name)
  })
  return { CI: 'true', ...Object.fromEntries(entries.toSorted((a, b) => a[1].length - b[1].length).filter(fitting())), ...QUIET, ...options.extra }
}

/** Linux takes no longer one, and no system more than a megabyte or two in all: it refuses the whole command instead. */
const LONGEST = 100_000
const MOST = 500_000

/** The small ones first: PATH and the like are among them. */
function fitting(): (entry: [string, string]) => boolean {
  let total = 0
  return ([name, value]) => {
    const bytes = Buffer.byteLength(name) + Buffer.byteLength(value) + 2
    if (bytes > LONGEST || total + bytes > MOST) return false
    total += bytes
    return true
  }
}

const NEEDED = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|XDG_.*|SSL_CERT_.*|.*_proxy)$/i

/** Of a terminal or a repository that is not the child's, and what turns colour back on. `git rev-parse --local-env-vars` names the git ones. */
const NEVER = [
  'GIT_DIR', 'GIT_WORK_TREE', 'GIT_IMPLICIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY', 'GIT_ALTERNATE_OBJECT_DIRECTORIES', 'GIT_COMMON_DIR', 'GIT_NAMESPACE',
  'GIT_PREFIX', 'GIT_CONFIG', 'GIT_CONFIG_PARAMETERS', 'GIT_GRAFT_FILE', 'GIT_NO_REPLACE_OBJECTS', 'GIT_REPLACE_REF_BASE', 'GIT_SHALLOW_FILE', 'GIT_QUARANTINE_PATH',
  // They would lead `cd` and globs elsewhere than the text of a command says, by which it is judged.
  'CDPATH', 'GLOBIGNORE', 'BASHOPTS', 'SHELLOPTS', 'PWD', 'OLDPWD',
  'GIT_INTERNAL_*', 'GIT_EXTERNAL_DIFF', 'GPG_TTY', 'SSH_TTY', 'SUDO_ASKPASS', 'FORCE_COLOR', 'CLICOLOR_FORCE', 'COLORTERM', 'NODE_CHANNEL_FD',
]

/** When Tiller was started by `npm start`, these would tell a nested npm that it works for Tiller's own package. */
const NPM_RUN = ['npm_lifecycle_*', 'npm_package_*', 'npm_command', 'npm_execpath', 'npm_node_execpath', 'npm_config_local_prefix', 'npm_config_prefix', 'npm_config_global_prefix', 'INIT_CWD']

const NO_EDITOR = `echo "no editor can be opened here: give the text as an argument (-m), or take it as it is (--no-edit, GIT_EDITOR=true)" >&2; false`

/** Programs that would ask, page, colour or open an editor do not: nobody sees them and nobody can answer. */
const QUIET = {
  TERM: 'dumb', NO_COLOR: '1', CLICOLOR: '0', CARGO_TERM_COLOR: 'never', PY_COLORS: '0',
  PAGER: 'cat', GIT_PAGER: 'cat', MANPAGER: 'cat', SYSTEMD_PAGER: 'cat', GH_PAGER: 'cat', PSQL_PAGER: 'cat', BAT_PAGER: 'cat', DELTA_PAGER: 'cat', AWS_PAGER: '',
  // git hands its editors to a shell, others run them as they are
  GIT_EDITOR: NO_EDITOR, GIT_SEQUENCE_EDITOR: NO_EDITOR, EDITOR: 'false', VISUAL: 'false', GIT_MERGE_AUTOEDIT: 'no',
  GIT_TERMINAL_PROMPT: '0', GIT_ASKPASS: '', SSH_ASKPASS: '', SSH_ASKPASS_REQUIRE: 'never', GCM_INTERACTIVE: 'never',
  DEBIAN_FRONTEND: 'noninteractive', APT_LISTCHANGES_FRONTEND: 'none', NEEDRESTART_MODE: 'l',
  npm_config_yes: 'true', npm_config_fund: 'false', npm_config_update_notifier: 'false', npm_config_progress: 'false', YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
  PIP_NO_INPUT: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_PROGRESS_BAR: 'off', POETRY_NO_INTERACTION: '1', PYTHONUNBUFFERED: '1',
  COMPOSER_NO_INTERACTION: '1', CARGO_TERM_PROGRESS_WHEN: 'never', GH_PROMPT_DISABLED: '1', TF_INPUT: '0', CLOUDSDK_CORE_DISABLE_PROMPTS: '1', NONINTERACTIVE: '1',
} as const

function globOf(glob: string): RegExp {
  const source = glob.replace(/[.+^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '.*').replaceAll('?', '.')
  return new RegExp(`^${source}$`, 'i')
}
