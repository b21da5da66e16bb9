import type { Command } from '../core/command.ts'
import type { AgentEvent, Log } from '../core/ports.ts'
import type { FactOf } from '../core/record.ts'
import type { State } from '../core/state.ts'
import { declareInput } from '../core/tool-input.ts'
import { closeRun } from './close-run.ts'
import { openLedger, type Ledger } from './ledger.ts'
import { checkNow, compactNow } from './on-demand.ts'
import { reconcile, type Look } from './reconcile.ts'
import { whyNotBack } from './rewind.ts'
import { run } from './run.ts'
import { runShell } from './shell.ts'
import type { AgentDeps, Work } from './work.ts'

export interface Agent {
  readonly state: State
  /** Takes a command: what it says is on the disk, or refused with an `error` event, when this returns. */
  send(command: Command): void
  subscribe(listener: (event: AgentEvent) => void): () => void
  /** The run that is active; null: none. */
  active(): string | null
  /** Resolves when no run is active, none is waiting to begin, and no command of the person runs. */
  idle(): Promise<void>
  /** Nobody is there any more: open questions are denied. */
  nobody(): void
  /** Ends what runs, recorded with this reason, and takes nothing more. */
  stop(reason: string): Promise<void>
  /** Records at once how things stand, without waiting for what runs: the process ends right after this. */
  abandon(reason: string): void
  /** Something that must not happen beside a run, and that an interrupt ends: no run begins before it is over. Rejects while one is active. */
  apart<T>(what: string, task: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** A fact from outside the loop, such as a background job that ended. */
  note(fact: FactOf<'job'> | FactOf<'set'> | FactOf<'checkpoint'>): void
}

/** The prompt comes before a look at what a stopped command left. */
const DRAWN_MS = 50

/** The inbox: every command of every front end comes through here, one at a time; one run at a time. */
export async function openAgent(log: Log, deps: AgentDeps, look: Look): Promise<Agent> {
  const ledger = openLedger(log)
  // Whoever has it open settles it.
  if (log.readOnly === null) await reconcile(ledger, look)
  const inbox = new Inbox(ledger, deps)
  return {
    state: ledger.state,
    send: (command) => inbox.take(command),
    subscribe: (listener) => ledger.subscribe(listener),
    active: () => inbox.work?.run ?? null,
    idle: () => inbox.idle(),
    nobody: () => inbox.denyAll(),
    stop: (reason) => inbox.stop(reason),
    abandon: (reason) => inbox.abandon(reason),
    apart: (what, task) => inbox.apart(what, task),
    note: (fact) => void ledger.append(fact),
  }
}

class Inbox {
  work: Work | null = null
  private going: Promise<void> = Promise.resolve()
  private stopped = false
  /** Why the run broke that has no outcome yet. */
  private broke = 'the session could not be saved'
  /** A look at what a stopped command left. */
  private late: Promise<void> = Promise.resolve()
  private readonly leaving = new AbortController()
  /** Commands of the person that run now, each with what stops it. */
  private readonly shells = new Map<AbortController, Promise<void>>()
  /** See `Work`: what a run left behind may write on while the next one is under way. */
  private readonly abandoned: Work['abandoned'] = new Set()
  private readonly learnedWindows: Work['learnedWindows'] = new Map()
  private readonly ledger: Ledger
  private readonly deps: AgentDeps

  constructor(ledger: Ledger, deps: AgentDeps) {
    this.ledger = ledger
    this.deps = deps
  }

  take(command: Command): void {
    const wanted = command.run
    if (wanted !== undefined && wanted !== this.work?.run) {
      return this.refuse(`This ${command.type} is for run ${wanted}, but ${this.work ? `the active run is ${this.work.run}` : 'no run is active'}. Nothing of it was delivered.`, wanted)
    }
    if (this.stopped) return this.refuse(`Tiller is leaving: this ${command.type} was not taken.`)
    try {
      // A run that ended because nothing could be saved has no outcome yet.
      if (!this.work && this.ledger.state.live.run) closeRun(this.ledger, 'failed', this.broke)
      this.carryOut(command)
    } catch (error) {
      this.refuse(`This ${command.type} could not be saved: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  private carryOut(command: Command): void {
    const { ledger, deps, work } = this
    switch (command.type) {
      case 'input':
        ledger.offer({ type: 'input', id: deps.host.id(), text: command.text, from: 'user', when: command.when ?? 'next', ...(command.images?.length ? { images: command.images } : {}) })
        if (command.when === 'now') work?.cut.abort()
        // Whoever says what to do instead of going round wants it to go on; a limit it takes more to raise.
        if (command.when !== 'after' && work?.pause?.why === 'circle') work.pause.choose('go-on', 'input')
        return this.begin()
      case 'withdraw':
        return this.withdraw(command.input)
      case 'interrupt':
        return this.interrupt('interrupted by the user')
      case 'decide':
        return this.decide(command)
      case 'choose': {
        if (!work?.pause) return this.refuse('No run is waiting to be told how it goes on.')
        if (!work.pause.choices.includes(command.choice)) return this.refuse(`${command.choice} is not among what can be chosen: ${work.pause.choices.join(', ')}.`)
        return work.pause.choose(command.choice, 'user')
      }
      case 'set': {
        const { type: _, run: __, ...settings } = command
        ledger.offer({ type: 'set', ...settings })
        return settings.model === undefined ? undefined : this.goOnWith(work)
      }
      case 'background': {
        const [running] = command.call === undefined ? [...(work?.running.values() ?? [])].filter((prepared) => prepared.background) : [work?.running.get(command.call)]
        if (!running?.background) return this.refuse('There is no running command that could go on in the background.')
        return running.background()
      }
      case 'rewind':
        return this.rewind(command)
      case 'compact':
        return this.alone('compact', (own) => compactNow(own, command.about))
      case 'check':
        return this.alone('check', checkNow)
      case 'shell':
        return this.runShell(command.command, command.model)
    }
  }

  /** Another model was chosen: nobody waits for the other one any longer. */
  private goOnWith(work: Work | null): void {
    if (!work) return
    work.fallback = null
    work.wake?.()
    if (work.pause?.why === 'wait') work.pause.choose('go-on', 'user')
  }

  /** Starts the next run where something waits for one. */
  private begin(): void {
    if (this.work || this.stopped || !this.ledger.state.live.waiting.some((input) => input.from !== 'tiller')) return
    const work = this.open()
    this.going = run(work)
      .then(() => null, (error: unknown) => `The run stopped: ${error instanceof Error ? error.message : String(error)}`)
      .then((broke) => {
        // Said when it is over, so that `active` says so, too: where it has no outcome, nothing else would.
        if (broke === null) this.close(work, work.delivered)
        else if (!this.breakOff(work, broke)) this.refuse(`${broke} What was to be saved is kept in memory, and written as soon as that can be done.`)
        this.late = this.lookLate(work)
      })
  }

  /** What stopped commands did to the files. It belongs to no run: that one has its outcome, and the person the prompt. */
  private async lookLate({ unseen, deps: { host } }: Work): Promise<void> {
    const call = unseen.at(-1)
    if (call === undefined || this.stopped) return
    const why = 'after a command that was stopped'
    await host.wait(DRAWN_MS, this.leaving.signal)
    try {
      const { tree, note } = await host.checkpoint(why, this.leaving.signal)
      if (tree !== null) this.ledger.append({ type: 'checkpoint', call, why, tree, ...(note ? { note } : {}) })
    } catch {
      // The session was left meanwhile: what an undo would put back is then found out when it is asked for.
    }
  }

  private open(): Work {
    const { ledger, deps } = this
    const work: Work = {
      run: deps.host.id(), deps, ledger, stop: new AbortController(), cut: new AbortController(), questions: new Map(), pause: null, fallback: null, wake: null, running: new Map(), unseen: [], abandoned: this.abandoned,
      images: false, delivered: false, nudges: 0, compactions: 0, learnedWindows: this.learnedWindows,
      declarations: deps.tools.map((tool) => ({ name: tool.name, about: tool.about, input: declareInput(tool.input) })),
    }
    this.work = work
    return work
  }

  /** `goesOn`: what waits starts the next run. Where a run ended before it could deliver anything (no model, a limit), the next one would end in the same way. */
  private close(work: Work, goesOn: boolean): void {
    if (this.work === work) this.work = null
    if (goesOn) return this.begin()
    try {
      this.giveBack('interrupt')
    } catch {
      // It waits in the log, as it did.
    }
  }

  /** A run that could not go on, mostly because nothing could be written: going on would be going on unsaved. False: not even its end could. */
  private breakOff(work: Work, why: string): boolean {
    this.broke = why
    work.stop.abort(why)
    try {
      const isSaid = closeRun(this.ledger, 'failed', why)
      this.close(work, false)
      return isSaid
    } catch {
      this.work = null
      return false
    }
  }

  /** Waiting texts go back to who typed them. */
  private giveBack(because: 'user' | 'interrupt'): void {
    const waiting = this.ledger.state.live.waiting.filter((input) => input.from === 'user')
    if (waiting.length > 0) this.ledger.offer(...waiting.map((input): FactOf<'withdraw'> => ({ type: 'withdraw', input: input.id, because })))
  }

  async idle(): Promise<void> {
    let going: Promise<void> | null = null
    while (going !== this.going || this.shells.size > 0) {
      going = this.going
      await Promise.all([going, ...this.shells.values()])
      await this.late
    }
  }

  private withdraw(id: string | undefined): void {
    const { waiting } = this.ledger.state.live
    const input = id === undefined ? waiting.findLast((each) => each.from === 'user') : waiting.find((each) => each.id === id)
    if (!input) return this.refuse(id === undefined ? 'Nothing is waiting.' : `The input ${id} is not waiting: it was delivered or taken back before.`)
    this.ledger.offer({ type: 'withdraw', input: input.id, because: 'user' })
  }

  /** The run ends; what waits goes back to who typed it, unless it cuts in anyway. What is sent after this is not touched. */
  private interrupt(reason: string): void {
    const { work } = this
    if (!work && this.shells.size === 0) return this.refuse('No run is active.')
    this.stopShells()
    if (!work || work.stop.signal.aborted) return
    try {
      this.giveBack('interrupt')
    } finally {
      // Also where nothing can be saved: who wants it to stop is not kept waiting for that.
      work.stop.abort(reason)
    }
  }

  private runShell(command: string, model: boolean): void {
    const stop = new AbortController()
    const done = runShell(this.ledger, this.deps, command, model, stop.signal)
      .catch((error: unknown) => this.refuse(`The command could not be run: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => this.shells.delete(stop))
    this.shells.set(stop, done)
  }

  private stopShells(): void {
    for (const stop of this.shells.keys()) stop.abort()
  }

  private decide(command: Extract<Command, { type: 'decide' }>): void {
    const answer = this.work?.questions.get(command.call)
    if (!answer) return this.refuse(`The call ${command.call} has no open question.`)
    answer({ verdict: command.verdict, by: 'user', reason: command.reason, grant: command.grant })
  }

  denyAll(): void {
    for (const answer of this.work?.questions.values() ?? []) answer({ verdict: 'deny', by: 'nobody' })
  }

  private rewind({ to, anyway }: Extract<Command, { type: 'rewind' }>): void {
    if (this.work) return this.refuse('A run is active: interrupt it before you rewind.')
    const why = whyNotBack(this.ledger.reach(to), to, anyway === true)
    if (why !== null) return this.refuse(why)
    this.giveBack('user')
    this.ledger.offer({ type: 'rewind', to })
    // An input that is not delivered yet on the path gone back to is text to be looked at again.
    this.giveBack('user')
  }

  /** Something the person asked for that is no run, but that one interrupt must reach as well. */
  private alone(what: string, task: (work: Work) => Promise<string | null>): void {
    if (this.work) return this.refuse(`A run is active: ${what} can be done when it has its outcome.`)
    const work = this.open()
    this.going = task(work)
      .catch((error: unknown) => `${what} failed: ${error instanceof Error ? error.message : String(error)}`)
      .then((refused) => {
        if (refused !== null) this.refuse(refused)
        this.close(work, true)
      })
  }

  async apart<T>(what: string, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.work) throw new Error(`A run is active: ${what} has to wait for its outcome.`)
    if (this.stopped) throw new Error(`Tiller is leaving: ${what} was not begun.`)
    const work = this.open()
    const done = task(work.stop.signal)
    this.going = done.then(() => undefined, () => undefined).then(() => this.close(work, true))
    await this.going
    return done
  }

  async stop(reason: string): Promise<void> {
    this.stopped = true
    this.denyAll()
    this.stopShells()
    // Nobody who leaves is kept waiting: what a stopped command left is then found out when it is to be undone.
    this.leaving.abort()
    if (this.work && !this.work.stop.signal.aborted) this.work.stop.abort(reason)
    await this.idle()
  }

  abandon(reason: string): void {
    this.stopped = true
    try {
      closeRun(this.ledger, 'interrupted', reason)
    } finally {
      this.ledger.seal()
      // Nothing may begin that could not be told of any more.
      this.stopShells()
      this.work?.stop.abort(reason)
    }
  }

  private refuse(message: string, run?: string): void {
    this.ledger.emit({ type: 'error', message, active: this.work?.run ?? null, ...(run === undefined ? {} : { run }) })
  }
}
