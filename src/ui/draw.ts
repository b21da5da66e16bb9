import type { About } from './port.ts'
import type { Draw } from './stage.ts'
import type { Theme } from './theme.ts'

export function drawing(theme: () => Theme, about: About): Draw {
  void theme
  void about
  return {
    rows: (rows) => rows.map((row) => `${JSON.stringify(row).slice(0, 400)}\n`).join(''),
    live: (view, columns, rows) => (view.live.text?.text ?? '').split('\n').slice(-rows).map((line) => line.slice(0, columns)).filter(Boolean),
    said: ({ text }) => `${text}\n`,
  }
}
