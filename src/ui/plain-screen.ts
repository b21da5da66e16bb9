import { createInterface } from 'node:readline'
import type { ReadStream, WriteStream } from 'node:tty'
import { sanitize } from '../core/sanitize.ts'
import { decide } from './ask-keys.ts'
import { lastingText, pendingAsk, previewText } from './ask.ts'
import { blankScreen } from './blank-screen.ts'
import { oneLine } from './choice-rows.ts'
import { keepDraft } from './draft.ts'
import { emptyEditor, insert, textOf } from './editor-state.ts'
import { follow } from './follow.ts'
import { keymap } from './keys.ts'
import { leave } from './leave.ts'
import { openFirst, type Begin } from './open-first.ts'
import { opened, takeBackWaiting } from './opened.ts'
import { watchPause } from './pause.ts'
import { seek } from './picker-keys.ts'
import { matching, type Picker } from './picker.ts'
import { plainWriter } from './plain.ts'
import type { Connection, UiHost } from './port.ts'
import { isStoppable, type Overlay, type Screen } from './screen.ts'
import { send } from './send.ts'
import { background, change, type Stage } from './stage.ts'
import { store as storeOf } from './store.ts'
import { noAbilities, themeOf } from './theme.ts'
import { watchUnverified } from './unverified.ts'

export interface PlainOptions {
  host: UiHost
  connection: Connection
  input: ReadStream
  output: WriteStream
  begin?: Begin
}

/**
 * The same program as lines that are only ever appended, for a screen reader and a terminal that can do no more: no cursor
 * movement, no animation, nothing told by colour or place. A question is answered by a line that holds the answer's word.
 */
export async function startPlain({ host, connection, input, output, begin = {} }: PlainOptions): Promise<void> {
  const store = storeOf<Screen>(opened(connection, blankScreen(connection, themeOf('none', noAbilities), { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY })))
  const say = (text: string): void => void output.write(text.endsWith('\n') ? text : `${text}\n`)
  // In the order in which it happened, though some of it has to wait for what draws it.
  let turn: Promise<void> = Promise.resolve()
  const inTurn: InTurn = (act) => {
    turn = turn.then(act)
  }
  const lines = createInterface({ input, terminal: false })
  let stop: () => void = () => undefined

  const stage: Stage = {
    host, store, keys: keymap({}).keys, abilities: noAbilities,
    // Rows are written by `announce`, which also says what the live part of a screen would show.
    draw: { rows: () => '', live: () => [], said: ({ text }) => `${sanitize(text).trimEnd()}\n` },
    terminal: {
      print: (text, apply) => {
        if (text !== '') say(text)
        apply?.()
      },
      release: (use) => use(), page: (title, text) => Promise.resolve(say(`${title}\n${text}`)),
      redraw: () => undefined, suspend: () => Promise.resolve(), lower: () => undefined, kitty: () => undefined, title: () => undefined, bell: () => say('\x07'),
      close: () => lines.close(),
    },
    attach: (next) => {
      stop()
      const before = store.get().connection
      store.update((screen) => opened(next, screen))
      say(`session ${next.session}`)
      stop = attached(stage, next, say, inTurn)
      if (before !== next) before.close()
    },
    now: () => performance.now(), clock: () => Date.now(),
    later: (ms, act) => {
      const timer = setTimeout(act, ms)
      return () => clearTimeout(timer)
    },
  }
  const drafts = keepDraft(stage)
  const watching = [store.subscribe(saying(stage, (text) => inTurn(() => say(text)))), watchPause(stage), watchUnverified(stage)]
  const onInterrupt = (): void => interrupted(stage)
  process.on('SIGINT', onInterrupt)
  say(`Tiller ${host.about.version}, ${host.about.folder}${host.about.branch === null ? '' : ` (${host.about.branch})`}\nmodel ${host.about.model ?? 'none yet'}, mode ${host.about.mode}\nWrite what is to be done. /help lists the commands.`)
  for (const warning of host.warnings) say(sanitize(warning))
  stop = attached(stage, connection, say, inTurn)
  if (textOf(store.get().editor) !== '') say(`not sent, it goes with your next line: ${sanitize(textOf(store.get().editor))}`)
  takeBackWaiting(store.get())
  background(stage, host.custom.list().then((custom) => change(stage, { custom })))
  openFirst(stage, begin)
  lines.on('line', (line) => taken(stage, line))
  await new Promise<void>((resolve) => lines.once('close', resolve))
  leave(stage, 'closed')
  drafts.flush()
  stop()
  for (const end of watching) end()
  process.off('SIGINT', onInterrupt)
}

type InTurn = (act: () => void | Promise<void>) => void

function attached(stage: Stage, connection: Connection, say: (text: string) => void, inTurn: InTurn): () => void {
  const writer = plainWriter()
  const earlier = connection.records.length
  inTurn(async () => {
    const write = await writer
    for (const record of connection.records.slice(0, earlier)) write(record)
  })
  const stopWriting = connection.subscribe((event) => {
    inTurn(async () => {
      const text = (await writer)(event)
      if (text !== '') say(text)
    })
  })
  const stopFollowing = follow(stage, connection)
  return () => {
    stopWriting()
    stopFollowing()
  }
}

/** A line that was entered: an answer where something is asked, else what Enter sends. */
function taken(stage: Stage, line: string): void {
  const { overlay, editor } = stage.store.get()
  if (overlay?.kind === 'picker' && !(overlay.picker.beside && !/^\s*\d+\s*$/.test(line))) return picked(stage, overlay.picker, line.trim())
  const ask = pendingAsk(stage.store.get())
  const answer = ask ? ANSWER_WORDS[line.trim().toLowerCase()] : undefined
  if (ask && answer) return decide(stage, ask.call, answer)
  // What came back from the queue, or was never sent, goes with the next line.
  change(stage, { editor: insert(textOf(editor) === '' ? emptyEditor : insert(editor, '\n'), line), notice: null })
  send(stage, 'next')
}

const ANSWER_WORDS: Readonly<Record<string, { verdict: 'allow' | 'deny'; grant: 'once' | 'session' | 'project' | undefined }>> = {
  yes: { verdict: 'allow', grant: 'once' }, y: { verdict: 'allow', grant: 'once' },
  'yes session': { verdict: 'allow', grant: 'session' }, 'yes project': { verdict: 'allow', grant: 'project' },
  no: { verdict: 'deny', grant: undefined }, n: { verdict: 'deny', grant: undefined },
}

function picked(stage: Stage, picker: Picker, line: string): void {
  const choice = /^\d+$/.test(line) ? matching(picker)[Number(line) - 1] : undefined
  if (line !== '' && !choice) return seek(stage, picker, line)
  change(stage, { overlay: null })
  if (choice) choice.act()
  else picker.dismiss?.()
}

/** Says what a screen would draw: lists, questions, notices, each once. */
function saying(stage: Stage, say: (text: string) => void): () => void {
  let said: Pick<Screen, 'overlay' | 'notice' | 'editor'> & { ask: string | null } = { ...stage.store.get(), ask: null }
  return () => {
    const screen = stage.store.get()
    const ask = pendingAsk(screen)
    const before = said
    said = { overlay: screen.overlay, notice: screen.notice, editor: screen.editor, ask: ask?.call ?? null }
    if (screen.notice && screen.notice !== before.notice) say(sanitize(screen.notice.tone === 'error' ? `error: ${screen.notice.text}` : screen.notice.text))
    if (screen.returned > 0 && screen.editor !== before.editor) say(`not sent, it goes with your next line: ${sanitize(textOf(screen.editor))}`)
    if (screen.overlay && screen.overlay !== before.overlay && !isSaidAlready(screen.overlay, before.overlay)) say(overlayText(screen.overlay))
    if (screen.overlay?.kind === 'panel') change(stage, { overlay: null })
    if (ask && said.ask !== before.ask) say(`Allow ${ask.name}?\n${previewText(ask)}\n${ask.lasting.length > 0 ? `A lasting yes allows ${lastingText(ask)}.\nAnswer with a line: yes, yes session, yes project, or no.` : 'Answer with a line: yes or no.'} Anything else is sent as text.`)
  }
}

/** A list that is filled while it is open is said when it begins and when it is whole: what has a number then keeps it. */
function isSaidAlready(overlay: Overlay, before: Overlay | null): boolean {
  if (overlay.kind !== 'picker' || before?.kind !== 'picker' || !overlay.picker.finder || overlay.picker.finder !== before.picker.finder) return false
  return overlay.picker.loading || !before.picker.loading
}

function overlayText(overlay: Overlay): string {
  switch (overlay.kind) {
    case 'picker': {
      const found = matching(overlay.picker)
      const list = found.slice(0, 30).map(({ label, note, details }, index) => {
        const more = oneLine(details?.().filter(Boolean).join(', ') ?? note)
        return `${index + 1}. ${oneLine(label)}${more === '' ? '' : ` (${more})`}`
      })
      return [overlay.picker.title, ...overlay.picker.about.map((line) => sanitize(line)), ...(list.length > 0 ? list : [overlay.picker.loading ? 'looking' : 'nothing fits']), overlay.picker.beside ? 'Answer with a number. Anything else is sent as text.' : 'Answer with a number; an empty line closes.'].join('\n')
    }
    case 'panel':
      return [overlay.title, ...overlay.lines].join('\n')
    case 'reason':
    case 'queue':
      return ''
  }
}

/** Ctrl+C in a cooked terminal. */
function interrupted(stage: Stage): void {
  const screen = stage.store.get()
  const again = stage.now() - screen.cancelledAt < 1_000
  change(stage, { cancelledAt: stage.now() })
  if (again) return leave(stage, 'interrupt')
  if (isStoppable(screen)) return screen.connection.send({ type: 'interrupt' })
  change(stage, { notice: { text: 'Ctrl+C again leaves.', tone: 'hint' } })
}
