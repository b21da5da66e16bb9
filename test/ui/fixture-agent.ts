import type { Command } from '../../src/core/command.ts'
import type { AgentEvent } from '../../src/core/ports.ts'
import type { Fact, RecordOf, SessionRecord } from '../../src/core/record.ts'
import { treeOf } from '../../src/core/tree.ts'
import type { Head } from '../../src/ui/first-paint.ts'
import type { Connection, SessionChoice, UiHost } from '../../src/ui/port.ts'

type Draft = Connection['draft']

/** A log in memory and an agent of a few fixed habits: it answers `echo`, and what the first word of a prompt asks of it. */
export class FakeSession {
  readonly records: SessionRecord[] = []
  private readonly listeners = new Set<(event: AgentEvent) => void>()
  private readonly draft: Draft
  private readonly note: (what: unknown) => void
  private readonly id: string
  private waiting: RecordOf<'input'>[] = []
  private run: string | null = null
  private count = 0

  constructor(id: string, draft: Draft, note: (what: unknown) => void, rows = 0) {
    this.id = id
    this.draft = draft
    this.note = note
    this.append({ type: 'session', version: 1, id, cwd: '/w', root: '/w' })
    for (let row = 0; row < rows; row++) this.turn(`question ${row}`, `answer ${row}: the quick brown fox`)
  }

  connection(): Connection {
    return {
      session: this.id, records: this.records, draft: this.draft, close: () => this.note({ closed: this.id }),
      subscribe: (listener) => {
        this.listeners.add(listener)
        return () => this.listeners.delete(listener)
      },
      send: (command) => {
        this.note(command)
        this.take(command)
      },
    }
  }

  private append(...facts: Fact[]): void {
    for (const fact of facts) {
      const record = { seq: this.records.length, at: Date.now(), ...fact }
      this.records.push(record)
      this.tell(record)
    }
  }

  private tell(event: AgentEvent): void {
    for (const listener of this.listeners) listener(event)
  }

  private turn(question: string, answer: string): void {
    const run = `r${++this.count}`
    const id = `i${this.count}`
    this.append(
      { type: 'input', id, text: question, from: 'user', when: 'next' },
      { type: 'step', run, number: 1, attempt: 1, inputs: [id], model: 'local/small', request: { sha256: '', bytes: 1 } },
      { type: 'reply', run, parts: [{ type: 'text', text: answer }], stop: 'end', usage: { input: 100, output: 10 }, cost: 0 },
      { type: 'outcome', run, status: 'done', reason: 'answered', ms: 5 },
    )
  }

  private take(command: Command): void {
    switch (command.type) {
      case 'input': {
        this.append({ type: 'input', id: `i${++this.count}`, text: command.text, from: 'user', when: command.when ?? 'next', ...(command.images ? { images: command.images } : {}) })
        const input = this.records.at(-1)
        if (input?.type === 'input') this.waiting.push(input)
        if (this.run === null) this.begin()
        return
      }
      case 'withdraw': {
        const input = command.input === undefined ? this.waiting.at(-1) : this.waiting.find(({ id }) => id === command.input)
        if (!input) return this.tell({ type: 'error', message: 'Nothing is waiting.' })
        this.waiting = this.waiting.filter((each) => each !== input)
        return this.append({ type: 'withdraw', input: input.id, because: 'user' })
      }
      case 'interrupt': {
        if (this.run === null) return this.tell({ type: 'error', message: 'No run is active.' })
        const back = this.waiting
        this.waiting = []
        this.append(...back.map((input): Fact => ({ type: 'withdraw', input: input.id, because: 'interrupt' })))
        return this.end('interrupted', 'interrupted by the user', 'interrupted')
      }
      case 'decide':
        if (this.run === null) return
        this.append({ type: 'answer', run: this.run, call: command.call, verdict: command.verdict, by: 'user', ...(command.reason ? { reason: command.reason } : {}) })
        return this.end('done', command.verdict === 'allow' ? 'it ran' : 'it was denied', command.verdict === 'allow' ? 'ok' : 'denied')
      case 'set': {
        const { type: _, ...settings } = command
        return this.append({ type: 'set', ...settings })
      }
      case 'rewind':
        return this.append({ type: 'rewind', to: command.to })
      default:
        return undefined
    }
  }

  private begin(): void {
    const input = this.waiting.shift()
    if (!input) return
    const run = `r${++this.count}`
    this.run = run
    this.append({ type: 'step', run, number: 1, attempt: 1, inputs: [input.id], model: 'local/small', request: { sha256: '', bytes: 1 } })
    const [word = ''] = input.text.split(/\s/)
    if (word === 'sleep' || word === 'ask' || word === 'asklater') return this.call(run, word)
    if (word === 'flood') return this.flood(run, Number(input.text.split(' ')[1]))
    const text = word === 'evil' ? 'before \x1b]52;c;Zm9v\x07\x1b[2J after' : `echo: ${input.text}`
    this.append(
      { type: 'reply', run, parts: [{ type: 'text', text }], stop: 'end', usage: { input: 1_000, output: 10 }, cost: 0.01 },
      { type: 'outcome', run, status: 'done', reason: 'answered', ms: 5 },
    )
    this.run = null
    if (this.waiting.length > 0) this.begin()
  }

  private call(run: string, word: string): void {
    const command = word === 'sleep' ? 'sleep 300' : 'touch PWNED \x1b]0;x\x07'
    this.append({ type: 'reply', run, parts: [{ type: 'call', id: `c${run}`, name: 'shell', input: { command } }], stop: 'calls', usage: { input: 1_000, output: 10 }, cost: 0.01 })
    if (word === 'sleep') {
      this.append({ type: 'start', run, call: `c${run}` })
      return this.tell({ type: 'output', run, call: `c${run}`, text: 'first line\nsecond line\n' })
    }
    const question: Fact = { type: 'ask', run, call: `c${run}`, accesses: [{ kind: 'exec', argv: command.split(' ') }], preview: { kind: 'command', command, cwd: '/w' }, because: 'commands are asked in this mode', lasting: [{ verdict: 'allow', kind: 'exec', match: 'touch PWNED' }] }
    if (word === 'ask') this.append(question)
    // Somewhere in the middle of what is being typed.
    else setTimeout(() => this.append(question), 240)
  }

  private flood(run: string, lines: number): void {
    let sent = 0
    let offset = 0
    const timer = setInterval(() => {
      const text = `line ${sent} of the flood\n${sent % 5 === 4 ? '\n' : ''}`
      this.tell({ type: 'delta', run, part: 0, kind: 'text', offset, text })
      offset += text.length
      if (++sent < lines) return
      clearInterval(timer)
      const whole = Array.from({ length: lines }, (_, index) => `line ${index} of the flood\n${index % 5 === 4 ? '\n' : ''}`).join('')
      this.append(
        { type: 'reply', run, parts: [{ type: 'text', text: whole }], stop: 'end', usage: { input: 1_000, output: 10 }, cost: 0.01 },
        { type: 'outcome', run, status: 'done', reason: 'answered', ms: 5 },
      )
      this.run = null
    }, 2)
  }

  private end(status: 'done' | 'interrupted', reason: string, result: 'ok' | 'denied' | 'interrupted'): void {
    const { run } = this
    if (run === null) return
    this.append({ type: 'result', run, call: `c${run}`, status: result, text: 'first line\nsecond line\n' }, { type: 'outcome', run, status, reason, ms: 5 })
    this.run = null
    if (this.waiting.length > 0) this.begin()
  }
}

/** Three of this folder, one of them open in another program, and one of another work tree. */
export function fakeSessions(): SessionChoice[] {
  const one: SessionChoice = {
    key: 's2', id: 's2', title: 'Fix the parser', words: 'It fails on dates', at: Date.now() - 3 * 60_000, bytes: 123_456, outcome: 'verified', held: null,
    cost: { usd: 0.42, unknown: false }, branch: 'main', folder: null, elsewhere: null, unreadable: null,
  }
  return [
    one,
    { ...one, key: 's3', id: 's3', title: 'Write the changelog', words: 'Write the changelog', at: Date.now() - 7_200_000, outcome: 'interrupted', cost: null },
    { ...one, key: 's5', id: 's5', title: 'Open over there', words: '', at: Date.now() - 9_000_000, outcome: null, held: 'pid 7 on there', cost: null },
    { ...one, key: 's4', id: 's4', title: 'Try another way', words: '', at: Date.now() - 60_000, outcome: 'interrupted', branch: 'side', folder: '~/src/side', elsewhere: { command: 'tiller -C ~/src/side -r s4' } },
  ]
}

export interface FakeHostOptions {
  /** Of the session that the screen begins with. */
  records?: () => readonly SessionRecord[]
  head: Head
  note: (what: unknown) => void
  draft: Draft
  first: string
  leave: UiHost['leave']
}

export function fakeHost({ records, head, note, draft, first, leave }: FakeHostOptions): UiHost {
  const none = { load: () => '', save: () => null }
  const open = (id: string): Promise<Connection> => Promise.resolve(new FakeSession(id, none, note, 3).connection())
  const prompts = ['the first prompt', 'a second\nprompt of two lines']
  return {
    about: { version: head.version, root: '/w', cwd: '/w', folder: head.folder, branch: head.branch, model: head.model, mode: 'ask', demo: false },
    warnings: [],
    images: { named: () => Promise.resolve([]), clipboard: () => Promise.reject(new Error('There is no image in the clipboard.')) },
    settings: { keys: {}, theme: 'auto', fullscreen: false, plain: false, notify: false, limits: { steps: 10, minutes: null, calls: null, tokens: null, cost: null, session: {} } },
    sessions: {
      async *list() {
        await Promise.resolve()
        yield { sessions: fakeSessions(), isLast: true }
      },
      async *search(keys, query) {
        await Promise.resolve()
        if ('the quick brown fox'.includes(query)) yield* keys.map((key) => ({ key, excerpt: `…the quick brown fox of ${key}` }))
      },
      find: (wanted) => {
        const found = fakeSessions().find(({ id }) => id === wanted)
        return found ? Promise.resolve(found) : Promise.reject(new Error(`No session has the id "${wanted}".`))
      },
      open, fresh: () => open('s9'), fork: () => open('s8'),
      rename: (key, title) => (key === 's5' ? Promise.reject(new Error('The session s5 is open in another tiller (pid 7 on there).')) : Promise.resolve(note({ renamed: key, title }))),
      remove: (key) => Promise.resolve(note({ removed: key })),
      exportTo: (key, file) => {
        note({ exported: key, file })
        return Promise.resolve(`/w/${file}`)
      },
    },
    mustBeUsable: (model) => (model.includes('/') ? Promise.resolve() : Promise.reject(new Error(`Expected provider/model in place of "${model}".`))),
    models: () => Promise.resolve([{ id: 'local/small', note: '32k', ready: true }, { id: 'cloud/large', note: '200k', ready: false }]),
    contextWindow: () => 32_000,
    files: (query) => Promise.resolve(['src/main.ts', 'src/ui/', 'README.md'].filter((path) => path.includes(query))),
    history: { load: () => Promise.resolve(prompts), append: (text) => note({ history: text }) },
    externalEditor: (text) => Promise.resolve(`${text} (edited)`),
    copy: (text) => {
      note({ copied: text })
      return Promise.resolve('clipboard')
    },
    tree: { points: () => Promise.resolve(treeOf(records?.() ?? [])), unreadable: () => null }, putBack: () => Promise.resolve(null),
    answer: (name, argument) => Promise.resolve({ as: 'text', text: `answer to ${name} ${argument}` }),
    custom: { list: () => Promise.resolve([{ name: 'review', about: 'review the change' }]), expand: (name, argument) => Promise.resolve(`expanded ${name} ${argument}`) },
    trust: first.includes('trust') ? { folder: '~/src/thing', brings: ['.agentrc (2 hooks)'], answer: (trusted) => note({ trusted }) } : null,
    firstRun: first.includes('run') ? {
      keys: [{ variable: 'ANTHROPIC_API_KEY', provider: 'anthropic' }],
      discover: () => Promise.resolve([{ name: 'Ollama', url: 'http://127.0.0.1:11434', models: ['ollama/qwen'] }]),
      use: (model) => open(model), demo: () => Promise.resolve(new FakeSession('demo', draft, note).connection()),
    } : null,
    output: () => Promise.resolve(undefined),
    remember: (setting) => note(setting),
    leave,
  }
}
