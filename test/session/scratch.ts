import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { Fact } from '../../src/core/record.ts'
import type { SessionLog } from '../../src/session/log.ts'
import { createLog } from '../../src/session/log.ts'
import { openLog } from '../../src/session/open-log.ts'

const made: string[] = []
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A folder that is gone after the test. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tiller-session-'))
  made.push(folder)
  return folder
}

export const fixtures = new URL('../../fixtures/sessions/', import.meta.url).pathname

let time = 1_796_000_000_000
export const now = (): number => time++

export const sessionFact = (id = 's1', root = '/w'): Fact => ({ type: 'session', version: 1, id, cwd: root, root })
export const inputFact = (text: string, id = 'i1'): Fact => ({ type: 'input', id, text, from: 'user', when: 'next' })

/** A new session with one input. */
export function begun(file: string, id = 's1', root = '/w'): SessionLog {
  const log = createLog(file, { id, now })
  log.append([sessionFact(id, root), inputFact('hello')])
  return log
}

export function opened(file: string, options: Partial<Parameters<typeof openLog>[1]> = {}): SessionLog {
  const result = openLog(file, { now, ...options })
  if (!result.ok) throw new Error(`${result.fault.kind}: ${result.fault.message}`)
  return result.log
}
