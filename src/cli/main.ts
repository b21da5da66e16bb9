import { firstPaint, type FirstPaint } from '../ui/first-paint.ts'
import { headOf } from './head.ts'

declare const TILLER_VERSION: string

/** What is answered without a screen. This file and what it imports is all that is loaded before the first frame. */
const NO_SCREEN = new Set(['-p', '--print', '--json', '--json-in', '-h', '--help', '-v', '--version', 'sessions', 'trace', 'undo', 'replay', 'models', 'config', 'doctor', 'completion', 'help'])

const argv = process.argv.slice(2)
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-v')) {
  process.stdout.write(`${TILLER_VERSION}\n`)
} else {
  const painted = paint()
  const { launch } = await import('./launch.ts')
  const code = await launch(argv, painted)
  // What is written is out before we leave; nothing that a library keeps open holds us.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}

function paint(): FirstPaint | null {
  if (!process.stdin.isTTY || !process.stdout.isTTY || process.env['TERM'] === 'dumb' || argv.some((word) => NO_SCREEN.has(word))) return null
  return firstPaint(headOf(argv, TILLER_VERSION), process.stdin, process.stdout, () => process.exit(130))
}
