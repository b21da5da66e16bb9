import { createHash } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { Rule } from '../core/record.ts'
import { trustFile, type Places } from './places.ts'
import { writePrivate } from './private-file.ts'

/**
 * What this person decided about folders: which are trusted, and what was allowed "always in this project". It is
 * kept outside the folders, by real path, so that no repository can say it of itself. Whoever asks is the front end.
 */
const Store = z.object({ version: z.literal(1), folders: z.record(z.string(), z.object({ trusted: z.optional(z.boolean()), agentrc: z.optional(z.nullable(z.string())), rules: z.optional(z.array(Rule)) })) })
type Store = z.infer<typeof Store>

export interface FolderTrust { trusted: boolean; rules: Rule[]; warnings: string[] }
export type Saved = { ok: true; file: string } | { ok: false; why: string }

/**
 * What cannot be read trusts nothing, and says so. Trust is for the `.agentrc` that was there when it was given: a new or changed
 * one (by a pull, or by a command that was held to this folder) names other programs, so it is asked again.
 */
export function readTrust(root: string, places: Places): FolderTrust {
  const read = readStore(places)
  if (!read.ok) return { trusted: false, rules: [], warnings: [read.why] }
  const entry = read.store.folders[real(root)]
  const rules = entry?.rules ?? []
  const changed = entry?.trusted === true && entry.agentrc !== undefined && entry.agentrc !== fingerprint(root)
  if (changed) return { trusted: false, rules, warnings: [`${join(root, '.agentrc')} has changed since this folder was trusted`] }
  return { trusted: entry?.trusted === true, rules, warnings: [] }
}

export const trust = (root: string, places: Places): Saved => change(root, places, (entry) => ({ ...entry, trusted: true, agentrc: fingerprint(root) }))
/** Takes the trust back, and with it what was allowed always in this folder. */
export const distrust = (root: string, places: Places): Saved => change(root, places, () => undefined)
/** "Always in this project": for this person, on this machine. */
export const addProjectRules = (root: string, rules: readonly Rule[], places: Places): Saved =>
  change(root, places, (entry) => ({ ...entry, rules: [...(entry?.rules ?? []), ...rules.filter((rule) => !(entry?.rules ?? []).some((other) => same(other, rule)))] }))

export function trustedFolders(places: Places): string[] {
  const read = readStore(places)
  return read.ok ? Object.entries(read.store.folders).filter(([, entry]) => entry.trusted).map(([folder]) => folder) : []
}

/** null: there is none. */
function fingerprint(root: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(join(root, '.agentrc'))).digest('hex')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : 'unreadable'
  }
}

const same = (a: Rule, b: Rule): boolean => a.verdict === b.verdict && a.kind === b.kind && a.match === b.match

type Entry = Store['folders'][string]
function change(root: string, places: Places, to: (entry: Entry | undefined) => Entry | undefined): Saved {
  const read = readStore(places)
  if (!read.ok) return read
  const folder = real(root)
  const { [folder]: before, ...others } = read.store.folders
  const after = to(before)
  const file = trustFile(places)
  try {
    writePrivate(file, `${JSON.stringify({ version: 1, folders: after ? { ...others, [folder]: after } : others }, null, 2)}\n`)
    return { ok: true, file }
  } catch (error) {
    return { ok: false, why: `${file} cannot be written: ${error instanceof Error ? error.message : String(error)}` }
  }
}

function readStore(places: Places): { ok: true; store: Store } | { ok: false; why: string } {
  const file = trustFile(places)
  try {
    const stat = statSync(file)
    if (!stat.isFile()) return { ok: false, why: `${file} is not a file; no folder counts as trusted` }
    if (process.platform !== 'win32' && stat.mode & 0o022) return { ok: false, why: `${file} can be changed by other users, so no folder counts as trusted: chmod 600 ${file}` }
    const checked = Store.safeParse(JSON.parse(readFileSync(file, 'utf8')))
    return checked.success ? { ok: true, store: checked.data } : { ok: false, why: `${file} is not a list of trusted folders; mend or remove it` }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ok: true, store: { version: 1, folders: {} } }
    return { ok: false, why: `${file} cannot be read, so no folder counts as trusted: ${error instanceof Error ? error.message : String(error)}` }
  }
}

function real(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
