import { redact } from '../core/redact.ts'
import { sanitize } from '../core/sanitize.ts'
import { dollars, duration, number, plural, time } from './figures.ts'
import type { Trace, TraceCall, TraceRun, TraceStep } from './trace.ts'

/** The trace for a terminal. */
export function traceText(trace: Trace): string {
  const { session } = trace
  const lines = session ? [`session ${clean(session.id)}, begun ${time(session.at)} in ${clean(session.cwd)}`, ''] : []
  for (const run of trace.runs) lines.push(...runLines(run), '')
  for (const each of trace.compactions) lines.push(`compacted ${time(each.at)}: ${number(each.before)} tokens became ${number(each.after)}`)
  if (trace.missing > 0) lines.push(`${plural(trace.missing, 'record')} missing: what happened there is not told`)
  return `${lines.join('\n').trimEnd()}\n`
}

function runLines(run: TraceRun): string[] {
  return [
    `run ${clean(run.id)}, ${time(run.at)}: ${shorten(run.inputs.join(' / '), 100)}`,
    ...run.steps.flatMap((step) => [`  ${stepLine(step)}`, ...step.calls.map((call) => `    ${callLine(call)}`)]),
    ...run.checks.map((check) => `  check ${clean(check.command)}: ${check.exit === 0 ? 'passed' : `failed (exit ${check.exit ?? 'unknown'})`}${check.ms === null ? '' : `, ${duration(check.ms)}`}`),
    `  ${outcomeLine(run)}`,
    `  ${runFacts(run)}`,
  ]
}

export function stepLine(step: TraceStep): string {
  const attempt = step.attempt > 1 ? `, attempt ${step.attempt}` : ''
  const times = step.ms ? `${duration(step.ms.total)} (first after ${duration(step.ms.first)})` : 'no times'
  return `step ${step.number}${attempt}  ${[clean(step.model), ...(step.stop === null ? ['no reply'] : [times, tokensOf(step), costOf(step), ended(step)])].filter(Boolean).join('  ')}`
}

export function tokensOf({ usage }: TraceStep): string {
  if (!usage) return ''
  const cached = usage.cacheRead ? ` (${number(usage.cacheRead)} cached)` : ''
  return `${usage.estimated ? 'about ' : ''}${number(usage.input)} in${cached}, ${number(usage.output)} out`
}

export const costOf = (step: TraceStep): string => (step.usage === null ? '' : step.cost === null ? 'cost unknown' : dollars({ cost: step.cost, costUnknown: false }))

export const ended = (step: TraceStep): string => (step.fault ? `${step.fault.kind}: ${clean(step.fault.message)}` : step.stop === 'end' || step.stop === 'calls' || step.stop === null ? '' : step.stop)

const callLine = (call: TraceCall): string =>
  [`${clean(call.name)} ${inputOf(call)}`, call.status ?? 'no result', ...(call.exit ? [`exit ${call.exit}`] : []), ...(call.ms === null ? [] : [duration(call.ms)]), ...(call.waited > 0 ? [`waited ${duration(call.waited)} for an answer`] : [])].join('  ')

export const inputOf = (call: TraceCall): string => shorten(JSON.stringify(call.input) ?? '', 80)

export const outcomeLine = (run: TraceRun): string => (run.outcome ? `${run.outcome.status}: ${clean(run.outcome.reason)}` : 'still open, or cut off')

export const runFacts = ({ totals, ms, waited }: TraceRun): string =>
  [...(ms === null ? [] : [`took ${duration(ms)}`]), ...(waited > 0 ? [`${duration(waited)} of it waiting for an answer`] : []), plural(totals.steps, 'step'), plural(totals.calls, 'call'), `${number(totals.input)} tokens in, ${number(totals.output)} out`, dollars(totals)].join(', ')

/** A trace is shown and handed on like an export. */
export const clean = (text: string): string => sanitize(redact(text)).replace(/\s+/g, ' ').trim()

export function shorten(text: string, most: number): string {
  const line = clean(text)
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}
