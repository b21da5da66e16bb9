import { build } from 'esbuild'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = new URL('../../', import.meta.url).pathname

/** The screen with a small agent in memory, as one file that Node starts in a pty. */
export async function bundleFixture(): Promise<{ folder: string; file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'tiller-ui-'))
  const file = join(folder, 'app.mjs')
  await build({
    absWorkingDir: root, entryPoints: ['test/ui/fixture-app.ts'], outdir: folder, entryNames: 'app', chunkNames: 'chunk-[hash]', outExtension: { '.js': '.mjs' },
    bundle: true, splitting: true, platform: 'node', format: 'esm', target: 'node22.12', minify: false, legalComments: 'none', logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' }, alias: { 'react-devtools-core': './scripts/nothing.js' },
    banner: { js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);" },
  })
  return { folder, file }
}
