import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Once for all test files: what the program compiles in one is there for the next. Workers find it in their environment. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'tiller-cache-'))
  process.env['TILLER_TEST_CACHE'] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
