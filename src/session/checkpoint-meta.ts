import * as z from 'zod/mini'

/**
 * What a tree of git cannot say of a state, kept beside it: how much of the folder it covers, full modes, empty folders. Paths are
 * relative to the root, folders end in `/`. Only what is covered in both of two states can be said to have changed between them.
 */
const MetaSchema = z.object({
  /** Every file that is not ignored is in the tree or named below. */
  complete: z.boolean(),
  /** Files that were not taken, with size and time of change; 0: they cannot be read. */
  skipped: z.record(z.string(), z.tuple([z.number(), z.number()])),
  /** Folders that were not looked into. */
  uncovered: z.array(z.string()),
  /** Repositories in the repository. */
  nested: z.array(z.string()),
  /** Folders without a file that is covered. */
  empty: z.array(z.string()),
  /** Ignored files that are covered nevertheless. */
  extra: z.array(z.string()),
  /** Modes as nearly all have them, without and with the executable bit, and the others. */
  usual: z.tuple([z.number(), z.number()]),
  modes: z.record(z.string(), z.number()),
  /** Hash of the rules that say what is ignored, beside the .gitignore files in the tree. */
  rules: z.string(),
})
export type Meta = z.infer<typeof MetaSchema>

export const newMeta = (): Meta => ({ complete: false, skipped: {}, uncovered: [], nested: [], empty: [], extra: [], usual: [0o644, 0o755], modes: {}, rules: '' })

/** The same text for the same facts. */
export function printMeta(meta: Meta): string {
  const sorted = <T>(record: Record<string, T>): Record<string, T> => Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
  return JSON.stringify({
    complete: meta.complete, skipped: sorted(meta.skipped), uncovered: [...meta.uncovered].sort(), nested: [...meta.nested].sort(), empty: [...meta.empty].sort(), extra: [...meta.extra].sort(),
    usual: meta.usual, modes: sorted(meta.modes), rules: meta.rules,
  })
}

export function parseMeta(text: string): Meta | null {
  try {
    return MetaSchema.parse(JSON.parse(text))
  } catch {
    return null
  }
}

/** Whether a path that is not in the tree was really not there. `ignored`: it is one of those that are covered only if somebody asked. */
export function isAbsent(meta: Meta, path: string, ignored: boolean): boolean {
  if (!meta.complete || path in meta.skipped || (ignored && !meta.extra.includes(path))) return false
  return ![...meta.uncovered, ...meta.nested].some((folder) => path.startsWith(folder))
}

export const modeOf = (meta: Meta, path: string, executable: boolean): number => meta.modes[path] ?? meta.usual[executable ? 1 : 0]

/** Files outside the tree that are not as they were: named, for they cannot be put back. */
export function changedUncovered(before: Meta, after: Meta): string[] {
  const both = new Set([...Object.keys(before.skipped), ...Object.keys(after.skipped)])
  return [...both].filter((path) => JSON.stringify(before.skipped[path]) !== JSON.stringify(after.skipped[path]))
}

/** What a person is told of the limits. */
export function describeMeta(meta: Meta): string | undefined {
  const skipped = Object.entries(meta.skipped).sort(([, [a]], [, [b]]) => b - a)
  const [large, closed] = [skipped.filter(([, [, time]]) => time > 0), skipped.filter(([, [, time]]) => time === 0)].map((some) => some.map(([path]) => path))
  const some = (names: readonly string[]): string => (names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', '))
  const said = [
    ...(meta.complete ? [] : ['not all files could be taken yet']),
    ...(large?.length ? [`not taken because of their size: ${some(large)}`] : []),
    ...(closed?.length ? [`not readable: ${some(closed)}`] : []),
    ...(meta.uncovered.length > 0 ? [`not looked into, too many files: ${some(meta.uncovered.map((folder) => folder || 'the top folder'))}`] : []),
    ...(meta.nested.length > 0 ? [`repositories of their own, not covered: ${some(meta.nested)}`] : []),
  ]
  return said.length === 0 ? undefined : said.join('; ')
}
