#!/usr/bin/env node
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write(`tiller needs Node 22.12 or newer, and this is ${process.version} (${process.execPath}).\n`)
  process.exit(2)
}

// Compiled code is kept in the user's own cache folder: in a shared temporary one somebody else could put code there.
// `import` of these modules would load much of Node that is not needed yet.
const [{ mkdirSync }, { enableCompileCache }, { homedir }, { join }] = ['fs', 'module', 'os', 'path'].map((name) => process.getBuiltinModule(name))
try {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tiller', 'compiled')
  mkdirSync(cache, { recursive: true, mode: 0o700 })
  enableCompileCache(cache)
} catch {
  // Without it the start is a little slower.
}

await import('../dist/main.js')
