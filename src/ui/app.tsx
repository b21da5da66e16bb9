import { Box, Text, useApp, useCursor, useInput, usePaste, type SuspendTerminal } from 'ink'
import { useEffect, useInsertionEffect, useRef, useState, useSyncExternalStore, type ReactNode } from 'react'
import { pendingAsk } from './ask.ts'
import { frame } from './frame.ts'
import { chordOf } from './keys.ts'
import type { Presser } from './press.ts'
import { isStoppable, type Screen } from './screen.ts'
import { change, type Stage } from './stage.ts'

interface Props {
  stage: Stage
  presser: Presser
  /** Ink's own way to give the terminal away, which only a component is told. */
  onReady: (suspend: SuspendTerminal) => void
}

/** Everything live: it draws rows of text that fit, so Ink never has to wrap, scroll or clear. */
export function App({ stage, presser, onReady }: Props): ReactNode {
  const screen = useSyncExternalStore(stage.store.subscribe, stage.store.get)
  const { suspendTerminal } = useApp()
  const { setCursorPosition } = useCursor()
  useEffect(() => onReady(suspendTerminal), [onReady, suspendTerminal])
  useInput((input, key) => {
    if (key.eventType === 'release') return
    const chord = chordOf(input, key)
    if (chord === null) presser.text(input)
    else if (chord !== '') presser.key(chord)
  })
  usePaste(presser.paste)
  useSeconds(isStoppable(screen))
  useShown(stage, screen)
  const { above, queue, editor, below, cursor } = frame(stage)
  useLower(stage, above.length + queue.length + editor.length + below.length)
  setCursorPosition(cursor ?? undefined)
  return (
    <Box flexDirection="column">
      <Rows of={above} />
      <Rows of={queue} />
      <Rows of={editor} />
      <Rows of={below} />
    </Box>
  )
}

const Rows = ({ of }: { of: readonly string[] }): ReactNode => (of.length === 0 ? null : <Text wrap="truncate">{of.map((row) => (row === '' ? ' ' : row)).join('\n')}</Text>)

/** Ink itself would erase the rows that are too many from the bottom, which may have moved (see gathered-output.ts). It must run before Ink draws. */
function useLower(stage: Stage, rows: number): void {
  const drawn = useRef(0)
  useInsertionEffect(() => {
    if (rows < drawn.current) stage.terminal.lower()
    drawn.current = rows
  }, [stage, rows])
}

/** Draws once a second while something goes on, and never when nothing does. */
function useSeconds(active: boolean): void {
  const [, setSecond] = useState(0)
  useEffect(() => {
    if (!active) return undefined
    const timer = setInterval(() => setSecond((second) => second + 1), 1_000)
    return () => clearInterval(timer)
  }, [active])
}

/** Notes since when a question is on the screen: only a key pressed after that can answer it. */
function useShown(stage: Stage, screen: Screen): void {
  const call = screen.overlay ? null : (pendingAsk(screen)?.call ?? null)
  useEffect(() => {
    if (call !== null) stage.store.update((now) => ({ ...now, ask: { ...now.ask, call, shownAt: stage.now(), index: 0, scroll: 0, chosen: false } }))
  }, [stage, call])
  const uninvited = screen.overlay?.kind === 'picker' && screen.overlay.picker.uninvited?.shownAt === null
  useEffect(() => {
    const { overlay } = stage.store.get()
    if (uninvited && overlay?.kind === 'picker') change(stage, { overlay: { kind: 'picker', picker: { ...overlay.picker, uninvited: { shownAt: stage.now() } } } })
  }, [stage, uninvited])
}
