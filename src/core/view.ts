import { Grown } from './grow.ts'
import type { View, ViewEvent } from './view-state.ts'

export type { Row } from './view-row.ts'
export type { View, ViewEvent } from './view-state.ts'

/** A view of nothing yet. `from`: the seq of the first record it will be given. */
export function emptyView(from = 0): View {
  return {
    rows: new Grown(),
    live: { request: null, reasoning: null, text: null, writing: [], calls: [] },
    waiting: [], asks: [], jobs: [], run: null, last: null,
    status: {
      session: null, root: null, cwd: null, branch: null, title: '', model: null, mode: null, effort: null,
      context: null, tokens: { input: 0, output: 0 }, cost: { usd: 0, unknown: false }, compactions: 0,
    },
    inner: { next: from, prompted: false, instructions: '', reply: null, calls: [], marks: new Grown() },
  }
}

/** The view after one more event. Pure; its cost does not grow with the view. */
export function reduce(view: View, event: ViewEvent): View {
  void event
  return view
}
