import { render, type Instance, type SuspendTerminal } from 'ink'
import type { ReadStream, WriteStream } from 'node:tty'
import { sanitize } from '../core/sanitize.ts'
import { App } from './app.tsx'
import { blankScreen } from './blank-screen.ts'
import { keepDraft } from './draft.ts'
import { drawing } from './draw.ts'
import { isEmpty } from './editor-state.ts'
import { enter } from './enter.ts'
import { headLines, type FirstPaint } from './first-paint.ts'
import { gatheredOutput } from './gathered-output.ts'
import { wrap } from './graphemes.ts'
import { history } from './history.ts'
import { openKeyboard } from './keyboard.ts'
import { keymap } from './keys.ts'
import { leave } from './leave.ts'
import { loadMarkdown } from './markdown.ts'
import { openFirst, type Begin } from './open-first.ts'
import { watchPause } from './pause.ts'
import { hasBegun, lastRows, opened } from './opened.ts'
import type { Connection, UiHost } from './port.ts'
import { presser } from './press.ts'
import { prepareRows } from './rows.ts'
import type { Screen } from './screen.ts'
import { background, change, type Stage } from './stage.ts'
import { store as storeOf } from './store.ts'
import { ALTERNATE_ON, BEGIN_UPDATE, END_UPDATE, KITTY_ASK, WHEEL_OFF } from './terminal.ts'
import { terminalControl } from './terminal-control.ts'
import { themeOf, type Abilities, type Theme } from './theme.ts'
import { transcript } from './transcript.ts'
import { watchUnverified } from './unverified.ts'

export interface StartOptions {
  host: UiHost
  connection: Connection
  input: ReadStream
  output: WriteStream
  abilities: Abilities
  /** What was painted before this was loaded; null: nothing. */
  painted: FirstPaint | null
  begin?: Begin
}

/** Of the transcript's end, about so many rows fill the screens that are shown of it. */
const SHOWN = 60
/** Nobody has written a prompt by then. */
const IDLE_MS = 400

/** Opens the screen. Resolves when it has been left; rejects, with a clean terminal, when it broke. */
export async function start({ host, connection, input, output: own, abilities, painted, begin = {} }: StartOptions): Promise<void> {
  const gathered = gatheredOutput(own)
  const output = gathered.stdout
  const store = storeOf<Screen>(opened(connection, blankScreen(connection, themeOf(host.settings.theme, abilities), sizeOf(output), host.settings.fullscreen ? transcript() : null)))
  // Of an earlier session the last rows are printed once, and as they should look: while this loads, keys are shown by the first frame.
  const { rows: settled } = store.get().view
  if (hasBegun(connection)) await prepareRows(settled.slice(Math.max(0, settled.length - SHOWN)))?.catch(() => undefined)
  let instance: Instance | null = null
  let suspend: SuspendTerminal | null = null
  const { early, erase } = painted?.handOver() ?? { early: [], erase: '' }
  const gone = (): void => leave(stage, 'closed')
  const keyboard = openKeyboard(input, early, { closed: () => gone(), kitty: () => terminal.kitty() })
  const { keys, problems } = keymap(host.settings.keys)
  const terminal = terminalControl({ input, output: gathered, keyboard, store, ink: () => (instance ? { instance, suspend } : null) })
  let stopFollowing: (() => void) | null = null

  const stage: Stage = {
    host, store, keys, terminal, abilities,
    draw: drawing(() => store.get().theme),
    attach: (next) => {
      stopFollowing?.()
      drafts.flush()
      const before = store.get().connection
      const screen = carriedOver(store.get(), opened(next, store.get()))
      terminal.print(`\n${lastRows(stage, screen.view, screen.size.columns, 3 * screen.size.rows)}`, () => store.update(() => screen))
      stopFollowing = enter(stage)
      if (before !== next) before.close()
    },
    now: () => performance.now(),
    clock: () => Date.now(),
    later: (ms, act) => {
      const timer = setTimeout(act, ms)
      return () => clearTimeout(timer)
    },
  }
  const drafts = keepDraft(stage)
  // Before Ink hears of it: it would draw rows for the old window into the new one, from a place that has moved.
  const onResize = (): void =>
    terminal.print('', () => {
      store.update((screen) => ({ ...screen, size: sizeOf(output) }))
      instance?.rerender(app)
    })
  const app = <App stage={stage} presser={presser(stage)} onReady={(given) => {
    suspend = given
  }} />

  output.on('error', gone)
  output.on('resize', onResize)
  const watching = [watchPause(stage), watchUnverified(stage)]
  const onExit = (): void => {
    drafts.flush()
    terminal.close()
  }
  process.on('exit', onExit)
  const { columns, rows } = store.get().size
  const earlier = hasBegun(connection) ? lastRows(stage, store.get().view, columns, 3 * rows) : ''
  const head = [...headLines({ ...host.about, colour: abilities.level > 0 }, columns), ...(host.about.demo ? demoLines(store.get().theme, columns) : []), ...host.warnings.flatMap((text) => wrap(sanitize(text), columns - 1)).map((line) => store.get().theme.warn(line))]
  const above = `${head.join('\n')}\n${earlier}`
  store.get().transcript?.add(above)
  output.write(`${BEGIN_UPDATE}${erase}${host.settings.fullscreen ? ALTERNATE_ON + WHEEL_OFF : above}`)
  instance = render(app, {
    stdin: keyboard.stdin, stdout: output, stderr: process.stderr.isTTY ? output : process.stderr, exitOnCtrlC: false, maxFps: 60, incrementalRendering: true,
    interactive: true, patchConsole: true,
  })
  // Not by Ink, which waits 200 ms for the answer: a start under load, or a terminal far away, takes longer.
  output.write(END_UPDATE + KITTY_ASK)
  stopFollowing = enter(stage)
  if (problems.length > 0) change(stage, { notice: { text: problems.join(' '), tone: 'error' } })
  background(stage, host.history.load().then((entries) => change(stage, { history: history(entries) })))
  background(stage, host.custom.list().then((custom) => change(stage, { custom })))
  openFirst(stage, begin)
  stage.later(IDLE_MS, () => void loadMarkdown()?.catch(() => undefined))
  try {
    await instance.waitUntilExit()
  } finally {
    for (const stop of watching) stop()
    stopFollowing()
    drafts.flush()
    terminal.close()
    output.off('resize', onResize)
    process.off('exit', onExit)
  }
}

const demoLines = (theme: Theme, columns: number): string[] =>
  ['', ...wrap('This is the demo: a scripted model works on a sample repository. Write something while it works and press Enter to steer it, press Ctrl+C to stop it, and /resume brings it back.', columns - 1).map((line) => theme.dim(line))]

/** What was being written in a session that nothing was sent in goes along to the next one. */
function carriedOver(from: Screen, to: Screen): Screen {
  if (hasBegun(from.connection) || isEmpty(from.editor) || !isEmpty(to.editor)) return to
  from.connection.draft.save('')
  return { ...to, editor: from.editor }
}

const sizeOf = (output: WriteStream): Screen['size'] => ({ columns: output.columns > 0 ? output.columns : 80, rows: output.rows > 0 ? output.rows : 24 })
