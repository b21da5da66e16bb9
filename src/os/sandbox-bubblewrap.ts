import { mkdirSync, realpathSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { hiddenFiles, hiddenFolders, keptFiles, keptFolders, type Places } from './sandbox-places.ts'

/**
 * Linux. The process group stays the command's own, and marks in the environment are seen from outside, so that it is ended like
 * any other. It has process numbers of its own: nothing in it can signal or trace what is outside. No `--die-with-parent`: that
 * kills at once what was sent a TERM and is cleaning up; the reaper ends what is left when Tiller is gone.
 */
export function bubblewrap(argv: readonly string[], places: Places): { argv: string[]; env: Record<string, string> } {
  const { cwd, root, home, writable, temporary, network } = places
  const folders = [...new Set(writable.filter(isFolder).map(real))].filter((folder) => folder !== '/').sort((a, b) => a.length - b.length)
  return {
    argv: [
      bwrap() ?? 'bwrap', '--unshare-user-try', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try', ...(network ? [] : ['--unshare-net']), '--cap-drop', 'ALL',
      '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc',
      '--bind', temporary, '/tmp',
      // A root or a command file that lies in /tmp, which is covered now.
      ...[...new Set([root, cwd, ...commandFiles(argv)])].filter((path) => isInside(path, '/tmp') && isThere(path)).flatMap((path) => ['--ro-bind', path, path]),
      ...folders.flatMap((folder) => ['--bind', folder, folder, ...kept(folder)]),
      // Last, so that no writable folder shows them again.
      ...hiddenFolders(home).filter(isFolder).flatMap((folder) => ['--tmpfs', folder]),
      ...[...hiddenFiles(home), ...sockets()].filter((file) => isThere(file) && !isFolder(file)).flatMap((file) => ['--ro-bind', '/dev/null', file]),
      ...['/run/user'].filter(isFolder).flatMap((folder) => ['--tmpfs', folder]),
      '--chdir', cwd, '--', ...argv,
    ],
    env: { TMPDIR: '/tmp', XDG_CACHE_HOME: '/tmp/.cache' },
  }
}

/** `.git` is mounted onto itself, so that it cannot be moved away and replaced. */
function kept(folder: string): string[] {
  const git = join(folder, '.git')
  const own = isFolder(git) ? ['--bind', git, git] : isThere(git) ? ['--ro-bind', git, git] : []
  if (isFolder(git)) makeHooks(join(git, 'hooks'))
  return [...own, ...[...keptFolders, ...keptFiles].map((name) => join(folder, name)).filter(isThere).flatMap((path) => ['--ro-bind', path, path])]
}

/** Where there is no folder for hooks, one could be made. */
function makeHooks(folder: string): void {
  try {
    mkdirSync(folder)
  } catch {
    // There is one, or nobody may make one.
  }
}

/** Doors to servers of this machine that would act for whoever asks. */
const sockets = (): string[] =>
  ['/run/docker.sock', '/run/podman/podman.sock', '/run/containerd/containerd.sock', '/run/crio/crio.sock', '/run/dbus/system_bus_socket', '/run/snapd.socket', '/run/snapd-snap.socket', '/run/systemd/private', '/run/libvirt/libvirt-sock', process.env['SSH_AUTH_SOCK'] ?? ''].filter((path) => path !== '')

/** A text too long for an argument comes in a file. */
const commandFiles = (argv: readonly string[]): string[] => argv.slice(1, 2).filter((path) => isInside(path, tmpdir()) && isThere(path)).map(dirname)

const isInside = (path: string, folder: string): boolean => path.startsWith(`${folder}/`)
const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
const real = (path: string): string => realpathSync(path)

/** The machine's own one, not what a project may have put first on the PATH. */
export const bwrap = (): string | undefined => ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/wrappers/bin/bwrap', '/run/current-system/sw/bin/bwrap'].find(isThere)
