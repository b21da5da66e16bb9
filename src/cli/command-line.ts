import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { SUBCOMMANDS, UsageError, type Invocation, type Options } from './options.ts'

/** Never prints and never exits: what to say and with which code comes back as a value. */
export function parseCommandLine(argv: readonly string[]): Invocation {
  let said = ''
  let found: Invocation | null = null
  const program = withOptions(new Command('tiller').description('An interactive coding agent for the terminal. Steer it while it works, stop it with Ctrl-C, resume it later.'))
  program
    .argument('[prompt...]')
    .exitOverride()
    .configureOutput({ writeOut: (text) => void (said += text), writeErr: () => undefined })
    .enablePositionalOptions()
    .helpCommand(false)
    .action((prompt: string[], options: Options) => void (found = { kind: 'main', options: { ...options, prompt } }))
  for (const { name, args, about, flags } of SUBCOMMANDS) {
    const command = program.command(`${name} ${args}`.trim()).description(about).copyInheritedSettings(program)
    for (const [flag, text] of flags ?? []) command.option(flag, text)
    command.action((...given: unknown[]) => {
      const own = given.at(-1) as Command
      found = { kind: 'command', name, args: own.args, flags: own.opts(), options: { ...program.opts<Options>(), prompt: [] } }
    })
  }
  try {
    program.parse(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return { kind: 'said', text: said, code: 0 }
    throw new UsageError(`${error.message.replace(/^error: /, '').replaceAll('\n', ' ')} (tiller --help lists the options)`)
  }
  return found ?? { kind: 'said', text: said, code: 0 }
}

/** For completion scripts. */
export const optionNames = (): string[] => withOptions(new Command()).options.flatMap(({ short, long }) => [short, long].filter((name) => name != null))

function withOptions(command: Command): Command {
  const several = (value: string, all: string[]): string[] => [...all, value]
  return command
    .option('-p, --print', 'headless: run the prompt, print the final answer on stdout')
    .option('--json', 'headless: every event as one JSON line on stdout (implies -p)')
    .option('--json-in', 'headless: commands arrive as JSON lines on stdin')
    .option('-c, --continue', 'go on with the newest session of this folder')
    .option('-r, --resume [id]', 'go on with a session; without id: pick from a list')
    .option('--fork <id[:seq]>', "a new session that starts as a copy of another's live path")
    .option('--session <file>', 'this very session file, made at the first input if it is missing')
    .option('-m, --model <provider/model>', 'the model')
    .addOption(new Option('--effort <effort>', 'how much the model thinks').choices(['none', 'low', 'medium', 'high', 'max']))
    .addOption(new Option('--mode <mode>', 'how much is allowed unasked').choices(['plan', 'ask', 'edit', 'auto', 'full']))
    .option('--trust', "take this folder's .agentrc, instructions and checks as trusted")
    .option('--allow <kind:match>', "for this start only: --allow 'exec:npm test'", several, [])
    .option('--deny <kind:match>', 'for this start only', several, [])
    .option('--check <command>', 'proves the work; repeatable', several, [])
    .option('--tools <a,b,-c>', 'the tools of this start')
    .option('--max-steps <n>', 'model requests a run', positive('--max-steps', true))
    .option('--max-minutes <n>', 'minutes a run', positive('--max-minutes', false))
    .option('--max-calls <n>', 'tool calls a run', positive('--max-calls', true))
    .option('--max-tokens <n>', 'tokens a run', positive('--max-tokens', true))
    .option('--max-cost <usd>', 'US dollars a run', positive('--max-cost', false))
    .option('--system <text|@file>', 'instead of the system text')
    .option('--append-system <text|@file>', 'after the system text')
    .option('--output-schema <file>', 'headless: the final answer must be JSON of this schema')
    .option('--config <file>', 'instead of all layers of configuration')
    .option('--session-dir <dir>', 'where sessions are kept')
    .option('-C, --cd <dir>', 'work there')
    .option('--no-color', 'no colours')
    .option('--no-sandbox', 'no sandbox for this start')
    .option('--offline', 'loopback only')
    .option('--fullscreen', 'on the alternate screen')
    .option('-v, --version', 'the version')
    .helpOption('-h, --help', 'this help')
}

function positive(name: string, whole: boolean): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (Number.isFinite(number) && number > 0 && (!whole || Number.isInteger(number))) return number
    throw new InvalidArgumentError(`${name} takes a ${whole ? 'whole ' : ''}number above 0.`)
  }
}
