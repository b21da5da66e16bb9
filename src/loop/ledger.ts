import type { AgentEvent, Log } from '../core/ports.ts'
import type { Fact, SessionRecord } from '../core/record.ts'
import { isKnownRecord } from '../core/path.ts'
import { applyRecord, readState, type State } from '../core/state.ts'

/** The one holder of the log's append: written and synced first, then told. */
export interface Ledger {
  readonly state: State
  readonly records: Log['records']
  /** Of every call in the records that are in memory. */
  readonly callIds: ReadonlySet<string>
  /** Waits for the next append, to share its write and sync. Nothing may be told or done on the strength of it before that. */
  hold(fact: Fact): void
  append(...facts: Fact[]): SessionRecord[]
  /** From now on nothing is written or told: how things stand has been recorded, and what still runs must not contradict it. */
  seal(): void
  /** An event that is no record: it may be dropped. */
  emit(event: AgentEvent): void
  subscribe(listener: (event: AgentEvent) => void): () => void
}

export function openLedger(log: Log): Ledger {
  const state = readState(log.records)
  const callIds = new Set<string>()
  const noteCalls = (record: Log['records'][number]): void => {
    if (record.type !== 'reply' || 'unknown' in record) return
    for (const part of record.parts) if (part.type === 'call') callIds.add(part.id)
  }
  log.records.forEach(noteCalls)
  const listeners = new Set<(event: AgentEvent) => void>()
  let held: Fact[] = []
  /** Of an append that failed: written before anything else, as soon as that is possible. */
  let unsaved: readonly Fact[] | null = null
  const recover = (): SessionRecord[] => {
    if (!unsaved) return []
    const before = log.records.length
    const landed = log.reopen()
    unsaved = unsaved.slice(landed)
    return log.records.slice(before).filter(isKnownRecord)
  }
  let sealed = false
  const untold: AgentEvent[] = []
  let telling = false
  /** In the order of the log for every listener, also when one of them sends a command in the middle of it. */
  const tell = (...events: AgentEvent[]): void => {
    untold.push(...events)
    if (telling) return
    telling = true
    try {
      for (let next = untold.shift(); next; next = untold.shift()) for (const listener of listeners) listener(next)
    } finally {
      telling = false
    }
  }
  return {
    state,
    callIds,
    get records() {
      return log.records
    },
    hold: (fact) => void held.push(fact),
    seal: () => void (sealed = true),
    append(...facts) {
      if (sealed) return []
      const landed = recover()
      const all = [...(unsaved ?? []), ...held, ...facts]
      held = []
      unsaved = all
      const records = [...landed, ...log.append(all)]
      unsaved = null
      for (const record of records) {
        applyRecord(state, record, log.records)
        noteCalls(record)
      }
      tell(...records)
      return records
    },
    emit: tell,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
