import { closeSync, fstatSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { treesFileOf } from './companion.ts'
import { headOf, parseLine } from './head.ts'
import { linesFrom } from './lines.ts'
import { writePrivate } from './private.ts'
import { turns } from './turns.ts'

/** A state of the files that a session names. `run`: null where it belongs to none, such as those around an undo. */
export interface KeptTree {
  tree: string
  at: number
  run: string | null
}

/** What was found in a log so far, beside it: it may be thrown away. */
const Cache = z.object({ bytes: z.number(), trees: z.array(z.object({ tree: z.string(), at: z.number(), run: z.nullable(z.string()) })) })

/** What each session in a folder names, oldest first. Each byte of a log is looked at once; what cannot be read is as if it named nothing. */
export async function treesIn(folder: string, signal?: AbortSignal): Promise<KeptTree[][]> {
  const turn = turns()
  const found: KeptTree[][] = []
  for (const name of namesIn(folder)) {
    await turn()
    signal?.throwIfAborted()
    found.push(await treesOf(join(folder, name), turn, signal).catch((error: unknown) => {
      if (signal?.aborted) throw error
      return []
    }))
  }
  return found
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  } catch {
    return []
  }
}

async function treesOf(file: string, turn: () => Promise<void>, signal: AbortSignal | undefined): Promise<KeptTree[]> {
  const known = remembered(file)
  if (known && known.bytes === statSync(file).size) return known.trees
  const fd = openSync(file, 'r')
  try {
    const { size } = fstatSync(fd)
    const { bytes: from, trees } = known && known.bytes <= size ? known : { bytes: 0, trees: [] }
    let bytes = from
    for (const line of linesFrom(fd, from, size)) {
      if (!line.ended) break
      await turn()
      signal?.throwIfAborted()
      bytes = line.offset + line.bytes.length + 1
      if (headOf(line)?.type !== 'checkpoint') continue
      const { record } = parseLine(line)
      if (record && !('unknown' in record) && record.type === 'checkpoint' && record.tree !== null) trees.push({ tree: record.tree, at: record.at, run: record.run ?? null })
    }
    remember(file, { bytes, trees })
    return trees
  } finally {
    closeSync(fd)
  }
}

function remembered(file: string): z.infer<typeof Cache> | null {
  try {
    return Cache.parse(JSON.parse(readFileSync(treesFileOf(file), 'utf8')))
  } catch {
    return null
  }
}

function remember(file: string, cache: z.infer<typeof Cache>): void {
  try {
    writePrivate(treesFileOf(file), JSON.stringify(cache), false)
  } catch {
    // Next time it is looked for again.
  }
}
