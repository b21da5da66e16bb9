// What the build does so that the program starts quickly. `npm run bench` shows what it is worth.
import { readFileSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { builtinModules, createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'

/** What every way in needs, as one chunk: a chunk for each set of ways that share a file would be twenty files to find and read. */
const COMMON = ['connect', 'configure', 'open-session', 'signals', 'stop-everything', 'place', 'undo-runs', 'show-config', 'doctor'].map((name) => `import './src/cli/${name}.ts'`).join('\n')
/** And what every way to a screen needs, with Ink or without. */
const SCREEN = "import './src/ui/plain-screen.ts'"
const SHOWS = /\/(interactive|demo|plain-screen|sessions)\.ts$/

const PROVIDER = /\/@ai-sdk\/(anthropic|google|openai|openai-compatible)\//
/** Loaded before everything else, which they are not to wait for. */
const FIRST = new Set(['launch.ts', 'command-line.ts'])

const BUILTIN = new RegExp(`^(node:)?(${builtinModules.join('|')})$`)
/** Loaded when one of their functions is called: Node has not loaded them by itself when it starts. */
const ON_CALL = new Set(['child_process', 'crypto', 'fs/promises', 'readline', 'timers/promises', 'v8', 'zlib'])
/** Is passed around whole (`import * as fs`), which would ask for its deprecated and late exports, too: those with a getter. */
const WHOLE = 'fs'

/** @type {import('esbuild').Plugin} */
export const quickStart = {
  name: 'quick-start',
  setup(build) {
    const { absWorkingDir } = build.initialOptions
    const require = createRequire(`${absWorkingDir}/package.json`)
    const read = (filter, change) => build.onLoad({ filter, namespace: 'file' }, async ({ path }) => ({ contents: change(await readFile(path, 'utf8'), path), loader: path.endsWith('.tsx') ? 'tsx' : path.endsWith('.ts') ? 'ts' : 'js' }))

    build.onResolve({ filter: /^\.\/launch\.ts$/ }, () => ({ path: './launch.js', external: true }))

    build.onResolve({ filter: /^tiller:(common|screen)$/ }, ({ path }) => ({ path, namespace: 'common' }))
    build.onLoad({ filter: /^tiller:common/, namespace: 'common' }, () => ({ contents: COMMON, resolveDir: absWorkingDir }))
    build.onLoad({ filter: /^tiller:screen/, namespace: 'common' }, () => ({ contents: SCREEN, resolveDir: absWorkingDir }))
    const ways = waysIn(`${absWorkingDir}/src`)
    read(/\/src\/.*\.tsx?$|\/@ai-sdk\/[a-z-]+\/dist\/index\.m?js$/, (text, path) => (ways.has(path) || PROVIDER.test(path) ? `import 'tiller:common'\n${SHOWS.test(path) ? "import 'tiller:screen'\n" : ''}${text}` : text))

    // For subcommands that are programs of their own, which we have none of.
    build.onResolve({ filter: /^node:child_process$/ }, ({ importer }) => (importer.includes('/commander/') ? { path: `${absWorkingDir}/scripts/nothing.js` } : undefined))
    // One for each importer: shared ones would be chunks of their own.
    build.onResolve({ filter: BUILTIN }, ({ path, kind, importer }) => (kind === 'import-statement' ? { path: `${path}#${importer}`, namespace: 'builtin', pluginData: path } : undefined))
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ pluginData }) => ({ contents: builtin(pluginData), resolveDir: absWorkingDir }))

    // React is CommonJS: each of the forty files that import it would make a copy of its exports.
    build.onResolve({ filter: /^react(\/jsx-runtime)?$/ }, ({ path, kind }) => (kind === 'import-statement' ? { path, namespace: 'react' } : undefined))
    build.onLoad({ filter: /.*/, namespace: 'react' }, ({ path }) => ({ contents: names(path, Object.keys(require(path))), resolveDir: absWorkingDir }))

    // The table of emoji sequences behind its regular expression costs as much as the first grapheme segmenter: most texts need neither.
    build.onResolve({ filter: /^string-width$/ }, () => ({ path: `${absWorkingDir}/scripts/string-width.js` }))
    read(/\/node_modules\/(ink|slice-ansi|wrap-ansi|cli-truncate|@alcalzone\/ansi-tokenize)\/(build\/)?[a-z-]+\.js$/, (text) =>
      text.includes('Intl.Segmenter') ? `import { Segmenter as LateSegmenter } from '${absWorkingDir}/src/ui/segmenter.ts'\n${text.replaceAll('Intl.Segmenter', 'LateSegmenter')}` : text)

    // zod brings its messages in fifty languages; we speak one.
    read(/\/zod\/v4\/locales\/index\.js$/, () => "export { default as en } from './en.js'")

    // Yoga reads its WebAssembly, which is text in this very file, by fetch() where there is one: that loads an HTTP client of 0.7 MB.
    read(/\/yoga-wasm-base64-esm\.js$/, (text) => `var fetch\n${text}`)

    // It says by `assert` that what it was given is a function.
    build.onResolve({ filter: /^assert$/ }, ({ importer }) => (importer.includes('/signal-exit/') ? { path: `${absWorkingDir}/scripts/assert.cjs` } : undefined))
  },
}

/** Our own files that are imported on demand, wherever. */
function waysIn(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => /\.tsx?$/.test(entry.name)).map((entry) => join(entry.parentPath, entry.name))
  const found = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, path]) => resolve(dirname(file), path)))
  return new Set(found.filter((path) => !FIRST.has(basename(path))))
}

/**
 * An `import` of a built-in module asks for all its exports, also for those that load further modules when they are first asked for (the
 * streams of `fs`, the web's part of `crypto`, standard input by `process`). Here only those that are used are asked for.
 */
function builtin(specifier) {
  const name = specifier.replace('node:', '')
  const quoted = JSON.stringify(name)
  const exports = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(name))).filter(([key, { get }]) => !(get && name === WHOLE) && /^[A-Za-z_$][\w$]*$/.test(key) && key !== 'default')
  const onCall = ({ value }, key) => ON_CALL.has(name) && typeof value === 'function' && /^[a-z]/.test(key)
  return [
    "import { builtin, later } from './scripts/builtin.js'",
    'const of = (key) => builtin(' + quoted + ')[key]',
    `export default /* @__PURE__ */ builtin(${quoted})`,
    ...exports.map(([key, found]) => `const x_${key} = /* @__PURE__ */ ${onCall(found, key) ? `later(${quoted}, '${key}')` : `of('${key}')`}\nexport { x_${key} as ${key} }`),
  ].join('\n')
}

const names = (path, keys) => [`const all = require(${JSON.stringify(path)})`, 'export default all', ...keys.map((key) => `export const ${key} = all.${key}`)].join('\n')
