import { matchesName } from './glob.ts'

/**
 * What is never read or written unasked, whatever a broad rule says, except in `full`. Judged by names, in any
 * case and in the spellings that some file systems take for the same name. Paths are absolute and real.
 */
export const isSecret = (path: string): boolean => {
  const names = namesOf(path)
  const name = names.at(-1) ?? ''
  if (PUBLIC_KEY.test(name)) return false
  return PROCESS.test(path) || SECRET_FILES.some((pattern) => matchesName(pattern, name)) || names.some((part) => SECRET_FOLDERS.has(part)) || SECRET_PATHS.some((pattern) => `/${names.join('/')}`.includes(pattern))
}

const PUBLIC_KEY = /^id_.*\.pub$/

const SECRET_FILES = [
  '.env*', '*.env',
  'id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', '*.pem', '*.key', '*.p12', '*.pfx', '*.jks', '*.keystore', '*.kdbx', '*.ppk', '*.gpg',
  'credentials', ...['json', 'yml', 'yaml', 'toml', 'ini', 'xml', 'csv', 'enc', 'properties', 'txt', 'db'].flatMap((ending) => [`credentials.${ending}`, `*.credentials.${ending}`, `*_credentials.${ending}`, `*-credentials.${ending}`]),
  ...['json', 'yml', 'yaml', 'toml', 'ini', 'properties', 'txt'].flatMap((ending) => [`secrets.${ending}`, `secret.${ending}`]),
  '.credentials*', '.secrets*', '.git-credentials', '.netrc', '_netrc', '.npmrc', '.yarnrc.yml', '.pypirc', '.pgpass', '.my.cnf', '.htpasswd', '.vault-token', '.dockercfg', '.terraformrc', '.s3cfg', '.boto',
  'service-account*.json', 'service_account*.json', 'application_default_credentials.json', '*.tfstate', '*.tfstate.backup',
  'kubeconfig', '*.kubeconfig', '*.tfvars', '.vault_pass*', '.vault-pass*', 'rclone.conf', '.mylogin.cnf', '*-adminsdk-*.json', 'gha-creds-*.json', '*.tfrc.json', 'oauth_creds.json',
  '.*_history', '.lesshst', 'shadow', 'shadow-', 'gshadow', 'master.passwd', 'sudoers',
]
const SECRET_FOLDERS: ReadonlySet<string> = new Set(['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.password-store', 'keychains', '.gcloud'])
const SECRET_PATHS = ['/.docker/config.json', '/.config/gh/hosts.yml', '/.config/gcloud/', '/.config/tiller/', '/.config/op/', '/.local/share/keyrings/', '/.cargo/credentials', '/.gem/credentials', '/.m2/settings.xml', '/.gradle/gradle.properties', '/.config/hub', '/.config/github-copilot/', '/.codex/auth.json', '/.composer/auth.json', '/opencode/auth.json']
/** What a process was given and holds, keys too. */
const PROCESS = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem|auxv|maps|stack)$/

/** What makes other programs run code later, without a person who starts it: git's own folder and hooks, our configuration and that of other agents and of editors, start-up files of shells and of programs. */
export const isProtected = (path: string): boolean => {
  const names = namesOf(path)
  const name = names.at(-1) ?? ''
  return names.some((part) => part.endsWith('.git') || part === 'git~1' || PROTECTED_FOLDERS.has(part)) || PROTECTED_FILES.has(name) || PROTECTED_PATHS.some((pattern) => `/${names.join('/')}`.includes(pattern))
}

// A bare repository's or a worktree's common folder is named `x.git`, so any such name counts.
const PROTECTED_FOLDERS: ReadonlySet<string> = new Set(['.agent', '.ssh', '.husky', '.githooks', '.vscode', '.idea', '.devcontainer', '.claude', '.cursor', '.codex', '.gemini', '.opencode', '.continue', '.direnv'])
const PROTECTED_FILES: ReadonlySet<string> = new Set([
  '.agentrc', '.gitconfig', '.gitmodules', '.envrc', '.direnvrc', '.mcp.json', '.claude.json', 'opencode.json', 'mise.toml', '.mise.toml',
  '.vimrc', '.exrc', '.nvimrc', '.nvim.lua', '.emacs', '.dir-locals.el', '.gdbinit', '.lldbinit', '.tmux.conf', '.screenrc', 'sitecustomize.py', 'usercustomize.py',
  '.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.login', '.logout', '.inputrc', '.pam_environment',
  '.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zlogout', '.kshrc', '.mkshrc', '.cshrc', '.tcshrc', '.xprofile', '.xinitrc', '.xsession', '.xsessionrc', 'config.fish',
])
const PROTECTED_PATHS = ['/.config/tiller/', '/.config/git/', '/.config/fish/', '/.config/autostart/', '/.config/systemd/', '/launchagents/', '/launchdaemons/', '/etc/profile', '/etc/bash.bashrc', '/etc/zsh']

/** Programs that act as somebody else. */
export const isElevated = (program: string): boolean => ELEVATED.has(program.slice(program.lastIndexOf('/') + 1))
const ELEVATED: ReadonlySet<string> = new Set(['sudo', 'sudoedit', 'doas', 'su', 'pkexec', 'runuser', 'run0', 'gosu', 'setpriv'])

/** Lower case; what HFS+ ignores and what Windows drops at the end of a name does not count. */
const namesOf = (path: string): string[] =>
  path
    .toLowerCase()
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .split(/[/\\]/)
    .map((name) => name.replace(/(?!^)[. ]+$/, ''))
    .filter((name) => name !== '' && name !== '.')
