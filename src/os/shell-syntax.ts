import { basename } from 'node:path'
import type { ShellAccess, Surroundings } from './shell-access.ts'
import { judgeCommand } from './shell-command.ts'
import { doubt, loadShellGrammar } from './shell-grammar.ts'
import { simpleCommands } from './shell-walk.ts'

const LONGEST = 64 * 1024
const DEEPEST = 4

/**
 * Everything that a command line would do, as far as its text tells: each simple command in it with whether it is
 * known to only read, the files it reads and writes, the hosts it reaches. What the text does not tell is `unknown`.
 * Nothing is run but git's own look at its configuration.
 */
export async function accessesOf(command: string, surroundings: Surroundings): Promise<ShellAccess[]> {
  return distinct(await accessesIn(command, surroundings, 0))
}

async function accessesIn(command: string, surroundings: Surroundings, depth: number): Promise<ShellAccess[]> {
  const unknown = (why: string): ShellAccess => ({ kind: 'unknown', why, part: 'program' })
  if (command.length > LONGEST) return [unknown(`the command is longer than ${LONGEST} characters`)]
  if (depth > DEEPEST) return [unknown('a command in a command in a command …')]
  const tree = (await loadShellGrammar()).parse(command)
  if (!tree) return [unknown('it could not be parsed')]
  try {
    const why = doubt(tree.rootNode, command) ?? otherShell(command, surroundings.shell)
    const { accesses, commands } = simpleCommands(tree.rootNode, surroundings)
    const judged = [...accesses]
    for (const one of commands) judged.push(...(await judgeCommand(one, surroundings, (text, at) => accessesIn(text, { ...surroundings, ...at }, depth + 1))))
    return why ? [unknown(why), ...judged] : judged
  } finally {
    tree.delete()
  }
}

/** The grammar is bash's. A plain sh takes some of its words apart in another way, other shells more than that. */
function otherShell(command: string, shell: string | undefined): string | null {
  const name = shell === undefined ? 'bash' : basename(shell)
  if (name === 'bash') return null
  if (!['sh', 'dash', 'ash', 'ksh', 'zsh'].includes(name)) return `${name} is not a shell whose language is known here`
  return /^[\w\s./:=@%+,;&|>"'-]*$/.test(command) && !/&>|\|&|>&(?!\d)|=\S*\s*$|(?:^|\s)=/.test(command) ? null : `it may mean something else to ${name} than to bash`
}

function distinct(accesses: readonly ShellAccess[]): ShellAccess[] {
  const seen = new Set<string>()
  return accesses.filter((access) => {
    const key = JSON.stringify(access)
    return !seen.has(key) && seen.add(key)
  })
}
