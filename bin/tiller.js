#!/usr/bin/env node
import { mkdirSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write(`tiller needs Node 22.12 or newer, and this is ${process.version} (${process.execPath}).\n`)
  process.exit(2)
}

// Compiled code is kept in the user's own cache folder: in a shared temporary one somebody else could put code there.
try {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tiller', 'compiled')
  mkdirSync(cache, { recursive: true, mode: 0o700 })
  module.enableCompileCache(cache)
} catch {
  // Without it the start is a little slower.
}

await import('../dist/main.js')
