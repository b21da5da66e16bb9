import { onlyReads } from '../core/policy.ts'
import type { Tool } from '../core/ports.ts'
import type { FactOf } from '../core/record.ts'
import { carryOut, judge, prepare, settle, validate } from './call.ts'
import { stepSignal, type Work } from './work.ts'

const READERS_AT_ONCE = 8

/**
 * The calls of one reply, each to exactly one result. Calls that only read run side by side; any other waits for those before
 * it and holds those after it. What had not begun when the person cut in or stopped is skipped.
 */
export async function runCalls(work: Work, reply: FactOf<'reply'>, tools: readonly Tool[]): Promise<void> {
  const readers = new Set<Promise<void>>()
  /** What could not be recorded ends the run, and with it what runs: it is thrown where it is waited for. */
  const faults: unknown[] = []
  const broke = (error: unknown): void => {
    faults.push(error)
    work.stop.abort('something could not be recorded')
  }
  const settled = async (): Promise<void> => {
    await Promise.all(readers)
    if (faults.length > 0) throw faults[0]
  }
  const signal = stepSignal(work)
  try {
    for (const part of reply.parts) {
      if (part.type !== 'call') continue
      if (faults.length > 0) break
      if (signal.aborted) {
        settle(work, part.id, 'skipped', 'Not run: cancelled before it began.')
        continue
      }
      const valid = validate(part, reply.stop, tools)
      if ('rejected' in valid) {
        settle(work, part.id, 'rejected', valid.rejected)
        continue
      }
      const prepared = await prepare(work, valid)
      const besides = !('refused' in prepared) && onlyReads(prepared.accesses) && judge(work, prepared).verdict === 'allow'
      if (besides) {
        if (readers.size >= READERS_AT_ONCE) await Promise.race(readers)
        const reader: Promise<void> = carryOut(work, valid, prepared).catch(broke).finally(() => readers.delete(reader))
        readers.add(reader)
        continue
      }
      const waited = readers.size > 0
      await settled()
      await carryOut(work, valid, waited ? await prepare(work, valid) : prepared)
    }
  } finally {
    await Promise.all(readers)
  }
  await settled()
}
