import { visibleName } from '../core/visible.ts'
import { withNotes } from './answer.ts'
import { commandOutput, type CommandOutput } from './command-output.ts'
import { commandResult, seconds } from './command-result.ts'
import type { Job, NewOutput } from './jobs.ts'

/** A command that goes on in the background. */
export function startedJob(job: Job, output: NewOutput, wasMoved: boolean, file: string): string {
  const { text, notes } = newText(output)
  return withNotes(text.replace(/\n$/, ''), [
    ...notes,
    `${wasMoved ? 'moved to the background by the person' : 'started in the background'}: ${job.id}, pid ${job.pid}. It is still running; its output goes to ${file}`,
    'job read, wait and stop take this id; jobs end with the session',
  ])
}

/** One line a job. */
export function jobLine(job: Job, now: number): string {
  const state = job.ended ? `ended: ${endOf(job)}, after ${seconds(job.ended.ms)}` : `running for ${seconds(now - job.began)}, pid ${job.pid}`
  return `${job.id}  ${state}  ${visibleName(job.command.length > 100 ? `${job.command.slice(0, 99)}…` : job.command)}`
}

/** What is new of a job, and whether it still runs. */
export function jobText(job: Job, output: NewOutput, now: number, file: string | undefined, note?: string): string {
  const shown = newText(output)
  const text = shown.text.replace(/\n$/, '') || '(no new output)'
  if (!job.ended) return withNotes(text, [...shown.notes, rest(shown, file), note, `${job.id} is still running, for ${seconds(now - job.began)}`])
  const end = commandResult(job.ended, { ...shown, text }, { full: file, notes: [`${job.id} has ended${job.because === undefined ? '' : ` (${job.because})`}`, ...(note === undefined ? [] : [note])] })
  return end.text
}

const rest = (shown: CommandOutput, file: string | undefined): string | undefined => (shown.cut && file !== undefined ? `all of its output is in ${file}: look with read or grep` : undefined)

function newText({ data, skipped }: NewOutput): CommandOutput {
  const output = commandOutput({ bytes: data.length, cut: 0, head: data, tail: Buffer.alloc(0) })
  return skipped === 0 ? output : { ...output, cut: true, notes: [`${skipped} bytes before this are no longer in memory`, ...output.notes] }
}

function endOf({ ended, because }: Job): string {
  if (because !== undefined) return because
  return ended?.exit === null ? (ended.signal ?? 'unknown') : `exit ${ended?.exit}`
}
