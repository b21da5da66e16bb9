import { decide, onlyReads, type Decision } from '../core/policy.ts'
import type { Here, Output, Prepared, Refused, Tool } from '../core/ports.ts'
import type { CallPart, FactOf, ResultStatus } from '../core/record.ts'
import { checkInput, toolNamed } from '../core/tool-input.ts'
import { askPerson } from './ask.ts'
import { stepSignal, type Work } from './work.ts'

/** How long a tool may take to stop before it is left behind. */
const STOP_GRACE_MS = 3_000
const ASKED_AGAIN = 3

export interface Valid {
  call: CallPart
  tool: Tool
  input: unknown
}

/** Gates one and two: the reply was whole, and the call is one that its tool can take. The error is one that a model can act on. */
export function validate(call: CallPart, stop: FactOf<'reply'>['stop'], tools: readonly Tool[]): Valid | { rejected: string } {
  if (stop === 'length') return { rejected: 'Not run: the reply was cut off at the output limit, so this call may not be whole. Send it again, in smaller pieces.' }
  if (stop === 'filter') return { rejected: 'Not run: the provider stopped this reply.' }
  if (call.invalid !== undefined) return { rejected: `Not run: ${call.invalid}. Send the call again with one JSON object.` }
  const tool = toolNamed(tools, call.name)
  if (!tool) return { rejected: `Not run: there is no tool ${call.name}. The tools are ${tools.map((each) => each.name).join(', ')}.` }
  const checked = checkInput(tool.input, call.input)
  return checked.ok ? { call, tool, input: checked.input } : { rejected: `Not run: ${checked.why}` }
}

/** Preparing touches nothing, so it may be done more than once. A tool that throws is a bug, and the run goes on. */
export async function prepare(work: Work, { call, tool, input }: Valid): Promise<Prepared | Refused> {
  const { ledger, deps } = work
  const here: Here = {
    call: call.id, root: deps.policy.root, cwd: deps.cwd, seen: (path) => ledger.state.live.seen.get(path), images: work.images, signal: stepSignal(work),
    mayRead: (path) => judge(work, { accesses: [{ kind: 'read', path }] }).verdict,
  }
  try {
    return await tool.prepare(input, here)
  } catch (error) {
    return { refused: `${tool.name} broke while it was prepared, which is a fault of Tiller: ${messageOf(error)}. Nothing was done.`, accesses: [] }
  }
}

export const judge = (work: Work, { accesses }: Pick<Prepared, 'accesses'>): Decision => {
  const { state } = work.ledger
  const { policy, defaults } = work.deps
  return decide(accesses, { ...policy, mode: state.mode ?? defaults.mode, rules: [...policy.rules, ...state.grants] })
}

/** Gate three, then the effect: permitted by rule, mode or person as it was prepared; prepared again after a wait, and asked again if it differs. */
export async function carryOut(work: Work, valid: Valid, prepared: Prepared | Refused): Promise<void> {
  const { call } = valid
  const decision = judge(work, prepared)
  if ('refused' in prepared) return refuse(work, call, prepared, decision)
  if (decision.verdict === 'deny') return settle(work, call.id, 'denied', `Not run: ${decision.because}.`)
  if (decision.verdict === 'allow') return execute(work, valid, prepared, { ...decision, by: decision.by })
  let asked = prepared
  for (let time = 0; time < ASKED_AGAIN; time++) {
    const answer = await askPerson(work, call.id, asked, judge(work, asked))
    if (answer === null) return settle(work, call.id, 'skipped', 'Not run: cancelled before it was approved.')
    if (answer.verdict === 'deny') return settle(work, call.id, 'denied', deniedText(answer.by, answer.reason, decision.because))
    const again = await prepare(work, valid)
    if ('refused' in again) return refuse(work, call, again, judge(work, again))
    if (sameEffect(asked, again)) return execute(work, valid, again, { by: 'user', because: 'approved', sandbox: judge(work, again).sandbox })
    asked = again
  }
  settle(work, call.id, 'denied', 'Not run: what it would do changed each time it was approved.')
}

/** What a tool says of a file is told only if the reads it needed were allowed. */
function refuse(work: Work, call: CallPart, { refused, accesses }: Refused, decision: Decision): void {
  if (accesses.length === 0 || decision.verdict === 'allow') return settle(work, call.id, 'failed', refused)
  const reads = judge(work, { accesses: accesses.filter((access) => access.kind === 'read') })
  if (reads.verdict === 'allow') return settle(work, call.id, 'failed', refused)
  settle(work, call.id, 'denied', `Not run: ${reads.because}. Read the file first, which asks.`)
}

const deniedText = (by: FactOf<'answer'>['by'], reason: string | undefined, because: string): string =>
  by === 'user'
    ? `Not run: the user denied it${reason ? `: ${reason}` : '.'}`
    : `Not run: it needs a person's approval (${because}) and nobody can be asked here. Go on without it where that is possible, and say what could not be done.`

const sameEffect = (a: Prepared, b: Prepared): boolean => JSON.stringify([a.accesses, a.preview, a.changes]) === JSON.stringify([b.accesses, b.preview, b.changes])

async function execute(work: Work, { call, tool }: Valid, prepared: Prepared, permission: Pick<Decision, 'because' | 'sandbox'> & { by: Decision['by'] | 'user' }): Promise<void> {
  const { ledger, deps } = work
  const signal = stepSignal(work)
  const reads = onlyReads(prepared.accesses)
  const touched = prepared.changes.map((change) => change.path)
  const held = [...work.abandoned].find(({ paths }) => paths.some((path) => touched.includes(path)))
  if (held) return settle(work, call.id, 'failed', `Not run: call ${held.call} would not stop and may still write this file.`)
  if (signal.aborted) return settle(work, call.id, 'skipped', 'Not run: cancelled before it began.')
  const runsCommand = !reads && prepared.accesses.some((access) => access.kind === 'exec' || access.kind === 'unknown')
  if (!reads) await takeCheckpoint(work, runsCommand ? `before ${tool.name}` : "before the run's first change", touched, runsCommand ? call.id : undefined)
  if (signal.aborted) return settle(work, call.id, 'skipped', 'Not run: cancelled before it began.')
  if (permission.by !== 'user') ledger.hold({ type: 'answer', run: work.run, call: call.id, verdict: 'allow', by: permission.by, because: permission.because })
  ledger.offer({ type: 'start', run: work.run, call: call.id, ...(reads ? { reads } : {}), ...(prepared.changes.length > 0 ? { changes: prepared.changes } : {}), ...(prepared.head === undefined ? {} : { head: prepared.head }) })
  const begun = deps.host.now()
  work.running.set(call.id, prepared)
  const output = await runOrAbandon(work, call.id, prepared, signal, permission.sandbox, touched)
  work.running.delete(call.id)
  settle(work, call.id, output.status, output.text, output, deps.host.now() - begun)
  if (!runsCommand) return
  // Whoever stopped it is not kept waiting for what it left.
  if (work.stop.signal.aborted) work.unseen.push(call.id)
  else await takeCheckpoint(work, `after ${tool.name}`, [], call.id)
}

/** Before the first change of a run, and around each command that is not known to only read. */
async function takeCheckpoint(work: Work, why: string, extra: readonly string[], call?: string): Promise<void> {
  if (call === undefined && work.ledger.state.live.run?.checkpoint) return
  const { tree, note } = await work.deps.host.checkpoint(why, work.stop.signal, extra)
  work.ledger.hold({ type: 'checkpoint', run: work.run, ...(call ? { call } : {}), why, tree, ...(note ? { note } : {}) })
}

async function runOrAbandon(work: Work, call: string, prepared: Prepared, signal: AbortSignal, sandbox: boolean, paths: readonly string[]): Promise<Output> {
  const { ledger, run } = work
  const left = { call, paths }
  const done = prepared
    .run(signal, {
      output: (text) => ledger.emit({ type: 'output', run, call, text }),
      spawned: (process) => {
        // It has its result already; what it begins now could not be told of.
        if (work.abandoned.has(left)) throw new Error('it was left behind')
        ledger.append({ type: 'spawn', run, call, ...process })
      },
    }, { sandbox })
    .catch((error: unknown): Output => ({ status: 'failed', text: `The tool broke, which is a fault of Tiller: ${messageOf(error)}. What it had done by then is not known.` }))
  const tooLong = new AbortController()
  const abandoned = new Promise<null>((resolve) => {
    const begin = (): void => void work.deps.host.wait(STOP_GRACE_MS, tooLong.signal).then(() => resolve(null))
    if (signal.aborted) begin()
    else signal.addEventListener('abort', begin, { once: true, signal: tooLong.signal })
  })
  const output = await Promise.race([done, abandoned])
  tooLong.abort()
  if (output) return output
  work.abandoned.add(left)
  void done.finally(() => work.abandoned.delete(left))
  return { status: 'unknown', text: `It did not stop within ${STOP_GRACE_MS / 1_000} s of the cancel and was left behind: it may still be going on.` }
}

/** Exactly one result a call. */
export function settle(work: Work, call: string, status: ResultStatus, text: string, output?: Output, ms?: number): void {
  const redact = (said: string): string => work.deps.redact(said)
  const { status: _, text: __, diff, ...rest } = output ?? { status, text }
  work.ledger.append({
    type: 'result', run: work.run, call, status, text: redact(text), ...rest, ...(diff === undefined ? {} : { diff: redact(diff) }), ...(ms === undefined ? {} : { ms }),
  })
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
