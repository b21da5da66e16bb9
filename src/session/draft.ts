import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isSameProcess, processStart } from '../os/process-start.ts'
import { draftOf, stemOf } from './companion.ts'
import { makePrivateFolder, writePrivate } from './private.ts'

/** The unsent text of the editor, beside the log, so that a crash does not lose it. */
interface Draft {
  text: string
  /** Whose it is: a draft of a session that was never begun is offered to the next start once this process is gone. */
  pid: number
  started: string
}

/** Keeps the text whole or not at all; an empty one removes the draft. Throws with an errno where it cannot be written. */
export function writeDraft(file: string, text: string): void {
  const path = draftOf(file)
  if (text === '') {
    rmSync(path, { force: true })
    return
  }
  makePrivateFolder(dirname(path))
  const draft: Draft = { text, pid: process.pid, started: ownStart() }
  writePrivate(path, JSON.stringify(draft), false)
}

/** Empty: there is none. */
export const readDraft = (file: string): string => read(draftOf(file))?.text ?? ''

/** The newest draft in a folder whose session was never begun and whose writer is gone. It is taken: the next one who asks does not get it. */
export function takeLeftDraft(folder: string): string {
  const names = list(folder)
  const sessions = new Set(names.filter((name) => name.endsWith('.jsonl')).map(stemOf))
  for (const name of names.filter((each) => each.endsWith('.draft')).sort().reverse()) {
    if (sessions.has(basename(name, '.draft'))) continue
    const draft = read(join(folder, name))
    if (draft && isSameProcess(draft.pid, draft.started || null)) continue
    rmSync(join(folder, name), { force: true })
    if (draft?.text) return draft.text
  }
  return ''
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function read(path: string): Draft | null {
  try {
    const raw = JSON.parse(readFileSync(path, 'utf8')) as Partial<Draft> | null
    return typeof raw?.text === 'string' ? { text: raw.text, pid: Number(raw.pid), started: String(raw.started) } : null
  } catch {
    return null
  }
}

let start: string | undefined
const ownStart = (): string => (start ??= processStart(process.pid) ?? '')
