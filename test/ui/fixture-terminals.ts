import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach } from 'vitest'
import { launch, type Launch, type Pty } from '../support/pty.ts'
import { bundleFixture } from './bundle.ts'

export interface FixtureTerminals {
  /** What Node starts. */
  readonly program: string
  /** Of this test: what the program notes is in it. */
  readonly folder: string
  /** Any program in a terminal, closed after the test. */
  open(file: string, args: readonly string[], options?: Launch): Pty
  /** The screen, live: what is painted before is not waited for. */
  start(options?: Launch): Promise<Pty>
  /** Commands that the agent got, and what else the program noted. */
  noted(): Record<string, unknown>[]
}

/** The screen's fixture program in real terminals. Called once at the top of a test file. */
export function fixtureTerminals(): FixtureTerminals {
  let [program, folder] = ['', '']
  let opened: Pty[] = []
  beforeAll(async () => {
    program = await bundleFixture()
  })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tiller-screen-'))
  })
  afterEach(() => {
    for (const each of opened) each.close()
    opened = []
    // A tmux server takes a moment to let go of its socket.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  })
  const open: FixtureTerminals['open'] = (file, args, options = {}) => {
    const terminal = launch(file, args, { ...options, env: { FIXTURE_DIR: folder, ...options.env } })
    opened.push(terminal)
    return terminal
  }
  return {
    get program() { return program },
    get folder() { return folder },
    open,
    start: async (options = {}) => {
      const terminal = open(process.execPath, [program], options)
      // Ink asks the terminal for its keyboard protocol when it takes over.
      await terminal.waitFor(() => terminal.bytes().includes('\x1b[?u'))
      return terminal
    },
    noted: () => {
      const file = join(folder, 'commands.jsonl')
      return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>) : []
    },
  }
}
