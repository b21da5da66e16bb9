import { join } from 'node:path'

/** A command's surroundings in the sandbox, absolute. */
export interface Places {
  cwd: string
  root: string
  home: string
  writable: readonly string[]
  temporary: string
  network: boolean
}

/** Folders and files of keys that no sandboxed command sees. */
export const hiddenFolders = (home: string): string[] =>
  ['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.password-store', '.config/gcloud', '.config/gh', '.config/op', '.config/tiller', '.local/share/keyrings', 'Library/Keychains'].map((name) => join(home, name))
export const hiddenFiles = (home: string): string[] =>
  ['.netrc', '.git-credentials', '.npmrc', '.pypirc', '.pgpass', '.vault-token', '.agentrc', '.cargo/credentials', '.cargo/credentials.toml', '.gem/credentials', '.m2/settings.xml', '.bash_history', '.zsh_history', '.python_history', '.node_repl_history', '.psql_history', '.mysql_history'].map((name) => join(home, name))

/** In a writable folder, what makes other programs run something later stays as it is. */
export const keptFolders = ['.agent', '.git/hooks', '.git/modules'] as const
export const keptFiles = ['.agentrc', '.envrc', '.gitmodules', '.git/config', '.git/config.worktree', '.git/info/attributes'] as const
