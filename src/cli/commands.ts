import type { FirstPaint } from '../ui/first-paint.ts'
import type { Invocation } from './options.ts'

type Command = Extract<Invocation, { kind: 'command' }>

/** One entry a subcommand; each is loaded when it is asked for. */
const COMMANDS: Readonly<Record<string, (command: Command, painted: FirstPaint | null) => Promise<number>>> = {
  demo: async ({ options }, painted) => {
    if (process.stdin.isTTY && process.stdout.isTTY) return (await import('./interactive.ts')).startDemo(options, painted)
    return (await import('./demo.ts')).demo(options)
  },
}

export async function runCommand(command: Command, painted: FirstPaint | null): Promise<number> {
  const run = COMMANDS[command.name]
  if (!run) throw new Error(`the command ${command.name} is listed and not there`)
  return run(command, painted)
}
