import type { FirstPaint } from '../ui/first-paint.ts'
import { NO_WORDS, UsageError, type Invocation } from './options.ts'

/** The command line, to its exit code. */
export async function launch(argv: readonly string[], painted: FirstPaint | null): Promise<number> {
  try {
    return await carryOut(argv, painted)
  } catch (error) {
    takeBack(painted)
    const isUsage = error instanceof UsageError
    // A session that cannot be written to, such as on a full disk, is no fault of ours either.
    if (!isUsage && !(error instanceof Error && error.name === 'LogError')) throw error
    process.stderr.write(`tiller: ${error.message}\n`)
    return isUsage ? 2 : 1
  }
}

async function carryOut(argv: readonly string[], painted: FirstPaint | null): Promise<number> {
  const invocation = await understand(argv)
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
    // In three pieces: keys typed meanwhile are shown between them.
    await breathe()
    await import('./configure.ts')
    await breathe()
    const { startInteractive } = await import('./interactive.ts')
    await breathe()
    return startInteractive(options, painted)
  }
  const { startHeadless } = await import('./start-headless.ts')
  return startHeadless(options)
}

/** What takes a command line apart is not loaded where there is none. */
async function understand(argv: readonly string[]): Promise<Invocation> {
  if (argv.length === 0) return { kind: 'main', options: { ...NO_WORDS } }
  const { parseCommandLine } = await import('./command-line.ts')
  return parseCommandLine(argv)
}

/** Until what has happened meanwhile has been looked at. */
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

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
