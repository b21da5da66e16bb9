import type { LimitName, Reached, RecordOf, SessionRecord, Totals } from './record.ts'
import type { State } from './state.ts'

export type Budget = { readonly [name in LimitName]?: number | null | undefined }

export interface Limits extends Budget {
  /** The same call with the same result this many times in a row is going round in circles. */
  sameCall: number
  /** The same failing edit this many times in a row. */
  failedEdits: number
  session?: Budget
}

/** Which limit is reached, as a sentence; null: none. Asked before each request, never in the middle of a call. */
export function usedUp(state: State, limits: Limits, now: number): { text: string; reached: Reached } | null {
  const { run } = state.live
  const ms = run ? now - run.at - run.waitedMs : 0
  const session = { ...state.totals, ms: (state.totals.ms ?? 0) + ms }
  return (run && over('run', { ...run.totals, ms }, limits, run.raised)) ?? over('session', session, limits.session ?? {}, state.raised)
}

const UNITS: Readonly<Record<LimitName, string>> = { steps: 'step', calls: 'tool call', tokens: 'token', cost: 'US dollar', minutes: 'minute' }

function over(of: Reached['of'], totals: Totals & { ms: number }, budget: Budget, raised: readonly Reached[]): { text: string; reached: Reached } | null {
  const used: Record<LimitName, number> = { steps: totals.steps, calls: totals.calls, tokens: totals.input + totals.output, cost: totals.cost, minutes: totals.ms / 60_000 }
  for (const limit of Object.keys(UNITS) as LimitName[]) {
    const by = budget[limit]
    if (by == null) continue
    const most = by + raisedBy(raised, of, limit)
    if (used[limit] >= most) return { text: `this ${of} has used its ${most} ${UNITS[limit]}${most === 1 ? '' : 's'} (limits.${of === 'run' ? '' : 'session.'}${limit})`, reached: { of, limit, by } }
  }
  return null
}

/** How much a person added to a limit. */
export const raisedBy = (raised: readonly Reached[], of: Reached['of'], limit: LimitName): number =>
  raised.reduce((sum, each) => (each.of === of && each.limit === limit ? sum + each.by : sum), 0)

export interface Circle {
  /** What repeats, for the model and the person. */
  what: string
  times: number
  /** The model was told before and went on: the person is asked. */
  stop: boolean
}

/** Calls that sleep are polling: they may look alike for longer. */
const POLLING_MS = 1_000
const POLLING_PATIENCE = 10
/** These take long only where there is much to read: nothing comes of asking again (L12). */
const NEVER_POLL: ReadonlySet<string> = new Set(['read', 'write', 'edit', 'ls', 'find', 'grep', 'git', 'todo'])

/** Whether the newest calls of a run go round in circles. Looks at the last results only, so that its cost stays flat. */
export function circle(records: readonly SessionRecord[], run: string, limits: Pick<Limits, 'sameCall' | 'failedEdits'>): Circle | null {
  const last = newest(records, run, 1)[0]
  if (!last) return null
  const patience = last.name === 'job' || (last.ms >= POLLING_MS && !NEVER_POLL.has(last.name)) ? POLLING_PATIENCE : 1
  const turns = newest(records, run, Math.max(limits.sameCall, limits.failedEdits) * 2 * Math.max(LONGEST_ROUND, patience))
  const same = leading(turns, (turn) => turn.call === last.call && turn.result === last.result)
  return (
    at(same, limits.sameCall * patience, `the call ${last.name} with the same arguments and the same result`) ??
    at(last.name === 'edit' && last.failed ? leading(turns, (turn) => turn.name === 'edit' && turn.failed) : 0, limits.failedEdits, 'an edit that fails') ??
    at(last.failed ? leading(turns, (turn) => turn.failed && turn.name === last.name && turn.pattern === last.pattern) : 0, limits.sameCall + 1, `${last.name} failing in the same way`) ??
    round(turns, limits.sameCall * patience) ??
    at(leading(turns, (turn) => turn.failed), limits.sameCall * 3, 'calls that fail, whatever they are')
  )
}

interface Turn {
  name: string
  call: string
  result: string
  /** The result without what usually varies in an error: numbers and quoted names. */
  pattern: string
  failed: boolean
  ms: number
}

/** Newest first. */
function newest(records: readonly SessionRecord[], run: string, most: number): Turn[] {
  const turns: Turn[] = []
  const results: RecordOf<'result'>[] = []
  for (let index = records.length - 1; index >= 0 && turns.length < most; index--) {
    const record = records[index]
    if (!record) break
    // What a person let go on is looked at afresh.
    if (record.type === 'outcome' || record.type === 'choice') break
    if (record.type === 'result' && record.run === run) results.push(record)
    if (record.type !== 'reply') continue
    for (const part of record.parts.toReversed()) {
      const result = part.type === 'call' ? results.find((each) => each.call === part.id) : undefined
      if (part.type === 'call' && result) turns.push(toTurn(part.name, part.input, result))
    }
    results.length = 0
  }
  return turns
}

function toTurn(name: string, input: unknown, result: RecordOf<'result'>): Turn {
  const failed = result.status !== 'ok'
  const pattern = failed ? result.text.slice(0, 400).replace(/(["'`]).*?\1/g, '…').replace(/[\w.-]*\/[\w./-]+|\d+/g, '…') : ''
  return { name, call: `${name} ${JSON.stringify(input)}`, result: `${result.status} ${result.text}`, pattern, failed, ms: result.ms ?? 0 }
}

function leading(turns: readonly Turn[], fits: (turn: Turn) => boolean): number {
  const end = turns.findIndex((turn) => !fits(turn))
  return end === -1 ? turns.length : end
}

/** So many calls that come again in the same order, with the same results, are a round. */
const LONGEST_ROUND = 6

function round(turns: readonly Turn[], most: number): Circle | null {
  for (let length = 2; length <= LONGEST_ROUND; length++) {
    let alike = 0
    while (isAlike(turns[alike], turns[alike + length])) alike++
    const all = alike + length
    const calls = turns.slice(0, length).reverse()
    const found = alike === 0 ? null : at(Math.floor(all / length), most, `the same ${length} calls (${calls.map(({ name }) => name).join(', ')}) with the same results`)
    // Told at the end of a round, not at each call of it.
    if (found && (found.stop || all % length === 0)) return found
  }
  return null
}

const isAlike = (one: Turn | undefined, other: Turn | undefined): boolean => one !== undefined && other !== undefined && one.call === other.call && one.result === other.result

/** Told once at the threshold and each time again it is reached; at twice the threshold it stops. */
const at = (times: number, most: number, what: string): Circle | null => (times >= most && (times === most || times >= most * 2) ? { what, times, stop: times >= most * 2 } : null)

const PERIOD = 400
const REPEATED = 12

/** Whether the end of a streamed text is one short passage over and over. */
export function repeatsItself(text: string): boolean {
  const tail = text.slice(-PERIOD * REPEATED)
  if (tail.length < PERIOD * REPEATED) return false
  const last = tail.slice(-PERIOD)
  const before = tail.lastIndexOf(last, tail.length - PERIOD - 1)
  if (before < 0) return false
  const period = tail.length - PERIOD - before
  for (let index = period; index < tail.length; index++) if (tail[index] !== tail[index - period]) return false
  // A rule, a table border or white space is long and alike, too, but ends soon.
  return new Set(last).size > 3
}
