import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { gitPrograms } from './git-programs.ts'
import { secretsShown } from './git-shown.ts'
import { knownReads, type Reads } from './known-commands.ts'
import { gitReads } from './known-git.ts'
import { hostsOf } from './known-network.ts'
import { outputsOf } from './known-outputs.ts'
import { isSystemProgram } from './program-path.ts'
import { secretsUnder } from './secrets-under.ts'
import type { Cwds, ShellAccess, Surroundings } from './shell-access.ts'
import { realPaths } from './shell-cwds.ts'
import { isHarmlessFile, type SimpleCommand } from './shell-walk.ts'
import { fixed, type Word } from './shell-word.ts'
import { unwrap } from './shell-wrappers.ts'

/** Judges the text of a nested command line (`bash -c '…'`). */
export type Nested = (text: string, at: { cwd: string; shell: string }) => Promise<ShellAccess[]>

/** What one simple command does: what runs, what it reads and writes, whom it reaches. */
export async function judgeCommand(command: SimpleCommand, surroundings: Surroundings, nested: Nested): Promise<ShellAccess[]> {
  const { words, cwds } = command
  const [program, ...rest] = words
  if (!program) return []
  if (program.values?.length !== 1) return [{ kind: 'unknown', why: `which program runs is only known when it runs: ${program.shown}`, part: 'program' }]
  const argv = words.map(({ shown }) => shown)
  const name = isSystemProgram(program.shown, surroundings, cwds)

  if (name === 'cd') {
    const targets = rest.filter(({ shown }) => !shown.startsWith('-'))
    return [{ kind: 'exec', argv, reads: true }, ...readPaths(targets.length > 0 ? targets : [fixed(surroundings.home)], cwds)]
  }
  const wrapped = name === null ? null : unwrap(name, rest)
  if (wrapped) {
    const own: ShellAccess = wrapped.transparent ? { kind: 'exec', argv, reads: true } : { kind: 'exec', argv }
    const inner = wrapped.inner ? await judgeCommand({ words: wrapped.inner, cwds }, surroundings, nested) : []
    const text = wrapped.text === undefined ? [] : cwds?.length === 1 && cwds[0] ? await nested(wrapped.text, { cwd: cwds[0], shell: wrapped.shell ?? 'sh' }) : [UNPLACED]
    return [own, ...(wrapped.unknown ? [{ kind: 'unknown' as const, why: wrapped.unknown, part: 'program' as const }] : []), ...inner, ...text]
  }

  const git = name === 'git' ? await gitAccesses(rest, cwds, surroundings) : null
  const reads = name === null ? null : name === 'git' ? git : knownReads(name, rest)
  if (!reads) return [{ kind: 'exec', argv }, ...touched(program.shown, rest, cwds, surroundings)]
  return [{ kind: 'exec', argv, reads: true }, ...readPaths(reads.paths, cwds), ...found(reads, cwds, surroundings), ...(git?.shown ?? [])]
}

const UNPLACED: ShellAccess = { kind: 'unknown', why: 'a shell in a folder that is only known when it runs', part: 'program' }

/** Reading git commands are known to only read where the repository brings no programs of its own. */
async function gitAccesses(words: readonly Word[], cwds: Cwds, { root, isSecret }: Surroundings): Promise<(Reads & { shown?: ShellAccess[] }) | null> {
  const git = gitReads(words)
  if (!git || git.anywhere) return git
  if (cwds === null) return null
  const folders = git.folder === null ? cwds : realPaths(git.folder, cwds)
  for (const folder of folders) if ((await gitPrograms(folder, root)) !== null) return null
  const at = git.folder === null ? [] : [{ shown: git.folder, values: [git.folder] }]
  // Paths are relative to the folder of `-C`.
  const paths = git.folder === null ? git.paths : git.paths.map(({ shown, values }) => ({ shown, values: values?.map((value) => (isAbsolute(value) ? value : `${git.folder}/${value}`)) ?? null }))
  const secrets = git.shows ? (await Promise.all(folders.map((folder) => secretsShown(folder, git.shows?.words ?? null, isSecret)))).flat() : []
  return { paths: [...at, ...paths], shown: secrets.map((path) => (path === null ? { kind: 'unknown', why: 'it shows files whose names are only known when it runs, and there are secrets among those of the repository', part: 'path' } : { kind: 'read', path })) }
}

function readPaths(paths: readonly Word[], cwds: Cwds): ShellAccess[] {
  return paths.flatMap(({ shown, values }): ShellAccess[] => {
    const known = values?.filter((value) => value !== '' && value !== '-' && !isHarmlessFile(value))
    if (!known || (cwds === null && known.some((value) => !isAbsolute(value)))) return [{ kind: 'unknown', why: `what it reads is only known when it runs: ${shown}`, part: 'path' }]
    return known.flatMap((value) => realPaths(value, cwds).map((path): ShellAccess => ({ kind: 'read', path })))
  })
}

/** What a search through folders would show beside the files that it names. */
function found({ paths, recursive }: Reads, cwds: Cwds, { isSecret }: Surroundings): ShellAccess[] {
  if (!recursive) return []
  const folders = paths.flatMap(({ values }) => values ?? []).flatMap((value) => realPaths(value, cwds))
  const secrets = secretsUnder(folders, recursive, isSecret)
  if (secrets === null) return [{ kind: 'unknown', why: 'it searches more files than can be looked at beforehand', part: 'path' }]
  return secrets.map((path) => ({ kind: 'read', path }))
}

/** Of a command of which nothing more is known: what its words say of outputs, hosts, secrets and protected files. */
function touched(program: string, words: readonly Word[], cwds: Cwds, { isSecret, isProtected }: Surroundings): ShellAccess[] {
  const texts = words.flatMap(({ values }) => values ?? [])
  const named = texts.flatMap((text) => [text, ...text.split(/[=@]/).slice(1)]).filter((text) => text !== '' && text.length < 4096 && !/^-|:\/\/|^[\w.-]+(?:@[\w.-]+)?:/.test(text))
  const paths = [...new Set(named.flatMap((text) => realPaths(text, cwds)))]
  return [
    ...outputs(outputsOf(program, words), cwds),
    ...paths.filter((path) => isSecret(path) && existsSync(path)).map((path): ShellAccess => ({ kind: 'read', path })),
    ...paths.filter(isProtected).map((path): ShellAccess => ({ kind: 'write', path, command: true })),
    ...hostsOf(program, words).map((host): ShellAccess => ({ kind: 'net', host })),
  ]
}

function outputs(words: readonly Word[], cwds: Cwds): ShellAccess[] {
  return words.flatMap(({ shown, values }): ShellAccess[] => {
    if (values === null || (cwds === null && values.some((value) => !isAbsolute(value)))) return [{ kind: 'unknown', why: `which file it writes is only known when it runs: ${shown}`, part: 'path' }]
    return values.filter((value) => value !== '' && value !== '-' && !isHarmlessFile(value)).flatMap((value) => realPaths(value, cwds).map((path): ShellAccess => ({ kind: 'write', path, command: true })))
  })
}
