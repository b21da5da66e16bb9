import { expect, test } from 'vitest'
import type { AgentEvent } from '../../src/core/ports.ts'
import { pendingAsk } from '../../src/ui/ask.ts'
import { keepDraft } from '../../src/ui/draft.ts'
import { emptyEditor, textOf } from '../../src/ui/editor-state.ts'
import { follow } from '../../src/ui/follow.ts'
import { picker } from '../../src/ui/picker.ts'
import type { Connection } from '../../src/ui/port.ts'
import { presser } from '../../src/ui/press.ts'
import type { Screen } from '../../src/ui/screen.ts'
import { stageOf, type Bench } from './stage.ts'

interface Session extends Bench {
  /** Keys by their names, text as it is, one after the other with a person's pauses. */
  press: (...keys: string[]) => Promise<void>
  text: () => string
  sent: (type: string) => Record<string, unknown>[]
  screen: () => Screen
}

const CHORDS = /^(enter|esc|tab|up|down|left|right|home|end|backspace|delete|(ctrl|alt|shift)\+.+)$/

function session(change: Partial<Screen> = {}): Session {
  const bench = stageOf(change)
  const { stage, pass } = bench
  const keyboard = presser(stage)
  follow(stage, stage.store.get().connection)
  const screen = stage.store.get
  return {
    ...bench, screen,
    press: async (...keys) => {
      for (const key of keys) {
        pass(110)
        if (CHORDS.test(key)) keyboard.key(key)
        else keyboard.text(key)
        // The fold draws in a microtask; a question is on the screen as soon as it is drawn.
        await new Promise(setImmediate)
        const ask = pendingAsk(screen())
        if (ask && screen().ask.call !== ask.call) stage.store.update((now) => ({ ...now, ask: { ...now.ask, call: ask.call, shownAt: stage.now() } }))
      }
      pass(60)
      await new Promise(setImmediate)
    },
    text: () => textOf(screen().editor),
    sent: (type) => bench.noted.filter((each): each is Record<string, unknown> => typeof each === 'object' && each !== null && 'type' in each && each.type === type),
  }
}
const typed = (text: string): string[] => text.split('')

test('a word that comes in one piece is text, also where a key has that name', () => {
  for (const word of ['left', 'up', 'home', 'enter', 'esc', 'delete', 'tab']) {
    const { stage } = stageOf()
    presser(stage).text(word)
    expect(textOf(stage.store.get().editor)).toBe(word)
  }
})

test('readline keys, undo, and history at the top of the editor', async () => {
  const { press, text } = session()
  await press(...typed('one two'), 'ctrl+w', 'ctrl+a', 'X', 'ctrl+e', 'ctrl+y', 'Y')
  expect(text()).toBe('Xone twoY')
  await press('ctrl+_', 'ctrl+_')
  expect(text()).toBe('Xone ')
  await press('ctrl+u', 'up')
  expect(text()).toBe('second')
  await press('up')
  expect(text()).toBe('first')
  await press('down', 'down')
  expect(text()).toBe('')
})

test('newlines: ctrl+j, shift+enter and a backslash before Enter; none of them sends', async () => {
  const { press, text, sent } = session()
  await press('a', 'ctrl+j', 'b', 'shift+enter', 'c', '\\', 'enter', 'd')
  expect(text()).toBe('a\nb\nc\nd')
  expect(sent('input')).toEqual([])
})

test('a second Enter on the empty editor does nothing (C19)', async () => {
  const { press, sent } = session()
  await press('h', 'i', 'enter', 'enter', 'enter')
  expect(sent('input')).toHaveLength(1)
  expect(sent('interrupt')).toEqual([])
})

test('Up at the top takes back the last waiting text before it goes to history, and text in the editor stays below it', async () => {
  const { press, text, sent } = session()
  await press('sleep', 'enter', 'A', 'enter', 'B', 'alt+enter', 'x', 'up')
  expect(text()).toBe('B\nx')
  await press('ctrl+home', 'up')
  expect(text()).toBe('A\nB\nx')
  await press('ctrl+home', 'up')
  expect(text()).toBe('B')
  expect(sent('withdraw')).toHaveLength(2)
})

test('an interrupt brings all waiting texts back in their order, before what is being written; equal texts stay two', async () => {
  const { press, text, sent } = session()
  await press('sleep', 'enter', 'same', 'enter', 'same', 'enter', 'last', 'alt+enter', 'mine', 'esc')
  expect(text()).toBe('same\nsame\nlast\nmine')
  expect(sent('interrupt')).toHaveLength(1)
})

test('waiting texts are moved, put into another order, edited and dropped', async () => {
  const { press, text, screen, noted } = session()
  await press('sleep', 'enter', 'first', 'enter', 'second', 'enter')
  const queue = (): string[] => screen().view.waiting.map(({ text, when }) => `${text} ${when}`)
  await press('ctrl+q', 'shift+up')
  expect(queue()).toEqual(['second next', 'first next'])
  await press('ctrl+q', 'a')
  expect(queue()).toEqual(['second next', 'first after'])
  expect(text()).toBe('')
  // Between being taken back and being sent again they stand in the draft.
  expect(noted).toContainEqual({ draft: 'second\nfirst\n' })
  await press('ctrl+q', 'up', 'enter')
  expect(text()).toBe('second')
  await press('ctrl+u', 'ctrl+q', 'delete')
  expect(queue()).toEqual([])
  expect(text()).toBe('')
})

test('ctrl+enter and /now cut in; idle they are as Enter', async () => {
  const { press, sent } = session()
  await press('hello', 'ctrl+enter', 'sleep', 'enter', 'stop', 'ctrl+enter', '/now and this', 'enter')
  expect(sent('input').map(({ text, when }) => `${String(text)} ${String(when)}`)).toEqual(['hello next', 'sleep next', 'stop now', 'and this now'])
})

test('ctrl+c interrupts and keeps the text, and leaves when pressed again within a second', async () => {
  const { press, text, sent, noted } = session()
  await press('sleep', 'enter', 'k', 'ctrl+c')
  expect(text()).toBe('k')
  expect(sent('interrupt')).toHaveLength(1)
  await press('ctrl+c')
  expect(noted.slice(-2)).toEqual(['closed', { left: 'quit' }])
})

test('ctrl+c on text clears it, and that can be undone; on nothing it warns, and a slow second one only warns again', async () => {
  const { press, text, pass, noted, screen } = session()
  await press('a', 'b', 'ctrl+c')
  expect(text()).toBe('')
  await press('ctrl+_')
  expect(text()).toBe('ab')
  await press('ctrl+c', 'ctrl+c')
  expect(screen().notice?.text).toMatch(/again leaves/)
  pass(2_000)
  await press('ctrl+c')
  expect(noted).not.toContainEqual({ left: 'quit' })
  await press('ctrl+c')
  expect(noted).toContainEqual({ left: 'quit' })
})

test('ctrl+d deletes forward in text, leaves an empty editor, and does not leave a run', async () => {
  const { press, text, noted } = session()
  await press('a', 'b', 'ctrl+a', 'ctrl+d')
  expect(text()).toBe('b')
  await press('ctrl+d', 'sleep', 'enter', 'ctrl+d')
  expect(noted).not.toContainEqual({ left: 'quit' })
  await press('esc', 'ctrl+d')
  expect(noted).toContainEqual({ left: 'quit' })
})

test('an unknown command is an error, keeps the text, and sends nothing', async () => {
  const { press, text, sent, screen } = session()
  await press('/modl', 'enter')
  expect(screen().notice).toMatchObject({ tone: 'error', text: 'There is no command /modl. Did you mean /model or /mode? /help lists them.' })
  expect(text()).toBe('/modl')
  expect(sent('input')).toEqual([])
})

test('commands that need an idle agent say so', async () => {
  const { press, screen, sent } = session()
  await press('sleep', 'enter', '/compact', 'enter')
  expect(screen().notice?.text).toMatch(/has to wait for the run/)
  expect(sent('compact')).toEqual([])
})

test('an interrupt reaches a compaction, which is no run', async () => {
  const { press, sent } = session()
  await press('/compact', 'enter')
  expect(sent('compact')).toHaveLength(1)
  await press('esc')
  expect(sent('interrupt')).toHaveLength(1)
})

test('Tab completes commands, values and files; Enter sends what is written', async () => {
  const { press, text, sent } = session()
  await press('/', 'm', 'o', 'd', 'down', 'down', 'tab')
  expect(text()).toBe('/mode ')
  await press('p', 'tab', 'enter')
  expect(sent('set')).toEqual([{ type: 'set', mode: 'plan' }])
  await press('see ', '@', 'm', 'a', 'tab')
  expect(text()).toBe('see @src/main.ts ')
  await press('enter')
  expect(sent('input')).toMatchObject([{ text: 'see @src/main.ts ' }])
})

test('! runs a command for the model, !! keeps it from it', async () => {
  const { press, sent } = session()
  await press('!ls -l', 'enter', '!!pwd', 'enter')
  expect(sent('shell')).toEqual([{ type: 'shell', command: 'ls -l', model: true }, { type: 'shell', command: 'pwd', model: false }])
})

test('esc twice on an empty editor offers the earlier inputs; the chosen one comes back and the log is rewound to before it', async () => {
  const { press, text, sent } = session()
  await press('one', 'enter', 'two', 'enter', 'esc', 'esc')
  await press('down', 'enter')
  expect(sent('rewind')).toEqual([])
  await press('enter')
  expect(text()).toBe('one')
  expect(sent('rewind')).toEqual([{ type: 'rewind', to: 0 }])
})

test('a text that was taken back keeps its images when it is sent again', async () => {
  const images = [{ blob: { sha256: 'a', bytes: 1 }, mediaType: 'image/png' }]
  const { press, sent, stage, text } = session()
  await press('sleep', 'enter')
  stage.store.get().connection.send({ type: 'input', text: 'look at this', images })
  await press('esc')
  expect(text()).toBe('look at this')
  await press('enter', 'and this', 'enter')
  expect(sent('input').slice(-2)).toEqual([{ type: 'input', text: 'look at this', when: 'next', images }, { type: 'input', text: 'and this', when: 'next' }])
})

test('letters answer a question only when nothing follows them', async () => {
  const { press, pass, sent, text } = session()
  await press('ask', 'enter')
  pass(1_000)
  await press('y', 'o', 'u')
  pass(1_000)
  expect(text()).toBe('you')
  expect(sent('decide')).toEqual([])
  await press('ctrl+u')
  pass(1_000)
  await press('y')
  pass(300)
  expect(sent('decide')).toMatchObject([{ verdict: 'allow', grant: 'once' }])
})

test('an Enter that comes with the question does not answer it, a later one does', async () => {
  const { press, pass, sent } = session()
  await press('ask', 'enter', 'enter', 'enter')
  expect(sent('decide')).toEqual([])
  pass(1_000)
  await press('enter')
  expect(sent('decide')).toHaveLength(1)
})

test('nothing of a question is answered by typing into its middle, whenever it comes up (C20)', async () => {
  for (let at = 0; at < 17; at++) {
    const { press, sent, text, stage } = session()
    await press('sleep', 'enter')
    const keys = typed('please yes 1 pause')
    for (const [index, key] of keys.entries()) {
      if (index === at) stage.store.get().connection.send({ type: 'interrupt' })
      if (index === at) stage.store.get().connection.send({ type: 'input', text: 'ask' })
      await press(key)
    }
    expect(sent('decide')).toEqual([])
    expect(text()).toBe('please yes 1 pause')
  }
})

test('n and Esc deny, ctrl+c interrupts the run', async () => {
  for (const key of ['n', 'esc', 'ctrl+c']) {
    const { press, pass, sent } = session()
    await press('ask', 'enter')
    pass(1_000)
    await press(key)
    pass(300)
    expect(sent('decide').map(({ verdict }) => verdict)).toEqual(key === 'ctrl+c' ? [] : ['deny'])
    expect(sent('interrupt')).toHaveLength(key === 'ctrl+c' ? 1 : 0)
  }
})


test('? on an empty editor shows the keys, in text it is a character', async () => {
  const { press, screen, text } = session()
  await press('?')
  expect(screen().overlay).toMatchObject({ kind: 'panel', title: 'Keys' })
  await press('h', '?')
  expect(screen().overlay).toBeNull()
  expect(text()).toBe('h?')
})

test('ctrl+r searches earlier inputs', async () => {
  const { press, text } = session()
  await press('ctrl+r', 'f', 'i', 'r', 'enter')
  expect(text()).toBe('first')
})

test('a session that can only be read takes no prompt and keeps the text', async () => {
  const bench = stageOf()
  const { press, text, sent, screen } = session({ connection: { ...bench.stage.store.get().connection, readOnly: 'Another Tiller writes this session.' } })
  await press('hello', 'enter')
  expect(text()).toBe('hello')
  expect(sent('input')).toEqual([])
  expect(screen().notice?.text).toMatch(/Another Tiller/)
})

test('shift+tab never leads to the mode that allows everything', async () => {
  const { press, sent } = session()
  await press('shift+tab', 'shift+tab', 'shift+tab', 'shift+tab')
  expect(sent('set').map(({ mode }) => mode)).toEqual(['edit', 'auto', 'plan', 'ask'])
})

test('a text that is refused stays in the editor', async () => {
  const bench = stageOf()
  const own = bench.stage.store.get().connection
  const listeners = new Set<(event: AgentEvent) => void>()
  const { press, text, noted } = session({
    connection: {
      ...own,
      subscribe: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      send: () => listeners.forEach((listen) => listen({ type: 'error', message: 'This input could not be saved: no space left on device' })),
    },
  })
  await press('precious', 'enter')
  expect(text()).toBe('precious')
  expect(noted).not.toContainEqual({ history: 'precious' })
})

test('what an interrupt brings back is in the draft at once', async () => {
  const { press, stage, noted } = session()
  keepDraft(stage)
  await press('sleep', 'enter', 'steer', 'enter')
  const before = noted.length
  await press('esc')
  expect(noted.slice(before)).toContainEqual({ draft: 'steer' })
})

test('lists of settings begin where things stand, so that Enter alone changes nothing', async () => {
  const { press, sent } = session()
  await press('/mode', 'enter', 'enter')
  expect(sent('set')).toEqual([{ type: 'set', mode: 'ask' }])
})

test('a model that cannot be used is refused at once', async () => {
  const { press, sent, screen } = session()
  await press('/model nonsense', 'enter')
  expect(sent('set')).toEqual([])
  expect(screen().notice).toMatchObject({ tone: 'error', text: 'Expected provider/model in place of "nonsense".' })
  await press('ctrl+u', '/model local/small', 'enter')
  expect(sent('set')).toEqual([{ type: 'set', model: 'local/small' }])
})

test('C10: ctrl+c interrupts what runs whatever lies over the editor, and leaves when pressed again within a second', async () => {
  for (const open of [['/mode', 'enter'], ['/theme', 'enter'], ['?'], ['wait', 'alt+enter', '/queue', 'enter'], ['ctrl+r']]) {
    const { press, sent, screen, noted } = session()
    await press('sleep', 'enter', ...open)
    expect(screen().overlay).not.toBeNull()
    await press('ctrl+c')
    expect([screen().overlay, sent('interrupt')]).toEqual([null, [{ type: 'interrupt' }]])
    await press('ctrl+c')
    expect(noted).toContainEqual({ left: expect.any(String) as string })
  }
})

test('ctrl+c closes a list while nothing runs and leaves a text that is being written; twice with none it leaves', async () => {
  const { press, screen, text, noted } = session()
  await press('/mode', 'enter', 'x', 'ctrl+c')
  expect([screen().overlay, text()]).toEqual([null, 'x'])
  await press('ctrl+c', '/mode', 'enter')
  expect(screen().overlay).not.toBeNull()
  await press('ctrl+c', 'ctrl+c')
  expect(noted).toContainEqual({ left: 'quit' })
})

test('C10: a question that has just come up does not keep a run from being interrupted', async () => {
  for (const key of ['ctrl+c', 'esc']) {
    const { stage, press, sent, screen } = session()
    await press('sleep', 'enter')
    stage.store.update((now) => ({ ...now, overlay: { kind: 'picker', picker: picker('Paused', [{ label: 'Go on', note: '', act: () => undefined }], { search: false, beside: true, uninvited: { shownAt: null } }) } }))
    await press('enter')
    expect(screen().overlay).not.toBeNull()
    await press(key)
    expect(sent('interrupt')).toHaveLength(1)
  }
})

test('who is asked something can look at the output, at the queue, and suspend; a list takes other keys for itself', async () => {
  const { stage, press, noted } = session({ output: { title: 'Last output', text: 'x', sha256: null } })
  const show = (beside: boolean): void => stage.store.update((now) => ({ ...now, overlay: { kind: 'picker', picker: picker('Paused', [], { search: false, beside }) } }))
  show(false)
  await press('ctrl+o', 'ctrl+z', 'ctrl+l')
  expect(noted.filter((each) => !(typeof each === 'object' && each !== null && 'draft' in each))).toEqual(['suspend', 'redraw'])
  show(true)
  await press('ctrl+o')
  expect(noted).toContainEqual({ page: 'Last output' })
})

test('C19: an Enter that is held down sends once, and answers nothing that comes after it', async () => {
  const { stage, press, sent, screen, pass } = session()
  const keyboard = presser(stage)
  await press('/mode')
  for (let times = 0; times < 40; times++) {
    pass(90)
    keyboard.key('enter')
  }
  expect([screen().overlay?.kind, sent('set')]).toEqual(['picker', []])
  await press('enter')
  expect(sent('set')).toHaveLength(1)
})

test('while another session is being opened nothing is sent to this one, and what was written goes along', async () => {
  const { stage, press, sent, text, screen } = session()
  let open: (connection: Connection) => void = () => undefined
  stage.host.sessions.fresh = () => new Promise((resolve) => (open = resolve))
  const attached: string[] = []
  stage.attach = (next) => {
    attached.push(next.session)
    stage.store.update((now) => ({ ...now, editor: emptyEditor }))
  }
  await press('/new', 'enter', 'do it', 'enter')
  expect([sent('input'), text(), screen().notice?.text]).toEqual([[], 'do it', expect.stringContaining('being opened') as string])
  await press('ctrl+u', '/new', 'enter')
  expect(screen().notice?.text).toContain('being opened')
  await press('ctrl+u', 'do it')
  open({ ...screen().connection, session: 's2' })
  await new Promise(setImmediate)
  expect([attached, text()]).toEqual([['s2'], 'do it'])
  await press('enter')
  expect(sent('input')).toMatchObject([{ text: 'do it' }])
})

test('J21: a model whose window is too small for the conversation is asked about before it is taken', async () => {
  for (const [key, sends] of [['1', ['set']], ['2', ['compact', 'set']], ['3', []]] as const) {
    const { stage, press, screen, noted } = session()
    let listener: ((event: AgentEvent) => void) | null = null
    const { connection } = screen()
    stage.store.update((now) => ({
      ...now, view: { ...now.view, status: { ...now.view.status, context: 150_000 } },
      connection: { ...connection, subscribe: (listen) => ((listener = listen), () => undefined), send: (command) => void noted.push({ sent: command.type }) },
    }))
    await press('/model local/tiny', 'enter')
    const { overlay } = screen()
    if (overlay?.kind !== 'picker') throw new Error('nothing is asked')
    expect(overlay.picker.title).toBe('local/tiny takes 32k tokens, and this conversation has about 150k.')
    stage.store.update((now) => ({ ...now, overlay: { kind: 'picker', picker: { ...overlay.picker, uninvited: null } } }))
    await press(key)
    const hear = listener as ((event: AgentEvent) => void) | null
    hear?.({ seq: 9, at: 9, type: 'compact', summary: 'short', keep: 3, tokens: { before: 9, after: 1 } })
    expect(noted.flatMap((each) => (typeof each === 'object' && each !== null && 'sent' in each ? [each.sent] : []))).toEqual(sends)
  }
})
