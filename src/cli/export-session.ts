import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs'
import type { SessionRecord, UnknownRecord } from '../core/record.ts'
import { exportJsonl, exportMarkdown } from '../report/export.ts'
import { exportHtml } from '../report/html.ts'
import { inWords } from '../session/fault.ts'
import { recordsOf } from '../session/reading.ts'
import { UsageError } from './options.ts'

export const FORMATS = ['markdown', 'html', 'jsonl'] as const
export type Format = (typeof FORMATS)[number]

/** A format by its name or by the ending of a file; `md` is Markdown. */
export const formatNamed = (name: string): Format | undefined => (name === 'md' ? 'markdown' : FORMATS.find((each) => each === name))

/** The whole session for somebody else to read, piece by piece, however large it is. Secrets of known forms are taken out, and those that are `known`. */
export function exportSession(format: Format, { file, id }: { file: string; id: string }, known: readonly string[]): Iterable<string> {
  const records: Iterable<SessionRecord | UnknownRecord> = recordsOf(file)
  switch (format) {
    case 'html':
      return exportHtml(records, `Session ${id}`, known)
    case 'jsonl':
      return exportJsonl(records, known)
    case 'markdown':
      return exportMarkdown(records, known)
  }
}

/** Into a file that is not there yet, in the form that is named or that its ending says: a page where neither does. Nothing is left of one that fails. */
export function exportFile(to: string, session: { file: string; id: string }, known: readonly string[], named?: Format): string {
  if (!existsSync(session.file)) throw new UsageError('There is nothing in this session yet.')
  if (existsSync(to)) throw new UsageError(`${to} is there already and stays as it is. Name another file.`)
  const format = named ?? formatNamed(/\.(\w+)$/.exec(to)?.[1] ?? '') ?? 'html'
  try {
    const fd = openSync(to, 'wx', 0o600)
    try {
      for (const piece of exportSession(format, session, known)) writeFileSync(fd, piece)
    } catch (error) {
      rmSync(to)
      throw error
    } finally {
      closeSync(fd)
    }
    return to
  } catch (error) {
    throw new UsageError(`The session ${session.id} cannot be written to ${to}: ${inWords(error)}.`)
  }
}
