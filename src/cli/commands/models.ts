import { modelsOf } from '../models.ts'
import type { Options } from '../options.ts'
import type { Listed } from '../../model/directory.ts'
import { columns, surroundings } from './surroundings.ts'

/** Local servers first, then what has its key, then the rest of the catalog. */
export async function models(options: Options, search: string | undefined): Promise<number> {
  const { place, settings } = await surroundings(options)
  const known = modelsOf(settings, options, place.cwd, { get: () => undefined })
  const found = [...(await known.discover()), ...known.list().toSorted((a, b) => Number(b.ready) - Number(a.ready))]
  const words = search?.toLowerCase().split(/\s+/) ?? []
  const fitting = found.filter(({ id }) => words.every((word) => id.toLowerCase().includes(word)))
  if (fitting.length === 0) {
    process.stderr.write(`tiller: no model fits "${search ?? ''}". Without a word, tiller models lists them all.\n`)
    return 1
  }
  process.stdout.write(`${columns([['MODEL', 'READY', 'WINDOW', 'OUTPUT', 'IMAGES', '$ IN / OUT A MILLION TOKENS', 'FIGURES FROM'], ...fitting.map(row)])}\n`)
  return 0
}

const row = ({ id, ready, limits, from }: Listed): string[] => [
  id, ready ? 'yes' : 'no key', count(limits.contextWindow), count(limits.maxOutput), limits.images ? 'yes' : 'no',
  limits.price ? `${limits.price.input} / ${limits.price.output}` : 'unknown', limits.guessed ? 'a guess' : from,
]

const count = (tokens: number | null): string => (tokens === null ? 'unknown' : tokens >= 1_000_000 ? `${tokens / 1_000_000}M` : `${Math.round(tokens / 1000)}k`)
