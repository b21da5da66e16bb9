import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Head } from '../ui/first-paint.ts'
import { placeOf, shortFolder } from './place.ts'

/**
 * What the first frame says, before the configuration is really read: a quick look that parses nothing. Where it is
 * wrong, the screen that takes over a moment later is right.
 */
export function headOf(argv: readonly string[], version: string): Head {
  const place = placeOf(folderOf(argv))
  const env = process.env
  const text = [join(env['XDG_CONFIG_HOME'] || join(place.home, '.config'), 'tiller', 'agentrc'), join(place.root, '.agentrc')].map(readText).join('\n')
  const isDemo = argv.includes('demo')
  const named = (key: string): string | undefined => [...text.matchAll(new RegExp(`^\\s*"?${key}"?\\s*:\\s*"([^"]+)"`, 'gm'))].at(-1)?.[1] ?? (key === 'model' ? /[{,]\s*"model"\s*:\s*"([^"]+)"/.exec(text)?.[1] : undefined)
  return {
    version,
    folder: shortFolder(place.cwd, place.home),
    branch: place.repository?.branch ?? null,
    model: isDemo ? 'scripted model' : (after(argv, '-m', '--model') ?? env['TILLER_MODEL'] ?? named('model') ?? null),
    mode: after(argv, '--mode') ?? env['TILLER_MODE'] ?? named('mode') ?? 'ask',
    colour: !argv.includes('--no-color') && !env['NO_COLOR'],
  }
}

/** Where `--cd` leads; that it leads nowhere is said when the command line is read. */
function folderOf(argv: readonly string[]): string {
  const named = resolve(after(argv, '-C', '--cd') ?? '.')
  return existsSync(named) ? named : process.cwd()
}

function after(argv: readonly string[], ...names: string[]): string | undefined {
  const index = argv.findIndex((word) => names.includes(word))
  return index < 0 ? argv.map((word) => names.find((name) => word.startsWith(`${name}=`)) && word.slice(word.indexOf('=') + 1)).find(Boolean) : argv[index + 1]
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
