import type { SessionRecord, UnknownRecord } from './record.ts'

type AnyRecord = SessionRecord | UnknownRecord

export const isKnownRecord = (record: AnyRecord): record is SessionRecord => !('unknown' in record)

/** The records that are live: what follows a `rewind` follows the record that it names, so a log holds a tree and this is the path to its head. */
export function live(records: readonly AnyRecord[]): SessionRecord[] {
  if (!records.some((record) => record.type === 'rewind')) return records.filter(isKnownRecord)
  const path: SessionRecord[] = []
  let index = records.length - 1
  while (index >= 0) {
    const record = records[index]
    if (!record) break
    if (isKnownRecord(record)) path.push(record)
    // A rewind can only lead back; one that does not is damage, and is passed over.
    index = record.type === 'rewind' && isKnownRecord(record) && record.type === 'rewind' && record.to < record.seq ? indexAtOrBefore(records, record.to, index) : index - 1
  }
  return path.reverse()
}

/**
 * What requests are made of on a live path: what the newest compaction keeps, if it carries what came before, and the system text.
 * `context` makes the same of it as of the whole path, at a cost that does not grow with the session.
 */
export function needed(path: readonly SessionRecord[]): SessionRecord[] {
  const compact = path.findLast((record) => record.type === 'compact')
  if (!compact?.carry) return [...path]
  const system = path.findLast((record) => record.type === 'system' && record.seq < compact.keep)
  return [...(system ? [system] : []), ...path.filter((record) => record.seq >= compact.keep)]
}

/** The last record whose seq is at most `seq`: lines may be missing or damaged. */
function indexAtOrBefore(records: readonly AnyRecord[], seq: number, before: number): number {
  let index = before - 1
  while (index >= 0 && (records[index]?.seq ?? 0) > seq) index--
  return index
}
