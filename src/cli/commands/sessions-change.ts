import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { sessionEntry } from '../../session/list.ts'
import { renameSession } from '../../session/store.ts'
import { size } from '../../ui/figures.ts'
import { copyOf, fileOf, SessionError, sessionToRead } from '../open-session.ts'
import { UsageError } from '../options.ts'
import { removeSessions } from '../tidy.ts'
import { note, print, type Here } from './sessions-here.ts'

export async function rename({ folders, rest: [id = '', ...title] }: Here): Promise<number> {
  const fault = renameSession(await fileOf(id, folders), title.join(' '), () => Date.now())
  if (fault) throw new SessionError(fault)
  return 0
}

/** All are found before the first is removed. */
export async function remove({ folders, flags, rest }: Here): Promise<number> {
  const files: string[] = []
  for (const id of rest) files.push(await fileOf(id, folders))
  if (flags['yes'] !== true && !(await confirmed(`${files.map(inShort).join('\n')}\nRemove ${files.length === 1 ? 'it' : `these ${files.length}`} and what belongs to ${files.length === 1 ? 'it' : 'them'}? [y/N] `))) {
    note('nothing was removed')
    return 1
  }
  const { fault, tidied } = removeSessions([...new Set(files)], new AbortController().signal)
  await tidied
  if (fault) throw new SessionError(fault)
  return 0
}

function inShort(file: string): string {
  const { id, title, words, bytes } = sessionEntry(file)
  return `${id}  ${title ?? words} (${size(bytes)}, ${file})`
}

async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError('nobody can be asked here: say --yes')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await lines.question(question)
  lines.close()
  return /^y(es)?$/i.test(answer.trim())
}

/** Another folder's session, as a copy that belongs here. */
export async function importOne({ place, folders: [own], rest: [file = ''] }: Here): Promise<number> {
  const from = resolve(file)
  if (!existsSync(from)) throw new UsageError(`sessions import: there is no file ${from}`)
  const log = copyOf(from, place, own)
  log.close()
  print(log.id)
  note(`tiller -r ${log.id} goes on with it`)
  return 0
}

export async function exportOne({ folders, flags, secrets, rest: [id = '', to] }: Here): Promise<number> {
  const { exportFile, exportSession, formatNamed, FORMATS } = await import('../export-session.ts')
  const named = flags['format']
  const format = formatNamed(typeof named === 'string' ? named : 'markdown')
  if (!format) throw new UsageError(`sessions export: --format ${String(named)} is not known; expected ${FORMATS.join(', ')}`)
  const log = sessionToRead(await fileOf(id, folders))
  log.close()
  if (to === undefined) for (const piece of exportSession(format, log, secrets)) process.stdout.write(piece)
  else print(exportFile(resolve(to), log, secrets, typeof named === 'string' ? format : undefined))
  return 0
}
