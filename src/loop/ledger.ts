import type { AgentEvent, Log } from '../core/ports.ts'
import type { Fact, SessionRecord } from '../core/record.ts'
import { isKnownRecord, live, needed } from '../core/path.ts'
import { applyRecord, readState, type State } from '../core/state.ts'

/** The one holder of the log's append: written and synced first, then told. */
export interface Ledger {
  readonly state: State
  readonly records: Log['records']
  /** What requests are made of: kept up to date, so that a turn costs the same in a long session. It changes with the next append. */
  readonly path: readonly SessionRecord[]
  /** Since the newest outcome: the run that is under way, and what it was told. It changes with the next append. */
  readonly recent: readonly SessionRecord[]
  /** See `Log`. */
  reach: Log['reach']
  /** Of every call in the records that are in memory. */
  readonly callIds: ReadonlySet<string>
  /** Waits for the next append, to share its write and sync. Nothing may be told or done on the strength of it before that. */
  hold(fact: Fact): void
  /** What has happened. Where it cannot be written this throws, and the facts wait in memory: they are written before anything else, as soon as that is possible. */
  append(...facts: Fact[]): SessionRecord[]
  /** What somebody wants, or what is about to begin. Where it cannot be written this throws, and it counts as not said, or is not begun. */
  offer(...facts: Fact[]): SessionRecord[]
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
  let path = needed(live(log.records))
  let recent = log.records.slice(log.records.findLastIndex(({ type }) => type === 'outcome') + 1).filter(isKnownRecord)
  const notePath = (record: SessionRecord, upTo: Log['records']): void => {
    path.push(record)
    if (record.type === 'rewind') path = needed(live(upTo))
    if (record.type === 'compact') path = needed(path)
    if (record.type === 'outcome') recent = []
    else recent.push(record)
  }
  const listeners = new Set<(event: AgentEvent) => void>()
  let held: Fact[] = []
  /** Facts that could not be written. */
  let unsaved: Fact[] = []
  /** The append that failed: so many of its facts are the first of `unsaved`, those behind them were only offered. */
  let failed: { kept: number; offered: readonly Fact[] } | null = null
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
  const take = (records: readonly SessionRecord[]): void => {
    for (const record of records) {
      // Several can come at once: what is live after a rewind does not depend on those behind it.
      const upTo = record.type === 'rewind' ? log.records.filter(({ seq }) => seq <= record.seq) : log.records
      applyRecord(state, record, upTo)
      noteCalls(record)
      notePath(record, upTo)
    }
    tell(...records)
  }
  /** Throws while the log cannot be written. What landed of an append that failed is recorded after all. */
  const recover = (): void => {
    if (!failed) return
    const before = log.records.length
    const landed = log.reopen()
    unsaved = unsaved.slice(Math.min(landed, failed.kept))
    // Whoever offered it was told that it was not taken, and has it still.
    for (const fact of failed.offered.slice(0, Math.max(0, landed - failed.kept))) if (fact.type === 'input') unsaved.push({ type: 'withdraw', input: fact.id, because: 'interrupt' })
    failed = null
    take(log.records.slice(before).filter(isKnownRecord))
  }
  const write = (facts: readonly Fact[], offered: readonly Fact[]): SessionRecord[] => {
    if (sealed) return []
    const more = [...held, ...facts]
    held = []
    try {
      recover()
    } catch (error) {
      unsaved.push(...more)
      throw error
    }
    unsaved.push(...more)
    failed = { kept: unsaved.length, offered }
    const records = log.append([...unsaved, ...offered])
    failed = null
    unsaved = []
    take(records)
    return records
  }
  return {
    state,
    callIds,
    get records() {
      return log.records
    },
    get path() {
      return path
    },
    get recent() {
      return recent
    },
    reach: (to) => log.reach(to),
    hold: (fact) => void held.push(fact),
    seal: () => void (sealed = true),
    append: (...facts) => write(facts, []),
    offer: (...facts) => write([], facts),
    emit: tell,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
