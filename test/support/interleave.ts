import type { Command } from '../../src/core/command.ts'
import type { AgentEvent, Delta, Model, ModelEnd, ModelRequest, Output, Prepared, Tool } from '../../src/core/ports.ts'
import { ModelError } from '../../src/core/ports.ts'
import type { Access, Fault, Part, Stop } from '../../src/core/record.ts'
import type { AgentDeps } from '../../src/loop/work.ts'
import { host, rig, tool, type Rig } from './agent.ts'
import { randomFrom } from './random.ts'
import { LIMITS } from './scripted-model.ts'

/** What a reply is, by a word. */
export const SHAPES = ['text', 'read', 'many', 'write', 'two', 'stuck', 'deaf', 'job', 'refused', 'cut', 'fault', 'busy', 'overflow', 'held', 'long', 'filter', 'broken'] as const
export type Shape = (typeof SHAPES)[number]

/** What the person, or whoever stands for them, does. */
export const MOVES = [
  'next', 'after', 'now', 'withdraw', 'interrupt', 'allow', 'deny', 'grant', 'mode', 'model', 'compact', 'check', 'rewind', 'shell', 'background', 'go-on', 'raise', 'summarise', 'end', 'nobody', 'job', 'stale', 'apart', 'full', 'room', 'stop', 'abandon',
] as const
export type Move = (typeof MOVES)[number]

export interface Play {
  shapes: readonly Shape[]
  moves: readonly Move[]
  /** In which order everything that waits goes on, and when the person does what. */
  seed: number
  /** Every write is asked for. */
  asks: boolean
  /** A check is configured, and this is how it ends, attempt by attempt. */
  checks: readonly boolean[] | null
  /** So many requests are allowed. */
  steps: number
  /** A window so small that long replies are compacted. */
  small: boolean
}

export interface Played {
  rig: Rig
  /** Texts that were sent. */
  sent: number
  /** The number of the newest record when an interrupt was taken, and the run that it was for. */
  interrupts: { run: string; seq: number }[]
  /** Requests that the model was really sent. */
  requests: ModelRequest[]
  /** How often somebody had to choose what goes on next. */
  points: number
  /** The log could not be written to the end when it was left: whoever opens it settles the rest. */
  lost: boolean
  /** Records that came after the agent had been told to leave at once. */
  after: number
}

/**
 * Plays a script with a scheduler of our own: nothing in it goes on before it is chosen, each choice follows from the seed, and between any two
 * of them, or in the middle of an event, the person may do something. No clock, no timers.
 */
export async function play({ shapes, moves, seed, asks, checks, steps, small }: Play): Promise<Played> {
  const random = randomFrom(seed)
  const pending: { resume: () => void }[] = []
  /** A point at which others may go first. Ends at once when the signal does. */
  const point = (signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const entry = { resume: resolve }
      pending.push(entry)
      signal?.addEventListener('abort', () => {
        const index = pending.indexOf(entry)
        if (index >= 0) pending.splice(index, 1)
        resolve()
      }, { once: true })
    })
  const requests: ModelRequest[] = []
  let reply = 0
  let checked = 0
  let ids = 0
  const model: Model = {
    id: 'test/scripted', limits: { ...LIMITS, contextWindow: small ? 2_000 : 100_000 },
    async *stream(request, signal) {
      requests.push(structuredClone(request))
      await point(signal)
      if (request.tools.length === 0) return yield* said({ text: 'A summary.' }, request, () => `s${++ids}`)
      const shape = shapes[reply++] ?? 'text'
      const scripted = replyOf(shape)
      for (const delta of piecesOf(scripted.text ?? '')) {
        yield delta
        await point(signal)
        if (signal.aborted) return
      }
      if (shape === 'held') await point(signal)
      if (signal.aborted) return
      if (scripted.fault) throw new ModelError(scripted.fault)
      yield* said(scripted, request, () => `c${++ids}`, false)
    },
  }
  const base = host()
  const deps: Partial<AgentDeps> = {
    host: {
      ...base, id: () => `i${++ids}`, now: () => 0, random: () => 0.5,
      wait: (_ms, signal) => point(signal),
      checkpoint: async (_why, signal) => {
        await point(signal)
        return signal.aborted ? { tree: null, note: 'cancelled' } : { tree: `t${++ids}` }
      },
    },
    tools: toolsOf(point, () => checks?.[checked++] ?? true),
    model: async () => {
      await point()
      return model
    },
    system: async () => {
      await point()
      return { text: 'You are a test.' }
    },
    saveGrant: () => point(),
    canPause: () => true,
    checks: checks ? ['npm test'] : [], limits: { steps, sameCall: 4, failedEdits: 3 },
    compaction: { auto: true, reserveTokens: 200, keepTokens: 400 },
    defaults: { model: 'test/scripted', effort: 'medium', mode: asks ? 'ask' : 'full' },
  }
  const r = await rig([], deps)
  const played: Played = { rig: r, sent: 0, interrupts: [], requests, points: 0, lost: false, after: 0 }
  const left = [...moves]
  let gone = -1
  const act = (move: Move): void => {
    const run = r.agent.active()
    const seq = r.log.all.length
    const command = commandFor(move, r, played)
    if (command) r.agent.send(command)
    else if (move === 'nobody') r.agent.nobody()
    else if (move === 'job') note(r)
    else if (move === 'apart') void r.agent.apart('undo', (signal) => point(signal)).catch(() => undefined)
    else if (move === 'full') r.log.failAt = 0
    else if (move === 'room') delete r.log.failAt
    else if (move === 'stop') void r.agent.stop('left')
    else if (move === 'abandon') {
      try {
        r.agent.abandon('a second signal')
      } catch {
        // Whoever opens it finds a run that is lost.
        played.lost = true
      }
      gone = r.log.all.length
    }
    if (command?.type === 'input') played.sent++
    if (move === 'interrupt' && run !== null) played.interrupts.push({ run, seq })
  }
  // Also in the middle of an event, as a front end that answers at once.
  let within = 0
  r.agent.subscribe((event: AgentEvent) => {
    if (within > 0 || !('seq' in event) || random() > 0.06) return
    const move = left.shift()
    if (!move) return
    within++
    act(move)
    within--
  })
  act('next')
  let over = false
  for (let stuck = 0; !over; ) {
    // Until all that follows from the last choice has happened.
    await new Promise(setImmediate)
    if (r.log.all.length > MOST_RECORDS || played.points > 10 * MOST_RECORDS) throw new Error(`it does not end: ${JSON.stringify(r.log.all.slice(-12))}`)
    const move = random() < 0.2 ? left.shift() : undefined
    if (move) {
      act(move)
      continue
    }
    const next = pending.splice(Math.floor(random() * pending.length), 1)[0]
    if (next) {
      played.points++
      stuck = 0
      next.resume()
      continue
    }
    const last = left.shift()
    if (last) act(last)
    else {
      over = await Promise.race([r.agent.idle().then(() => true), new Promise<false>((resolve) => setImmediate(resolve, false))])
      // Nobody answers for ever.
      if (!over) r.agent.nobody()
      if (!over) r.agent.send({ type: 'choose', choice: 'stop' })
      if (++stuck > 20 && !over) throw new Error(`it does not go on: ${JSON.stringify(r.log.all.slice(-6))}`)
    }
  }
  played.after = gone < 0 ? 0 : r.log.all.length - gone
  // What could not be written is, as soon as somebody says something again; whoever has left says nothing more.
  delete r.log.failAt
  if (gone < 0) note(r)
  if (gone < 0) r.agent.send({ type: 'set', title: 'at the end' })
  played.lost ||= moves.includes('full') && r.agent.state.live.run !== null
  return played
}

/** A job that ended is told; where it cannot be written, it waits like all that happened. */
function note(r: Rig): void {
  try {
    r.agent.note({ type: 'job', id: 'job-1', command: 'x', exit: 0 })
  } catch {
    // kept
  }
}

/** No script comes near this. */
const MOST_RECORDS = 2_000

function commandFor(move: Move, r: Rig, played: Played): Command | null {
  switch (move) {
    case 'next':
    case 'after':
    case 'now':
      return { type: 'input', text: `${move} ${played.sent}`, when: move }
    case 'stale':
      return { type: 'input', text: `stale ${played.sent}`, run: 'another' }
    case 'withdraw':
    case 'interrupt':
    case 'compact':
    case 'check':
    case 'background':
      return { type: move }
    case 'allow':
    case 'deny':
      return { type: 'decide', call: r.of('ask').at(-1)?.call ?? 'none', verdict: move }
    case 'grant':
      return { type: 'decide', call: r.of('ask').at(-1)?.call ?? 'none', verdict: 'allow', grant: 'project' }
    case 'mode':
      return { type: 'set', mode: 'full' }
    case 'model':
      return { type: 'set', model: 'test/scripted' }
    case 'rewind':
      return { type: 'rewind', to: Math.max(1, (r.log.all.at(-1)?.seq ?? 0) - 3) }
    case 'shell':
      return { type: 'shell', command: 'ls', model: true }
    case 'go-on':
    case 'raise':
    case 'summarise':
      return { type: 'choose', choice: move }
    case 'end':
      return { type: 'choose', choice: 'stop' }
    case 'nobody':
    case 'job':
    case 'apart':
    case 'full':
    case 'room':
    case 'stop':
    case 'abandon':
      return null
  }
}

interface Scripted { text?: string; calls?: { name: string; input: unknown; invalid?: string }[]; stop?: Stop; fault?: Fault }

function replyOf(shape: Shape): Scripted {
  const call = (...names: string[]): Scripted['calls'] => names.map((name) => ({ name, input: {} }))
  switch (shape) {
    case 'text': return { text: 'said' }
    case 'held': return { text: 'slowly' }
    case 'long': return { text: 'word '.repeat(400), calls: call('look')! }
    case 'read': return { text: 'a', calls: call('look')! }
    case 'many': return { calls: call(...Array.from({ length: 10 }, () => 'look'))! }
    case 'write': return { calls: call('put')! }
    case 'two': return { calls: call('look', 'put', 'look')! }
    case 'stuck': return { calls: call('heeds', 'put')! }
    case 'deaf': return { calls: call('deaf', 'put')! }
    case 'job': return { calls: call('shell')! }
    case 'refused': return { calls: [...call('refuses', 'nothing')!, { name: 'put', input: {}, invalid: 'not JSON' }] }
    case 'cut': return { calls: call('put')!, stop: 'length' }
    case 'filter': return { text: 'I', stop: 'filter' }
    case 'fault': return { text: 'half', fault: { kind: 'server', message: 'down' } }
    case 'busy': return { fault: { kind: 'rate-limit', message: 'slow down', retryAfterMs: 600_000 } }
    case 'overflow': return { fault: { kind: 'overflow', message: 'too long', contextWindow: 1_500 } }
    case 'broken': return { calls: call('breaks')! }
  }
}

function* piecesOf(text: string): Iterable<Delta> {
  for (let offset = 0; offset < text.length; offset += 700) yield { type: 'delta', part: 0, kind: 'text', offset, text: text.slice(offset, offset + 700) }
}

function* said({ text, calls = [], stop }: Scripted, request: ModelRequest, id: () => string, withText = true): Iterable<Delta | ModelEnd> {
  if (withText && text) yield* piecesOf(text)
  const parts: Part[] = [...(text ? [{ type: 'text' as const, text }] : []), ...calls.map((call): Part => ({ type: 'call', id: id(), ...call }))]
  yield { type: 'end', parts, stop: stop ?? (calls.length > 0 ? 'calls' : 'end'), usage: { input: Math.ceil(JSON.stringify(request).length / 4), output: 10 } }
}

function toolsOf(point: (signal?: AbortSignal) => Promise<void>, passes: () => boolean): Tool[] {
  const ok = (text: string): Output => ({ status: 'ok', text })
  const ended = (signal: AbortSignal): Output => (signal.aborted ? { status: 'interrupted', text: '' } : ok('done'))
  const slow = (name: string, accesses: Access[], run: (signal: AbortSignal) => Promise<Output>, more: Partial<Prepared> = {}): Tool => {
    const made = tool(name, run, accesses, more)
    return {
      ...made,
      prepare: async (input, here) => {
        await point()
        return made.prepare(input, here)
      },
    }
  }
  let count = 0
  const WRITES: Access[] = [{ kind: 'write', path: '/w/f' }]
  return [
    slow('look', [{ kind: 'read', path: '/w/f' }], async (signal) => {
      await point(signal)
      return ok(String(++count))
    }),
    slow('put', WRITES, async () => {
      await point()
      return ok('done')
    }, { changes: [{ path: '/w/f', before: null, intended: 'x' }] }),
    slow('heeds', WRITES, async (signal) => {
      await point(signal)
      return ended(signal)
    }),
    // Goes on however often it is told to stop.
    slow('deaf', WRITES, async () => {
      for (let time = 0; time < 4; time++) await point()
      return ok('at last')
    }, { changes: [{ path: '/w/f', before: null, intended: 'x' }] }),
    slow('breaks', WRITES, async () => {
      await point()
      throw new Error('a fault')
    }),
    { ...tool('refuses', () => ok('')), prepare: () => Promise.resolve({ refused: 'No.', accesses: [] }) },
    {
      ...tool('shell', () => ok('')),
      prepare: async () => {
        await point()
        const moved = new AbortController()
        return {
          accesses: [{ kind: 'exec', argv: ['x'] }], changes: [], background: () => moved.abort(),
          run: async (signal, emit) => {
            emit.spawned({ pid: 1 })
            await point(AbortSignal.any([signal, moved.signal]))
            if (signal.aborted) return { status: 'interrupted', text: '', exit: null }
            if (moved.signal.aborted) emit.spawned({ pid: 1, job: 'job-1' })
            const passed = passes()
            return { status: passed ? 'ok' : 'failed', text: passed ? 'passed' : `failed ${++count}`, exit: passed ? 0 : 1 }
          },
        }
      },
    },
  ]
}
