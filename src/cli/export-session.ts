import { existsSync, writeFileSync } from 'node:fs'
import { exportJsonl, exportMarkdown } from '../report/export.ts'
import { exportHtml } from '../report/html.ts'
import type { SessionLog } from '../session/log.ts'

export const FORMATS: readonly string[] = ['markdown', 'html', 'jsonl']

/** The whole session for somebody else to read; secrets of known forms are taken out. */
export function exportAs(format: string, log: SessionLog): string {
  const records = log.read(0, Number.MAX_SAFE_INTEGER)
  switch (format) {
    case 'html':
      return [...exportHtml(records, `Session ${log.id}`)].join('')
    case 'jsonl':
      return [...exportJsonl(records)].join('')
    default:
      return [...exportMarkdown(records)].join('')
  }
}

/** Into a file that is not there yet, in the form that its ending says: a page where it says none. */
export function exportFile(file: string, log: SessionLog): string {
  if (existsSync(file)) throw new Error(`${file} is there already and stays as it is. Name another file.`)
  const format = file.endsWith('.md') ? 'markdown' : (FORMATS.find((each) => file.endsWith(`.${each}`)) ?? 'html')
  writeFileSync(file, exportAs(format, log), { mode: 0o600, flag: 'wx' })
  return file
}
