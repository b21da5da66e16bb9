import type { RecordOf, SessionRecord } from './record.ts'
import { settleCalls } from './view-calls.ts'
import { oneLine } from './view-excerpt.ts'
import { withRows } from './view-reply.ts'
import type { View } from './view-state.ts'

/** What was printed stays; what waits and how full the window is are again what they were there. */
export function onRewind(view: View, record: RecordOf<'rewind'>): View {
  if (record.to >= record.seq) return view
  const back = lastMark(view, record.to)
  return withRows(
    { ...settleCalls(view, true), run: null, asks: [], pause: null, waiting: back?.waiting ?? [], status: { ...view.status, context: back?.context ?? null } },
    [{ kind: 'rewind', to: record.to, follows: placeOf(view, record.to) }],
  )
}

/** By halving: a rewind in a long session costs what one in a short session costs. */
function lastMark(view: View, seq: number): ReturnType<View['inner']['marks']['at']> {
  const { marks } = view.inner
  let [low, high] = [0, marks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((marks.at(middle)?.seq ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return marks.at(low - 1)
}

/** The place that a rewind leads to, in words. Of what is older than the view nothing is known. */
const placeOf = (view: View, to: number): string => lastMark(view, to)?.what ?? (view.inner.late && to > 0 ? `record ${to}, from before what is shown here` : 'the beginning')

/** Remembers what a rewind to this record would go back to, where it changed. */
export function mark(view: View, record: SessionRecord, before: View): View {
  const what = describe(record, before, view)
  if (what === null) return view
  const marks = view.inner.marks.push([{ seq: record.seq, what, waiting: view.waiting, context: view.status.context }])
  return { ...view, inner: { ...view.inner, marks } }
}

function describe(record: SessionRecord, before: View, after: View): string | null {
  switch (record.type) {
    case 'input':
      return `the input "${oneLine(record.text, 60)}"`
    case 'step':
      return `step ${record.number} of "${after.run?.prompt ?? ''}"`
    case 'reply':
      return `step ${after.run?.step ?? 0} of "${after.run?.prompt ?? ''}"`
    case 'outcome':
      return `the run "${before.run?.prompt ?? ''}" (${record.status})`
    case 'compact':
      return 'the compaction'
    case 'withdraw':
      return before.inner.marks.at(before.inner.marks.length - 1)?.what ?? null
    case 'rewind':
      return record.to < record.seq ? placeOf(before, record.to) : null
    default:
      return null
  }
}

