// Bundles src/cli/main.ts into dist/. Heavy parts are chunks of their own, loaded on demand.
import { build } from 'esbuild'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { quickStart } from './quick-start.js'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const dist = new URL('../dist', import.meta.url).pathname
// Built beside it and swapped in, so that a program which runs from dist is never without its parts for long.
const out = `${dist}.${process.pid}`
const old = `${out}.old`
mkdirSync(out, { recursive: true })

const options = {
  absWorkingDir: new URL('..', import.meta.url).pathname,
  outdir: out,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node22.12',
  // Else esbuild, which does not know that Node has them, makes such an expression anew each time it is used.
  supported: { 'regexp-set-notation': true, 'regexp-unicode-property-escapes': true },
  minify: true,
  sourcemap: false,
  legalComments: 'none',
  banner: { js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);" },
  logLevel: 'warning',
}

try {
  const program = {
    ...options,
    define: { 'process.env.NODE_ENV': '"production"', TILLER_VERSION: JSON.stringify(version) },
    // Ink asks for it only when DEV is set; left external it would stop the bundle from starting.
    // jsonc-parser's main file is UMD, whose own imports a bundler cannot follow.
    alias: { 'react-devtools-core': './scripts/nothing.js', 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    plugins: [quickStart],
  }
  // What paints the first frame is one file, whatever it has in common with the rest.
  await build({ ...program, splitting: false, entryPoints: { main: 'src/cli/main.ts' } })
  await build({ ...program, entryPoints: { launch: 'src/cli/launch.ts' } })
  // The workers are threads, started by the name of their file (src/os/worker.ts). Apart, so that they do not split what the program shares with them.
  await build({ ...options, splitting: false, entryPoints: { 'search-worker': 'src/os/search-worker.ts', 'image-worker': 'src/os/image-worker.ts' } })
  for (const wasm of ['web-tree-sitter/web-tree-sitter.wasm', 'tree-sitter-bash/tree-sitter-bash.wasm']) {
    cpSync(new URL(`../node_modules/${wasm}`, import.meta.url), `${out}/${wasm.split('/')[1]}`)
  }
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(out, dist)
} finally {
  rmSync(out, { recursive: true, force: true })
  rmSync(old, { recursive: true, force: true })
}
