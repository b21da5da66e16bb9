import { blankScreen } from '../../src/ui/blank-screen.ts'
import { drawing } from '../../src/ui/draw.ts'
import { history } from '../../src/ui/history.ts'
import { keymap } from '../../src/ui/keys.ts'
import type { Screen } from '../../src/ui/screen.ts'
import type { Stage } from '../../src/ui/stage.ts'
import { store as storeOf } from '../../src/ui/store.ts'
import { noAbilities, themeOf } from '../../src/ui/theme.ts'
import { fakeHost, FakeSession } from './fixture-agent.ts'

/** The screen without a terminal: what it prints, what its host is told, and a clock that is moved by hand. */
export interface Bench {
  stage: Stage
  noted: unknown[]
  printed: string[]
  /** Lets time pass, and what is due happen. */
  pass: (ms: number) => void
}

export function stageOf(change: Partial<Screen> = {}): Bench {
  const noted: unknown[] = []
  const printed: string[] = []
  let now = 0
  let due: { at: number; act: () => void }[] = []
  const draft = { load: () => '', save: (text: string) => (noted.push({ draft: text }), null) }
  const note = (what: unknown): void => void noted.push(what)
  const session = new FakeSession('s1', draft, note)
  const connection = session.connection()
  const head = { version: '0.1.0', folder: '~/src/thing', branch: 'main', model: 'local/small', mode: 'ask', colour: false }
  const host = fakeHost({ records: () => session.records, head, note, draft, first: '', leave: (because) => note({ left: because }) })
  const screen: Screen = { ...blankScreen(connection, themeOf('none', noAbilities), { columns: 80, rows: 24 }), history: history(['first', 'second']), ...change }
  const store = storeOf(screen)
  const stage: Stage = {
    host, store, keys: keymap({}).keys, draw: drawing(() => store.get().theme), abilities: noAbilities, attach: () => undefined, now: () => now, clock: () => now,
    terminal: {
      print: (text, apply) => {
        printed.push(text)
        apply?.()
      },
      release: (use) => use(), page: (title) => Promise.resolve(note({ page: title })), redraw: () => note('redraw'), suspend: () => Promise.resolve(note('suspend')), lower: () => undefined, kitty: () => undefined, title: () => undefined, bell: () => undefined, close: () => note('closed'),
    },
    later: (ms, act) => {
      const timer = { at: now + ms, act }
      due.push(timer)
      return () => {
        due = due.filter((each) => each !== timer)
      }
    },
  }
  return {
    stage, noted, printed,
    pass: (ms) => {
      now += ms
      const ready = due.filter(({ at }) => at <= now)
      due = due.filter(({ at }) => at > now)
      for (const { act } of ready) act()
    },
  }
}
