import { expect, test } from 'vitest'
import { isElevated, isProtected, isSecret } from '../../src/core/sensitive.ts'

test.each([
  '/w/.env', '/w/.env.local', '/w/a/.ENV', '/w/.envrc', '/w/prod.env', '/w/id_rsa', '/w/keys/id_ed25519', '/w/server.pem', '/w/tls.key', '/w/credentials.json', '/w/credentials', '/w/aws-credentials.csv', '/w/secrets.yml', '/w/.npmrc', '/w/.netrc',
  '/home/u/.ssh/config', '/home/u/.aws/credentials', '/home/u/.kube/config', '/home/u/.gnupg/x', '/home/u/.docker/config.json', '/home/u/.config/gh/hosts.yml', '/home/u/.bash_history', '/etc/shadow', '/w/terraform.tfstate', '/w/service-account-x.json', '/home/u/.config/tiller/agentrc', '/home/u/.git-credentials',
  '/proc/self/environ', '/proc/12/task/13/environ', '/proc/12/mem', '/w/prod.tfvars', '/w/kubeconfig', '/home/u/.config/rclone/rclone.conf', '/w/x-firebase-adminsdk-1a.json', '/home/u/.codex/auth.json', '/w/.vault_pass.txt',
])('%s is a secret', (path) => expect(isSecret(path)).toBe(true))

test.each(['/w/env', '/w/environment.ts', '/w/src/credentials.ts', '/w/key.ts', '/w/id_rsa.pub', '/w/secrets.ts', '/w/secretary.json', '/w/config.json', '/w/keyboard.md', '/w/README.md', '/w/.github/workflows/x.yml', '/w/docker/config.json', '/proc/self/status', '/w/proc/x/environ', '/w/variables.tf', '/w/auth.json'])('%s is not', (path) => expect(isSecret(path)).toBe(false))

test.each([
  '/w/.git/config', '/w/.git/hooks/post-commit', '/w/.Git/HOOKS/x', '/w/.git', '/w/sub/.git/config', '/repos/bare.git/hooks/x', '/w/.git./config', '/w/.git /config', '/w/.g\u200cit/config', '/w/git~1/config',
  '/w/.agentrc', '/w/sub/.AGENTRC', '/w/.agent/sessions/x', '/home/u/.bashrc', '/home/u/.zshenv', '/w/.envrc', '/home/u/.profile', '/home/u/.config/fish/config.fish', '/home/u/.gitconfig', '/w/.gitmodules', '/home/u/.ssh/authorized_keys', '/etc/profile.d/x.sh', '/home/u/.config/tiller/trust.json',
  '/w/.husky/pre-commit', '/w/.githooks/x', '/w/.vscode/tasks.json', '/w/.idea/workspace.xml', '/w/.devcontainer/devcontainer.json', '/w/.claude/settings.json', '/w/.cursor/mcp.json', '/w/.mcp.json', '/w/.codex/config.toml', '/home/u/.vimrc', '/w/.gdbinit', '/w/mise.toml', '/w/.dir-locals.el',
])('%s is protected', (path) => expect(isProtected(path)).toBe(true))

test.each(['/w/.gitignore', '/w/.github/x', '/w/git/config', '/w/agent/x', '/w/bashrc', '/w/.agentrc.example', '/w/src/profile.ts', '/w/.gitattributes', '/w/vscode/x.ts', '/w/AGENTS.md', '/w/package.json', '/w/src/idea/x.ts'])('%s is not protected', (path) => expect(isProtected(path)).toBe(false))

test('programs that act as somebody else, by any path', () => {
  expect(['sudo', '/usr/bin/sudo', 'doas', 'su'].every(isElevated)).toBe(true)
  expect(['sudoku', 'ls', 'sum'].some(isElevated)).toBe(false)
})
