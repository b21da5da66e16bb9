import type { RecordOf, SessionRecord, UnknownRecord } from './record.ts'
import { sanitize } from './sanitize.ts'
import { everyText } from './view-excerpt.ts'
import type { Row } from './view-row.ts'
import type { View, ViewEvent, Waiting } from './view-state.ts'
import { emptyView, reduce } from './view.ts'

/** The view of a log just opened. */
export function openView(records: readonly ViewEvent[]): View {
  const view = records.reduce(reduce, beginView(records))
  // No command of an earlier process is ours any more.
  return { ...view, jobs: [] }
}

/** Before the first of these records. Where they begin late, the compaction they begin at knows the inputs that came before. */
export const beginView = (records: readonly ViewEvent[]): View => ({ ...emptyView(), waiting: carriedInputs(records).map(toWaiting) })

/** Inputs that these records do not hold, and that may still wait to be delivered. */
export function carriedInputs(records: readonly ViewEvent[]): RecordOf<'input'>[] {
  const first = records.find((record) => 'seq' in record && record.type !== 'session')
  const begin = first && 'seq' in first ? first.seq : 0
  const newest = records.findLast((record): record is RecordOf<'compact'> => record.type === 'compact')
  if (!newest?.carry || begin <= 1 || begin < newest.keep) return []
  return newest.carry.inputs.map(({ images, ...input }) => ({ type: 'input', from: 'user', at: newest.at, ...input, seq: -1, ...(images ? { images } : {}) }))
}

/** The records with what is damaged between them, where it stands. That a number is missing is seen from the records themselves. */
export function inPlace(records: readonly (SessionRecord | UnknownRecord)[], damage: readonly { after: number; seq?: number; why: string }[]): ViewEvent[] {
  const said = damage.filter(({ seq, why }) => seq === undefined || !/ (?:is|are) missing$/.test(why))
  if (said.length === 0) return [...records]
  const events: ViewEvent[] = []
  let next = 0
  for (const record of records) {
    for (let each = said[next]; each && each.after < record.seq; each = said[++next]) events.push({ type: 'damage', why: each.why })
    events.push(record)
  }
  return [...events, ...said.slice(next).map(({ why }): ViewEvent => ({ type: 'damage', why }))]
}

/** The row with which an earlier session goes on. */
export const resumeRow = (view: View): Row => ({
  kind: 'resume', id: view.status.session ?? '', title: view.status.title, outcome: view.last?.status ?? null, reason: view.last?.reason ?? '',
})

const toWaiting = ({ id, text, when, images, at }: RecordOf<'input'>): Waiting => ({
  id, text: sanitize(text), when: when ?? 'next', from: 'user', images: everyText(images ?? [], sanitize), at,
})
