import type { Log } from '../../src/core/ports.ts'
import { isSynced, type Fact, type SessionRecord } from '../../src/core/record.ts'

/** The Log port without a disk, for tests of the loop alone; counts what a real one would sync. */
export function memoryLog(before: readonly SessionRecord[] = []): Log & { syncs: number; all: SessionRecord[]; failAt?: number; clock?: () => number } {
  const records: SessionRecord[] = [...before]
  const log: Log & { syncs: number; all: SessionRecord[]; failAt?: number; clock?: () => number } = {
    id: 's1', file: '/nowhere', base: 0, readOnly: null, syncs: 0, all: records, records,
    append(facts: readonly Fact[]) {
      if (facts.length === 0) return []
      if (log.failAt !== undefined && records.length >= log.failAt) throw new Error('ENOSPC: no space left on device, write')
      const added = facts.map((fact, index): SessionRecord => ({ seq: records.length + index, at: log.clock?.() ?? records.length + index, ...structuredClone(fact) }))
      records.push(...added)
      if (facts.some(isSynced)) log.syncs++
      return added
    },
    reach: () => ({ records, base: 0 }),
    reopen: () => {
      if (log.failAt !== undefined) throw new Error('ENOSPC: no space left on device, still')
      return 0
    },
    close: () => undefined,
  }
  return log
}
