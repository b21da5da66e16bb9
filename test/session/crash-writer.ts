// Appends to a session until it is killed, and says what was acknowledged: one line on stdout for each record, after `append` has returned.
import { existsSync, writeSync } from 'node:fs'
import type { Fact } from '../../src/core/record.ts'
import type { SessionLog } from '../../src/session/log.ts'
import { createLog } from '../../src/session/log.ts'
import { openLog } from '../../src/session/open-log.ts'

const [, , file = '', seed = '1'] = process.argv
let state = Number(seed)
/** The same for the same seed, so that a round that fails can be played again. */
const random = (most: number): number => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
  return state % most
}

function log(): SessionLog {
  if (!existsSync(file)) {
    const made = createLog(file, { id: 'crash', now: Date.now })
    made.append([{ type: 'session', version: 1, id: 'crash', cwd: '/w', root: '/w' }])
    return made
  }
  const opened = openLog(file, { now: Date.now })
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.log
}

function fact(): Fact {
  const text = 'caf\u00e9 \u2028 '.repeat(random(4) === 0 ? random(5_000) : random(20))
  switch (random(4)) {
    case 0:
      return { type: 'input', id: `i${random(1e9)}`, text }
    case 1:
      return { type: 'step', run: 'r', number: 1, attempt: 1, inputs: [], model: 'a/b', request: { sha256: 'x', bytes: 1 } }
    case 2:
      return { type: 'result', run: 'r', call: 'c', status: 'ok', text }
    default:
      return { type: 'start', run: 'r', call: 'c', reads: random(2) === 0 }
  }
}

const session = log()
session.append([{ type: 'input', id: `begin${seed}`, text: 'begin' }])
for (const record of session.records.slice(-2)) writeSync(1, `${record.seq} ${JSON.stringify(record)}\n`)
for (;;) {
  const added = session.append(Array.from({ length: 1 + random(4) }, fact))
  writeSync(1, added.map((record) => `${record.seq} ${JSON.stringify(record)}\n`).join(''))
}
