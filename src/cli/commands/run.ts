import type { FirstPaint } from '../../ui/first-paint.ts'
import type { Invocation } from '../options.ts'

type Command = Extract<Invocation, { kind: 'command' }>

/** One entry a subcommand; each is loaded when it is asked for. */
const COMMANDS: Readonly<Record<string, (command: Command, painted: FirstPaint | null) => Promise<number>>> = {
  demo: async ({ options }, painted) => {
    if (process.stdin.isTTY && process.stdout.isTTY) return (await import('../interactive.ts')).startDemo(options, painted)
    return (await import('../demo.ts')).demo(options)
  },
  sessions: async ({ options, args, flags }) => (await import('./sessions.ts')).sessions(options, args, flags),
  trace: async ({ options, args, flags }) => (await import('./trace.ts')).trace(options, args[0] ?? '', flags),
  undo: async ({ options, args, flags }) => (await import('./undo.ts')).undo(options, args[0], flags),
  replay: async ({ options, args }) => (await import('./replay.ts')).replay(options, args[0] ?? ''),
  models: async ({ options, args }) => (await import('./models.ts')).models(options, args[0]),
  config: async ({ options, args }) => (await import('./config.ts')).config(options, args),
  doctor: async ({ options }) => (await import('./doctor.ts')).doctorCommand(options),
  completion: async ({ args }) => (await import('./completion.ts')).completion(args[0] ?? ''),
}

export async function runCommand(command: Command, painted: FirstPaint | null): Promise<number> {
  const run = COMMANDS[command.name]
  if (!run) throw new Error(`the command ${command.name} is listed and not there`)
  return run(command, painted)
}
