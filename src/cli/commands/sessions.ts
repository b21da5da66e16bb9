import { foldersNear } from '../elsewhere.ts'
import { UsageError, type Options } from '../options.ts'
import { secretsOf } from '../secrets.ts'
import { exportOne, importOne, remove, rename } from './sessions-change.ts'
import type { Here } from './sessions-here.ts'
import { ids, list, search, show, stats } from './sessions-look.ts'
import { surroundings } from './surroundings.ts'

interface Operation {
  run: (here: Here) => Promise<number>
  /** How many words it takes, and what they are. */
  words: [least: number, most: number, what: string]
}

const LISTED = '(tiller sessions lists them)'

const OPERATIONS: Readonly<Record<string, Operation>> = {
  list: { run: list, words: [0, 0, 'nothing more'] },
  show: { run: show, words: [1, 1, `an id or its beginning ${LISTED}`] },
  search: { run: search, words: [1, Infinity, 'the words to look for'] },
  rename: { run: rename, words: [2, Infinity, `an id and a title ${LISTED}`] },
  export: { run: exportOne, words: [1, 2, `an id, and a file if it is not to go to stdout ${LISTED}`] },
  import: { run: importOne, words: [1, 1, 'the file of a session'] },
  remove: { run: remove, words: [1, Infinity, `one id or several ${LISTED}`] },
  stats: { run: stats, words: [0, 0, 'nothing more'] },
}

export async function sessions(options: Options, [name = 'list', ...rest]: readonly string[], flags: Record<string, unknown>): Promise<number> {
  // For completion scripts.
  const operation = name === 'ids' ? { run: ids, words: [0, 0, ''] as const } : OPERATIONS[name]
  if (!operation) throw new UsageError(`sessions: "${name}" is not known; expected ${Object.keys(OPERATIONS).join(', ')}`)
  const [least, most, what] = operation.words
  if (rest.length < least || rest.length > most) throw new UsageError(`sessions ${name}: expected ${what}`)
  const { place, settings, folder } = await surroundings(options)
  const [, ...others] = foldersNear(place, folder)
  return operation.run({ place, folders: [folder, ...others], secrets: secretsOf(process.env, settings.config.providers), flags, rest })
}
