import { sanitize } from '../core/sanitize.ts'
import { feed, finish, noBlocks } from '../core/view-blocks.ts'
import type { Row } from '../core/view.ts'
import { renderDiff } from './diff.ts'
import { liveRows, prepareLive } from './live-tail.ts'
import { prepareRows, renderRows } from './rows.ts'
import { fold, TAB } from './spans.ts'
import type { Draw } from './stage.ts'
import type { Theme } from './theme.ts'

/** Draws with what is loaded, and loads on the side what would look better: in time for what comes next. */
export function drawing(theme: () => Theme): Draw {
  const rows: Draw['rows'] = (rows, columns, after) => {
    void prepareRows(rows)?.catch(() => undefined)
    return renderRows(rows, { columns, theme: theme(), soft: true }, after)
  }
  return {
    rows,
    live: (view, columns, most, clock) => {
      void prepareLive(view)?.catch(() => undefined)
      return liveRows(view, { columns, theme: theme() }, most, clock)
    },
    said: (said, columns) => {
      const text = sanitize(said.text).trimEnd()
      switch (said.as) {
        case 'text':
          return `${fold([{ text: text.replaceAll('\t', TAB) }], { columns }).join('\n')}\n`
        case 'diff':
          return `${renderDiff(text, { columns, theme: theme() }, MOST_DIFF).join('\n')}\n`
        case 'markdown':
          return rows(blocksOf(text), columns, undefined)
      }
    },
  }
}

const MOST_DIFF = 2_000

function blocksOf(text: string): Row[] {
  const { blocks, done } = feed(noBlocks, text)
  return [...done, ...finish(blocks)].map((block) => ({ kind: 'text', ...block }))
}
