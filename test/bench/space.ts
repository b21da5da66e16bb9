import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBenchServer, type BenchServer } from './server.ts'

/** A home, a small repository and a model server; the program under test sees nothing else. */
export interface Space {
  /** The program: `bin/tiller.js` of a built checkout. */
  program: string
  cwd: string
  /** Where its sessions are. */
  sessions: string
  env: Record<string, string>
  server: BenchServer
  close(): void
}

export async function openSpace(program: string): Promise<Space> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'tiller-bench-')))
  const [home, cwd] = [join(top, 'home'), join(top, 'work')]
  const server = await startBenchServer()
  mkdirSync(join(home, '.config', 'tiller'), { recursive: true })
  mkdirSync(cwd)
  execFileSync('git', ['init', '-q', '-b', 'main', cwd])
  writeFileSync(join(cwd, 'readme.md'), '# A small repository\n')
  writeFileSync(join(home, '.config', 'tiller', 'agentrc'), JSON.stringify({
    model: 'bench/bench-model', mode: 'full', limits: { sameCall: 1_000_000, steps: 1_000_000 },
    providers: { bench: { type: 'openai-compatible', baseURL: server.baseURL, apiKey: 'bench', models: { 'bench-model': { contextWindow: 1_000_000_000, maxOutput: 100_000 } } } },
  }, null, 2))
  const { PATH = '', LANG = 'C.UTF-8' } = process.env
  return {
    program, cwd, server, sessions: join(cwd, '.agent', 'sessions'),
    env: { PATH, LANG, HOME: home, TERM: 'xterm-256color', COLORTERM: 'truecolor' },
    close: () => {
      server.close()
      rmSync(top, { recursive: true, force: true })
    },
  }
}
