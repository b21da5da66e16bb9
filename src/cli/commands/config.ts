import { describe, judge, type Policy } from '../../core/policy.ts'
import { accessesOfCommand } from '../tools.ts'
import { UsageError, type Options } from '../options.ts'
import { showConfig } from '../show-config.ts'
import { columns, surroundings } from './surroundings.ts'

/** `config`, `config show [key]`, `config explain '<command>'`. */
export async function config(options: Options, [operation = 'show', ...rest]: readonly string[]): Promise<number> {
  const { place, settings } = await surroundings(options)
  if (operation === 'show') {
    process.stdout.write(`${showConfig({ ...settings, warnings: [] }, rest[0])}\n`)
    return 0
  }
  if (operation !== 'explain') throw new UsageError(`config: "${operation}" is not known; expected show or explain '<command>'`)
  const command = rest.join(' ')
  if (command === '') throw new UsageError("config explain: which command? Expected config explain 'npm test'")
  const policy: Policy = { root: place.root, mode: settings.config.mode, rules: settings.config.rules, sandbox: false, wideRoot: place.tooWide }
  const judged = judge(await accessesOfCommand(place, settings)(command, place.cwd), policy)
  process.stdout.write(`${columns([['VERDICT', 'WHAT IT WOULD DO', 'BECAUSE'], ...judged.map(({ verdict, access, because }) => [verdict, describe(access), because])])}\n`)
  return 0
}
