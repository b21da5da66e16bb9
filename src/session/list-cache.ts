import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { writePrivate } from './private.ts'
import { Looked } from './summary.ts'

/** What was learned of the sessions in a folder, in a file beside them: thrown away and learned anew at any sign of trouble. */
export interface ListCache {
  /** What is known of a file, also if it has grown since. */
  of: (name: string) => Remembered | null
  /** Writes it, if it is another one than was read. A folder that cannot be written forgets. */
  keep: (files: ReadonlyMap<string, Remembered>) => void
}

export interface Remembered {
  bytes: number
  modified: number
  looked: Looked
}

const VERSION = 2

/** A line a file, read when it is asked for: with many sessions, reading all at once would be felt. */
export function listCache(folder: string): ListCache {
  const path = join(folder, '.list-cache.json')
  const lines = linesOf(path)
  const known = new Map<string, Remembered | null>()
  const of = (name: string): Remembered | null => {
    const line = lines.get(name)
    if (line === undefined) return null
    const before = known.get(name)
    if (before !== undefined) return before
    const read = parse(line)
    known.set(name, read)
    return read
  }
  return {
    of,
    keep: (files) => {
      if (files.size === lines.size && [...files].every(([name, remembered]) => known.get(name) === remembered)) return
      const text = [...files].map(([name, remembered]) => (known.get(name) === remembered && lines.get(name)) || lineOf(name, remembered))
      try {
        writePrivate(path, [JSON.stringify({ version: VERSION }), ...text, ''].join('\n'), false)
      } catch {
        // Next time it is learned again.
      }
    },
  }
}

const lineOf = (name: string, { bytes, modified, looked }: Remembered): string => JSON.stringify([name, bytes, modified, looked])

function linesOf(path: string): Map<string, string> {
  try {
    const [head, ...lines] = readFileSync(path, 'utf8').split('\n')
    if (head !== JSON.stringify({ version: VERSION })) return new Map()
    return new Map(lines.flatMap((line) => {
      const name = /^\["([^"\\]+)",/.exec(line)?.[1]
      return name === undefined ? [] : [[name, line]]
    }))
  } catch {
    return new Map()
  }
}

let schema: z.ZodMiniType<[string, number, number, Looked]> | null = null

function parse(line: string): Remembered | null {
  schema ??= z.compile(z.tuple([z.string(), z.number(), z.number(), Looked]))
  try {
    const read = schema.safeParse(JSON.parse(line))
    return read.success ? { bytes: read.data[1], modified: read.data[2], looked: read.data[3] } : null
  } catch {
    return null
  }
}
