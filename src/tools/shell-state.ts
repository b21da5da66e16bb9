import { statSync } from 'node:fs'
import { isInside } from '../core/policy.ts'
import type { Access } from '../core/record.ts'
import { MARK } from '../os/process-table.ts'
import { resolveReal } from '../os/real-path.ts'

/** What `keep: true` keeps from one command for the next ones, while Tiller runs. */
export interface ShellState {
  /** undefined: the session's working directory. */
  cwd: string | undefined
  /** Exported variables that differ from what a command is given; undefined: unset. */
  variables: Map<string, string | undefined>
}

export const freshState = (): ShellState => ({ cwd: undefined, variables: new Map() })

/** The folder a command runs in, and what must be said about it. */
export type Folder = { cwd: string; notice?: string } | { refused: string }

export function folderFor(asked: string | undefined, state: ShellState, here: { cwd: string; root: string }): Folder {
  const current = [state.cwd, here.cwd, here.root].find((path): path is string => path !== undefined && isFolder(path))
  if (current === undefined) return { refused: `The root ${here.root} is gone, and so is every other folder a command could run in.` }
  const wanted = state.cwd ?? here.cwd
  if (current !== wanted) {
    // A remembered folder that is gone must not make every later command fail.
    state.cwd = undefined
    if (asked === undefined) return { cwd: resolveReal(current, '/'), notice: `${wanted} is gone: this runs in ${current}` }
  }
  if (asked === undefined) return { cwd: resolveReal(current, '/') }
  const cwd = resolveReal(asked, current)
  return isFolder(cwd) ? { cwd } : { refused: `cwd: ${asked} is not a folder (looked for ${cwd}). Leave cwd out to run in ${current}.` }
}

/** What a changed environment and a folder outside the root add to a command's own accesses. */
export function stateAccesses(cwd: string, root: string, state: ShellState): Access[] {
  const names = [...state.variables.keys()]
  return [
    ...(isInside(cwd, root) ? [] : [{ kind: 'read' as const, path: cwd }]),
    // PATH, LD_PRELOAD, GIT_SSH_COMMAND and many more decide what a command runs: no list of harmless ones is complete.
    ...(names.length > 0 ? [{ kind: 'unknown' as const, why: `variables kept from an earlier command may change what runs: ${names.join(', ')}`, part: 'program' as const }] : []),
  ]
}

export function withVariables(environment: Record<string, string>, state: ShellState): Record<string, string> {
  const changed = { ...environment }
  for (const [name, value] of state.variables) {
    if (value === undefined) delete changed[name]
    else changed[name] = value
  }
  return changed
}

/** Keeps where a command ended and what it exported. Whether it succeeded does not matter. */
export function keepState(state: ShellState, end: { endedIn?: string; exports?: Record<string, string> }, given: Record<string, string>, usual: Record<string, string>): void {
  if (end.endedIn === undefined || end.exports === undefined) return
  state.cwd = end.endedIn
  const names = new Set([...Object.keys(given), ...Object.keys(end.exports)].filter((name) => !OF_THE_SHELL.has(name)))
  for (const name of names) {
    const value = end.exports[name]
    if (value === usual[name]) state.variables.delete(name)
    else state.variables.set(name, value)
  }
}

const OF_THE_SHELL = new Set([MARK, 'PWD', 'OLDPWD', 'SHLVL', '_'])

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
