import type { FirstPaint } from '../ui/first-paint.ts'
import { parseCommandLine, UsageError } from './options.ts'

/** The command line, to its exit code. */
export async function launch(argv: readonly string[], painted: FirstPaint | null): Promise<number> {
  try {
    return await carryOut(argv, painted)
  } catch (error) {
    takeBack(painted)
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`tiller: ${error.message}\n`)
    return 2
  }
}

async function carryOut(argv: readonly string[], painted: FirstPaint | null): Promise<number> {
  const invocation = parseCommandLine(argv)
  if (invocation.kind === 'said') {
    takeBack(painted)
    process.stdout.write(invocation.text)
    return invocation.code
  }
  const { options } = invocation
  if (options.cd !== undefined) enter(options.cd)
  if (invocation.kind === 'command') {
    const { runCommand } = await import('./commands/run.ts')
    return runCommand(invocation, painted)
  }
  const headless = options.print || options.json || options.jsonIn || !process.stdin.isTTY || !process.stdout.isTTY
  if (!headless) {
    const { startInteractive } = await import('./interactive.ts')
    return startInteractive(options, painted)
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

/** A first frame was painted, and no screen takes over. */
function takeBack(painted: FirstPaint | null): void {
  if (!painted) return
  process.stdout.write(`${painted.handOver().erase}\x1b[?2004l\x1b[?25h`)
  if (process.stdin.isTTY) process.stdin.setRawMode(false)
  process.stdin.pause()
}
