import { parseCommandLine, UsageError } from './options.ts'

declare const TILLER_VERSION: string

const argv = process.argv.slice(2)
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-v')) {
  process.stdout.write(`${TILLER_VERSION}\n`)
} else {
  try {
    process.exitCode = await main()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`tiller: ${error.message}\n`)
    process.exitCode = 2
  }
}

async function main(): Promise<number> {
  const invocation = parseCommandLine(argv)
  if (invocation.kind === 'said') {
    process.stdout.write(invocation.text)
    return invocation.code
  }
  const { options } = invocation
  if (options.cd !== undefined) enter(options.cd)
  if (invocation.kind === 'command') {
    const { runCommand } = await import('./commands.ts')
    return runCommand(invocation)
  }
  const headless = options.print || options.json || options.jsonIn || !process.stdin.isTTY || !process.stdout.isTTY
  if (!headless) {
    const { startInteractive } = await import('./interactive.ts')
    return startInteractive(options)
  }
  const { startHeadless } = await import('./start-headless.ts')
  return startHeadless(options)
}

function enter(folder: string): void {
  try {
    process.chdir(folder)
  } catch {
    throw new UsageError(`--cd: ${folder} is no folder that can be entered`)
  }
}
