import { onTestFinished } from 'vitest'
import { GUARD } from '../../src/ui/ask.ts'
import { launch, type Launch, type Pty } from './pty.ts'
import { TILLER } from './tiller.ts'
import type { World } from './world.ts'

/** The built program in a real terminal, in a world's repository. Closed before the world looks at what is left. */
export function openTerminal(world: World, args: readonly string[] = [], options: Launch = {}): Pty {
  return closing(launch(process.execPath, [TILLER, ...args], inWorld(world, options)))
}

/** An interactive shell in which the program can be started as `tiller`. */
export function openShell(world: World, options: Launch = {}): Pty {
  world.write('../bin/tiller', `#!/bin/sh\nexec '${process.execPath}' '${TILLER}' "$@"\n`, 0o755)
  return closing(launch('bash', ['--norc', '--noprofile', '-i'], inWorld(world, { ...options, env: { PS1: '$ ', PATH: `${world.folder}/bin:${world.env['PATH'] ?? ''}`, ...options.env } })))
}

/** A text and Enter. On a busy machine the two could come as one chunk, which is a paste. */
export async function sendText(terminal: Pty, text: string): Promise<void> {
  await terminal.type(text)
  await terminal.waitFor((screen) => screen.includes(text))
  await terminal.type('enter')
}

/** As a person answers: a key that comes with the question is taken for text that was being typed. */
export async function answer(terminal: Pty, question: RegExp, ...keys: string[]): Promise<void> {
  await terminal.waitFor(question, 60_000)
  await new Promise((resolve) => setTimeout(resolve, GUARD + 100))
  await terminal.type(...keys)
}

/** Nothing is being drawn: what is on its way to a terminal that changes its size lands in the wrong rows, in any program. */
export async function quiet(terminal: Pty): Promise<void> {
  for (let before = -1; before !== terminal.bytes().length; ) {
    before = terminal.bytes().length
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Where the editor stands: the program takes keys. */
export const READY = /^> ?$/m

function inWorld({ repo, env }: World, options: Launch): Launch {
  return { cwd: repo, ...options, env: { ...env, TERM: 'xterm-256color', npm_lifecycle_event: '', ...options.env } }
}

function closing(pty: Pty): Pty {
  onTestFinished(() => pty.close())
  return pty
}
