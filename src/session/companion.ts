import { basename } from 'node:path'

/** What belongs to a session beside its log: every name begins with the log's own, so that removing finds all of it. */
export const lockOf = (file: string): string => `${stemOf(file)}.lock`
export const draftOf = (file: string): string => `${stemOf(file)}.draft`
/** The folder of its blobs. */
export const blobsOf = (file: string): string => `${stemOf(file)}.blobs`
/** What it names of checkpoints: found in the log, and kept. */
export const treesFileOf = (file: string): string => `${stemOf(file)}.trees`
/** The folder into which commands stream their output. */
export const outputsOf = (file: string): string => `${stemOf(file)}.out`

export const stemOf = (file: string): string => file.replace(/\.jsonl$/, '')

/** Whether a name in the log's folder is one of these, or what a crash left of one. A log may lie among a person's own files, and `notes.jsonl` does not own `notes.md`. */
export function belongsTo(file: string): (name: string) => boolean {
  const [log, stem] = [basename(file), basename(stemOf(file))]
  const kinds = ['lock', 'draft', 'blobs', 'trees', 'out'].map((kind) => `${stem}.${kind}`)
  return (name) => name !== log && (kinds.some((own) => name === own || name.startsWith(`${own}.`)) || (name.startsWith(`${log}.`) && name.endsWith('.tmp')))
}
