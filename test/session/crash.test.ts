import * as fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Fact } from '../../src/core/record.ts'
import type { LogFiles } from '../../src/session/log.ts'
import { crashRounds } from './crash.ts'
import { begun, inputFact, opened, scratch } from './scratch.ts'

test('kill -9 at any moment loses nothing that was acknowledged', async () => {
  const { acknowledged, lost, misread } = await crashRounds(4)
  expect(acknowledged).toBeGreaterThan(20)
  expect(lost).toEqual([])
  expect(misread).toEqual([])
}, 120_000)

test('a power cut loses nothing that was synced, whatever it leaves of the rest', () => {
  const folder = scratch()
  const file = join(folder, 's.jsonl')
  const unsynced: Fact = { type: 'step', run: 'r1', number: 1, attempt: 1, inputs: [], model: 'a/b', request: { sha256: 'x', bytes: 1 } }
  const group = fc.array(fc.oneof(fc.constant(unsynced), fc.string({ maxLength: 30 }).map((text) => inputFact(text))), { minLength: 1, maxLength: 3 })
  const rest = fc.record({ keep: fc.double({ min: 0, max: 1, noNaN: true }), zeros: fc.boolean() })
  fc.assert(
    fc.property(fc.array(fc.record({ groups: fc.array(group, { maxLength: 4 }), rest }), { minLength: 1, maxLength: 4 }), (lives) => {
      fs.rmSync(file, { force: true })
      begun(file).close()
      const durable = opened(file, { watch: true }).records.map((record) => JSON.stringify(record))
      for (const life of lives) {
        let onDisk = fs.statSync(file).size
        const files: LogFiles = { ...fs, fdatasyncSync: () => { onDisk = fs.statSync(file).size } }
        const log = opened(file, { files })
        const pending: string[] = []
        for (const facts of life.groups) {
          pending.push(...log.append(facts).map((record) => JSON.stringify(record)))
          if (onDisk === fs.statSync(file).size) durable.push(...pending.splice(0))
        }
        log.close()
        cut(file, onDisk, life.rest)
        const again = opened(file, { watch: true })
        const found = new Set(again.records.map((record) => JSON.stringify(record)))
        for (const record of durable) expect(found).toContain(record)
        again.close()
      }
    }),
    { numRuns: 60 },
  )
}, 120_000)

/** What was not synced is there in part, or as zeros, or not at all. */
function cut(file: string, onDisk: number, { keep, zeros }: { keep: number; zeros: boolean }): void {
  const size = fs.statSync(file).size
  const left = onDisk + Math.floor((size - onDisk) * keep)
  if (zeros) {
    const fd = fs.openSync(file, 'r+')
    fs.writeSync(fd, Buffer.alloc(size - left), 0, size - left, left)
    fs.closeSync(fd)
  } else fs.truncateSync(file, left)
}
