import type { Here, Output, Prepared } from '../core/ports.ts'
import type { Access, Seen } from '../core/record.ts'
import { replaceFile } from '../os/atomic-write.ts'
import { exclusively, sha256 } from '../os/files.ts'
import { cancelled, failed, withNotes } from './answer.ts'
import { fileDiff, shortDiff } from './file-diff.ts'

export interface Change {
  path: string
  shown: string
  /** null: a new file. */
  before: { sha256: string; text: string; bytes: Uint8Array } | null
  bytes: Buffer
  text: string
  /** For the model, once it is done. */
  done: string
  notes: readonly (string | null | false)[]
  seen: Omit<Seen, 'path' | 'sha256'>
  keep: Here['keep']
}

/** A change of one file, prepared: what it shows is what it will write, and only while the file is still the one it was made from. */
export async function changeFile({ path, shown, before, bytes, text, done, notes, seen, keep }: Change): Promise<Prepared> {
  const after = sha256(bytes)
  const diff = await fileDiff(shown, before?.text ?? null, text)
  const accesses: Access[] = [...(before ? [{ kind: 'read' as const, path }] : []), { kind: 'write', path }]
  const run = async (signal: AbortSignal): Promise<Output> => {
    if (signal.aborted) return cancelled()
    if (before) keep?.(before.bytes)
    const written = await replaceFile(path, before?.sha256 ?? null, bytes)
    if (!written.ok) {
      const changes = written.now === undefined ? {} : { changes: [{ path, before: before?.sha256 ?? null, after: written.now }] }
      return { ...failed(`${shown} was not written: ${written.why}.`), ...changes }
    }
    keep?.(bytes)
    return {
      status: 'ok',
      text: withNotes(done, [...notes, written.note]),
      changes: [{ path, before: before?.sha256 ?? null, after }],
      diff: shortDiff(diff),
      seen: [{ path, sha256: after, ...seen }],
    }
  }
  return {
    accesses,
    preview: { kind: 'diff', diff, ...(notes.some(Boolean) ? { note: notes.filter(Boolean).join(' ') } : {}) },
    changes: [{ path, before: before?.sha256 ?? null, intended: after }],
    run: (signal) => exclusively(path, () => run(signal)),
  }
}
