import * as z from 'zod/mini'
import type { Output, Tool } from '../core/ports.ts'
import { failed, said } from './answer.ts'
import { jobLine, jobText } from './job-text.ts'
import type { Job, Jobs } from './jobs.ts'
import { shownPath } from './shown-path.ts'

const input = z.object({
  op: z.enum(['list', 'read', 'wait', 'stop']).check(z.describe('read: output since the last read; wait: until it ends')),
  id: z.optional(z.string().check(z.describe('For read, wait and stop'))),
  timeout: z.optional(z.number().check(z.positive(), z.maximum(3_600), z.describe('Seconds to wait at most; 60 where nothing is said'))),
})
type Input = z.infer<typeof input>

const USUAL_WAIT = 60

/** Looks after the commands in the background. Nothing outside Tiller's own processes is touched, so it asks for nothing. */
export const job = ({ jobs, now = Date.now }: { jobs: Jobs; now?: () => number }): Tool<Input> => ({
  name: 'job',
  about: 'Look after commands that `shell` started with background: true. list them; read what a job wrote since it was last read; wait until it ends; stop it and all that it started.',
  input,
  async prepare({ op, id, timeout = USUAL_WAIT }, here) {
    if (op === 'list') return { accesses: [], changes: [], run: async () => said(jobs.list().map((one) => jobLine(one, now())).join('\n') || 'There are no jobs. `shell` starts one with background: true.') }
    const wanted = id === undefined && jobs.list().length === 1 ? jobs.list()[0] : jobs.get(id ?? '')
    if (!wanted) return { accesses: [], refused: noJob(op, id, jobs.list()) }
    const text = (note?: string): string => jobText(wanted, jobs.read(wanted.id), now(), wanted.file && shownPath(wanted.file, here), note)
    return {
      accesses: [], changes: [],
      async run(signal): Promise<Output> {
        switch (op) {
          case 'read':
            return said(text())
          case 'wait': {
            const end = await jobs.wait(wanted.id, timeout * 1000, signal)
            if (end === 'aborted') return { status: 'interrupted', text: text('the waiting was interrupted; the job was not') }
            return said(text(end === 'time' ? `it did not end within ${timeout} s` : undefined))
          }
          case 'stop':
            return stopped(wanted, jobs, text)
        }
      },
    }
  },
})

async function stopped(wanted: Job, jobs: Jobs, text: (note?: string) => string): Promise<Output> {
  const hadEnded = wanted.ended !== undefined
  const ended = await jobs.stop(wanted.id)
  if (ended === undefined || ended.reason === 'exited' || ended.alive.length === 0) return said(text(hadEnded ? 'it had ended before' : undefined))
  return { ...failed(text()), status: 'unknown', alive: ended.alive.map(({ pid }) => pid) }
}

function noJob(op: string, id: string | undefined, jobs: readonly Job[]): string {
  const known = jobs.length === 0 ? 'There are no jobs; `shell` starts one with background: true.' : `There ${jobs.length === 1 ? 'is' : 'are'} ${jobs.map((one) => one.id).join(', ')}.`
  return id === undefined ? `${op} needs the id of a job. ${known}` : `There is no job ${id}. ${known}`
}
