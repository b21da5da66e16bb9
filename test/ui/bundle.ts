import { build } from 'esbuild'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = new URL('../../', import.meta.url).pathname
const CACHE = join(root, 'node_modules', '.cache', 'tiller-tests')
const OLD_MS = 3_600_000

/** The screen with a small agent in memory, as one file that Node starts in a pty. Made once for all test files of a run, and anew when a source changed. */
export async function bundleFixture(): Promise<string> {
  const sources = globSync(['src/**/*.{ts,tsx}', 'test/ui/fixture-*.ts'], { cwd: root }).sort()
  const state = createHash('sha256').update(sources.map((file) => `${file} ${statSync(join(root, file)).mtimeMs}`).join('\n')).digest('hex').slice(0, 16)
  const folder = join(CACHE, `ui-${state}`)
  if (existsSync(folder)) return join(folder, 'app.mjs')
  mkdirSync(CACHE, { recursive: true })
  for (const name of readdirSync(CACHE)) if (Date.now() - (statSync(join(CACHE, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) > OLD_MS) rmSync(join(CACHE, name), { recursive: true, force: true })
  const making = mkdtempSync(join(CACHE, 'making-'))
  await build({
    absWorkingDir: root, entryPoints: ['test/ui/fixture-app.ts'], outdir: making, entryNames: 'app', chunkNames: 'chunk-[hash]', outExtension: { '.js': '.mjs' },
    bundle: true, splitting: true, platform: 'node', format: 'esm', target: 'node22.12', minify: false, legalComments: 'none', logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' }, alias: { 'react-devtools-core': './scripts/nothing.js' },
    banner: { js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);" },
  })
  try {
    renameSync(making, folder)
  } catch {
    // Another test file was faster.
    rmSync(making, { recursive: true, force: true })
  }
  return join(folder, 'app.mjs')
}
