import type { RecordOf } from './record.ts'
import { sanitize } from './sanitize.ts'
import { everyText, oneLine } from './view-excerpt.ts'
import { withRows } from './view-reply.ts'
import type { Row } from './view-row.ts'
import { withStatus, type View, type ViewEvent, type Waiting } from './view-state.ts'
import { TITLE } from './view-run.ts'
import { emptyView, reduce } from './view.ts'

/** The view of a log just opened. Its records may begin late, at what its last compaction keeps: the compaction says the rest. */
export function openView(records: readonly ViewEvent[]): View {
  const first = records.find((record) => 'seq' in record && record.type !== 'session')
  const begin = first && 'seq' in first ? first.seq : 0
  const newest = records.findLast((record): record is RecordOf<'compact'> => record.type === 'compact')
  const compact = newest?.carry && begin >= newest.keep ? newest : undefined
  let view = emptyView()
  for (const record of records) {
    if (compact && record === first) view = skipOlder(view, begin, compact)
    view = reduce(view, record)
    if (record === compact) view = carried(view, compact)
  }
  // No command of an earlier process is ours any more.
  return { ...view, jobs: [] }
}

/** The row with which an earlier session goes on. */
export const resumeRow = (view: View): Row => ({
  kind: 'resume', id: view.status.session ?? '', title: view.status.title, outcome: view.last?.status ?? null, reason: view.last?.reason ?? '',
})

function skipOlder(view: View, begin: number, compact: RecordOf<'compact'>): View {
  const waiting = (compact.carry?.inputs ?? []).map((input): Waiting => ({ id: input.id, text: sanitize(input.text), when: input.when ?? 'next', from: 'user', images: everyText(input.images ?? [], sanitize), at: compact.at }))
  return withRows({ ...view, waiting, inner: { ...view.inner, next: begin } }, [{ kind: 'older', count: begin - 1, of: 'records' }])
}

/** What the records that were not read come to. */
function carried(view: View, { carry }: RecordOf<'compact'>): View {
  if (!carry) return view
  const { totals } = carry
  return withStatus(view, {
    ...(carry.model === undefined ? {} : { model: oneLine(carry.model, 100) }), ...(carry.title === undefined ? {} : { title: oneLine(carry.title, TITLE) }),
    ...(carry.mode === undefined ? {} : { mode: carry.mode }), ...(carry.effort === undefined ? {} : { effort: carry.effort }),
    tokens: { input: totals.input, output: totals.output }, cost: { usd: totals.cost, unknown: totals.costUnknown },
  })
}

