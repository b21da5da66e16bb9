import type { CallPart, SessionRecord } from './record.ts'
import { oneLine } from './view-excerpt.ts'
import { summarize } from './view-summary.ts'

/** What an interrupt stopped, what it kept from beginning and what goes on all the same: from the records of the run's newest step. */
export function stopped(records: readonly SessionRecord[], run: string): { parts: string[]; alive: number[] } {
  const calls = new Map<string, CallPart>()
  const spawned = new Map<string, number[]>()
  const ended = new Map<'interrupted' | 'unknown' | 'skipped', string[]>()
  const alive = new Set<number>()
  const begin = records.findLastIndex((record) => record.type === 'step' && record.run === run)
  for (const record of records.slice(Math.max(0, begin))) {
    if (!('run' in record) || record.run !== run) continue
    if (record.type === 'reply') {
      for (const part of record.parts) if (part.type === 'call') calls.set(part.id, part)
      if (record.stop === 'interrupted') ended.set('interrupted', ['the reply'])
    }
    if (record.type === 'spawn' && record.job === undefined) spawned.set(record.call, [...(spawned.get(record.call) ?? []), record.pid])
    if (record.type !== 'result') continue
    for (const pid of [...(record.alive ?? []), ...(record.status === 'unknown' ? (spawned.get(record.call) ?? []) : [])]) alive.add(pid)
    if (record.status !== 'interrupted' && record.status !== 'unknown' && record.status !== 'skipped') continue
    ended.set(record.status, [...(ended.get(record.status) ?? []), nameOf(calls.get(record.call))])
  }
  const jobs = openJobs(records)
  for (const { pid } of jobs) alive.add(pid)
  const skipped = ended.get('skipped')?.length ?? 0
  return {
    parts: [
      listed('stopped', ended.get('interrupted')), listed('left behind, may still be going on', ended.get('unknown')),
      skipped > 0 ? `not begun: ${skipped} ${skipped === 1 ? 'call' : 'calls'}` : '',
      jobs.length > 0 ? `in the background as before: ${jobs.map(({ job }) => job).join(', ')}` : '',
    ].filter(Boolean),
    alive: [...alive],
  }
}

const listed = (what: string, names: readonly string[] | undefined): string => (names === undefined ? '' : `${what}: ${names.join(', ')}`)

const nameOf = (call: CallPart | undefined): string => (call ? oneLine(`${call.name} ${summarize(call.name, call.input, null)}`.trim(), 80) : 'a call')

function openJobs(records: readonly SessionRecord[]): { job: string; pid: number }[] {
  const open = new Map<string, number>()
  for (const record of records) {
    if (record.type === 'spawn' && record.job !== undefined) open.set(record.job, record.pid)
    if (record.type === 'job') open.delete(record.id)
  }
  return [...open].map(([job, pid]) => ({ job, pid }))
}
