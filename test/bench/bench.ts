// Measures the built program: `npm run bench`, or `node test/bench/bench.ts [--large] [--rounds n] [--program bin/tiller.js] [name...]`.
// Milliseconds move with the machine's load. What counts are the ratios to `node -e 0`, which runs in between.
import { existsSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { listing } from './listing.ts'
import { resuming } from './resume.ts'
import { openSpace, type Space } from './space.ts'
import { startUp } from './start.ts'
import { stopping } from './stopping.ts'
import { streaming } from './stream.ts'
import { turns } from './turn.ts'
import { typing } from './typing.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { large: { type: 'boolean', default: false }, rounds: { type: 'string', default: '10' }, program: { type: 'string', default: new URL('../../bin/tiller.js', import.meta.url).pathname } },
})
const rounds = Number(options.rounds)
const program = resolve(options.program)
if (!existsSync(program)) throw new Error(`there is no ${program}`)

const MEASURES: Readonly<Record<string, (space: Space) => Promise<string>>> = {
  start: (space) => startUp(space, rounds),
  typing: (space) => typing(space, 6 * rounds),
  turn: (space) => turns(space, 3 * rounds),
  stop: (space) => stopping(space, rounds),
  stream: (space) => streaming(space, 20_000),
  resume: (space) => resuming(space, Math.ceil(rounds / 2), options.large),
  list: (space) => listing(space, options.large ? 10_000 : 1_000),
}

const names = positionals.length > 0 ? positionals : Object.keys(MEASURES)
console.log(`Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, ${rounds} rounds\n`)
for (const name of names) {
  const measure = MEASURES[name]
  if (!measure) throw new Error(`there is no measure ${name}; there are ${Object.keys(MEASURES).join(', ')}`)
  const space = await openSpace(program)
  try {
    console.log(`${await measure(space)}\n`)
  } finally {
    space.close()
  }
}
process.exit(0)
