import { isKnownRecord } from '../core/path.ts'
import type { CallPart, FactOf } from '../core/record.ts'
import type { OpenCall } from '../core/state.ts'
import type { Ledger } from './ledger.ts'

/** What can be seen of a call that was cut short by a crash. */
export interface Look {
  /** The hash of a file's bytes now; null: there is none. */
  hashOf(path: string): Promise<string | null>
  /** Takes away what a write of this file that was cut off left beside it. */
  tidy(path: string): Promise<void>
  /** Whether the process of a `spawn` record still lives, and is still the same one. */
  lives(spawn: FactOf<'spawn'>): Promise<boolean>
  /** The end of what it wrote to its output file, as a model may see it. */
  outputOf(spawn: FactOf<'spawn'>): Promise<string>
  /** What is there of the commit that a call was to make on top of `head`; null: nobody can say. */
  commitOn(head: string | null, call: CallPart): Promise<{ made: 'yes' | 'other'; commit: string } | { made: 'no' } | null>
}

/**
 * A run that was open when its process ended gets the outcome `lost`, and each of its calls one result: one with no `start` never
 * ran; a file edit is settled by the file's hash, a commit by its presence; of anything else no more is said than is known.
 */
export async function reconcile(ledger: Ledger, look: Look): Promise<boolean> {
  const jobs = await lostJobs(ledger, look)
  if (jobs.length > 0) ledger.append(...jobs)
  const { run } = ledger.state.live
  if (!run) return false
  const results: FactOf<'result'>[] = []
  for (const [call, open] of run.calls) results.push({ type: 'result', run: run.id, call, ...(await settleLost(open, look)) })
  const reply = run.lastReply
  const unanswered = !reply || reply.seq < run.seq
  ledger.append(...results, { type: 'outcome', run: run.id, status: 'lost', reason: unanswered ? 'Tiller ended before the model had replied' : 'Tiller ended while the run was under way' })
  return true
}

/** Background commands whose end nobody wrote down, and that are gone. */
async function lostJobs({ records }: Ledger, look: Look): Promise<FactOf<'job'>[]> {
  const open = new Map<string, FactOf<'spawn'>>()
  const commands = new Map<string, string>()
  for (const record of records.filter(isKnownRecord)) {
    if (record.type === 'spawn' && record.job !== undefined) open.set(record.job, record)
    else if (record.type === 'job') open.delete(record.id)
    else if (record.type === 'reply') for (const part of record.parts) if (part.type === 'call') commands.set(part.id, commandOf(part.input))
  }
  const ended: FactOf<'job'>[] = []
  for (const [id, spawn] of open) if (!(await look.lives(spawn))) ended.push({ type: 'job', id, call: spawn.call, command: commands.get(spawn.call) ?? '', exit: null, because: 'Tiller ended' })
  return ended
}

const commandOf = (input: unknown): string => (typeof input === 'object' && input !== null && 'command' in input && typeof input.command === 'string' ? input.command : '')

type Settled = Pick<FactOf<'result'>, 'status' | 'text' | 'alive' | 'changes'>

async function settleLost({ call, started, spawned, asked }: OpenCall, look: Look): Promise<Settled> {
  if (!started) return { status: 'skipped', text: asked ? 'Not run: Tiller ended before it was approved.' : 'Not run: Tiller ended before it began.' }
  if (started.changes?.length) return settleChanges(started.changes, look)
  const alive: number[] = []
  const outputs: string[] = []
  for (const spawn of spawned) {
    if (await look.lives(spawn)) alive.push(spawn.pid)
    outputs.push(await look.outputOf(spawn))
  }
  const output = outputs.join('').trim()
  const outputSoFar = output === '' ? '' : `\nIts output up to then:\n${output}`
  if (started.reads) return { status: 'interrupted', text: `Tiller ended while it ran. It only reads, so nothing was changed.${outputSoFar}` }
  const commit = started.head === undefined || alive.length > 0 ? null : await look.commitOn(started.head, call)
  if (commit) return settleCommit(commit)
  const still = alive.length > 0 ? ` Still running: process ${alive.join(', ')}.` : spawned.length > 0 ? ' Its process is gone.' : ''
  return { status: 'unknown', text: `Tiller ended while it ran, so whether it finished is not known.${still}${outputSoFar}`, ...(alive.length > 0 ? { alive } : {}) }
}

function settleCommit(found: NonNullable<Awaited<ReturnType<Look['commitOn']>>>): Settled {
  const cut = 'Tiller ended while it ran.'
  switch (found.made) {
    case 'yes':
      return { status: 'ok', text: `${cut} The commit was made: ${found.commit}. Files that a hook rewrote must be read again before they are edited.` }
    case 'other':
      return { status: 'unknown', text: `${cut} A commit was made then, with another message: ${found.commit}. Look with op "show" whether it is this one, before you commit again.` }
    case 'no':
      return { status: 'interrupted', text: `${cut} The commit was not made. Its files may be staged: look with op "status".` }
  }
}

async function settleChanges(changes: NonNullable<FactOf<'start'>['changes']>, look: Look): Promise<Settled> {
  const lines: string[] = []
  const applied: NonNullable<FactOf<'result'>['changes']> = []
  let unknown = false
  for (const { path, before, intended } of changes) {
    await look.tidy(path)
    const now = await look.hashOf(path)
    if (now === intended) applied.push({ path, before, after: now })
    else if (now !== before) unknown = true
    lines.push(`${path}: ${now === intended ? 'the change was made' : now === before ? 'the change was not made' : 'it is neither as before nor as intended, somebody else changed it; read it again'}`)
  }
  const status = unknown ? 'unknown' : applied.length === changes.length ? 'ok' : 'interrupted'
  return { status, text: `Tiller ended while it ran. ${lines.join('\n')}`, ...(applied.length > 0 ? { changes: applied } : {}) }
}
