import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { MAX_BYTES } from '../../src/core/cap.ts'
import { exec } from '../../src/os/exec.ts'
import { endAll, livingCount } from '../../src/os/living.ts'

const program = new URL('../../fixtures/bin/run-shell-tool.ts', import.meta.url).pathname
interface Told { status: string; exit: number | null; text: string; stored: number; live: number; ms: number; grownMB: number; rssMB: number }
async function told(command: string, timeout = '600'): Promise<Told> {
  const folder = mkdtempSync(join(tmpdir(), 'tiller-long-'))
  try {
    return JSON.parse((await promisify(execFile)(process.execPath, ['--no-warnings', program, command, folder, timeout], { maxBuffer: 10e6 })).stdout) as Told
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test.each([
  ['lines', 'yes 0123456789 | head -c 2000000000'],
  ['one line', 'head -c 2000000000 /dev/zero | tr "\\0" x'],
  ['bytes that are no text', 'head -c 2000000000 /dev/zero | tr "\\0" "\\377"'],
])('two gigabytes of %s need little memory', async (what, command) => {
  const { text, ...figures } = await told(command)
  console.log(`2 GB of ${what}:`, figures)
  expect(figures.exit).toBe(0)
  expect(text).toContain('2000000000 bytes')
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES)
  // the stored part is read whole for its blob
  expect(figures.grownMB).toBeLessThan(120)
  expect(figures.stored).toBeGreaterThan(30e6)
  expect(figures.stored).toBeLessThan(34e6)
}, 600_000)

test('a tight writer that nobody ends is ended at its timeout', async () => {
  const { text, ...figures } = await told('yes & yes & yes', '3')
  console.log('three tight writers for 3 s:', figures)
  expect(figures.status).toBe('failed')
  expect(text).toContain('timed out after 3.0 s')
  expect(figures.ms).toBeLessThan(20_000)
}, 120_000)

test('a thousand commands leave no descriptor, process or memory behind', async () => {
  const descriptors = (): number => readdirSync('/proc/self/fd').length
  const once = (): Promise<unknown> => exec({ command: 'echo out; echo err >&2', cwd: '/', combine: true })
  for (let count = 0; count < 50; count++) await once()
  const [before, memory] = [descriptors(), process.memoryUsage.rss()]
  const began = performance.now()
  for (let count = 0; count < 1_000; count++) await once()
  console.log(`1,000 commands: ${((performance.now() - began) / 1_000).toFixed(1)} ms each, ${descriptors() - before} more descriptors, ${Math.round((process.memoryUsage.rss() - memory) / 1e6)} MB more`)
  expect(descriptors() - before).toBeLessThan(40)
  expect(livingCount()).toBe(0)
  await endAll()
}, 600_000)
