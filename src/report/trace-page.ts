import { duration, time } from './figures.ts'
import { escape, page } from './page.ts'
import { clean, costOf, ended, inputOf, outcomeLine, runFacts, shorten, tokensOf } from './trace-text.ts'
import type { Trace, TraceCall, TraceRun, TraceStep } from './trace.ts'

/** The trace as one HTML file, piece by piece, with a bar for the time that each request and call took. */
export const tracePage = (trace: Trace): Generator<string> => page(`Trace of ${clean(trace.session?.id ?? 'a session')}`, STYLE, body(trace))

function* body(trace: Trace): Generator<string> {
  const { session } = trace
  yield `<h1>Trace of ${escape(clean(session?.id ?? 'a session'))}</h1>\n`
  if (session) yield `<p class="soft">${escape(`Begun ${time(session.at)} in ${clean(session.cwd)}`)}</p>\n`
  for (const run of trace.runs) yield* runHtml(run)
  for (const each of trace.compactions) yield `<p class="soft">${escape(`Compacted ${time(each.at)}: ${each.before} tokens became ${each.after}`)}</p>\n`
  if (trace.missing > 0) yield `<p class="bad">${trace.missing} records are missing: what happened there is not told.</p>\n`
}

function* runHtml(run: TraceRun): Generator<string> {
  const longest = Math.max(1, ...run.steps.flatMap((step) => [step.ms?.total ?? 0, ...step.calls.map((call) => call.ms ?? 0)]))
  const good = run.outcome?.status === 'done' || run.outcome?.status === 'verified'
  yield `<h2>${escape(shorten(run.inputs.join(' / '), 160) || clean(run.id))}</h2>\n<p class="soft">${escape(`${time(run.at)}, ${runFacts(run)}`)}</p>\n<table>\n`
  yield '<tr><th>What</th><th>Time</th><th></th><th>Tokens</th><th class="number">Cost</th><th>End</th></tr>\n'
  for (const step of run.steps) {
    yield stepRow(step, longest)
    for (const call of step.calls) yield callRow(call, longest)
  }
  for (const check of run.checks) yield row([`check ${clean(check.command)}`, check.ms === null ? '' : duration(check.ms), '', '', '', check.exit === 0 ? 'passed' : `failed, exit ${check.exit ?? 'unknown'}`], 'call', 0)
  yield `</table>\n<p class="${good ? 'ok' : 'bad'}">${escape(outcomeLine(run))}</p>\n`
}

const stepRow = (step: TraceStep, longest: number): string =>
  row([`step ${step.number}${step.attempt > 1 ? `, attempt ${step.attempt}` : ''}, ${clean(step.model)}`, step.ms ? duration(step.ms.total) : '', '', tokensOf(step), costOf(step), step.stop === null ? 'no reply' : ended(step)], 'step', (step.ms?.total ?? 0) / longest)

const callRow = (call: TraceCall, longest: number): string =>
  row([`${clean(call.name)} ${inputOf(call)}`, call.ms === null ? '' : duration(call.ms), '', call.waited > 0 ? `waited ${duration(call.waited)}` : '', '', `${call.status ?? 'no result'}${call.exit ? `, exit ${call.exit}` : ''}`], 'call', (call.ms ?? 0) / longest)

function row(cells: readonly string[], kind: 'step' | 'call', share: number): string {
  const [what = '', took = '', , tokens = '', cost = '', end = ''] = cells
  const bar = share > 0 ? `<span class="bar" style="width:${(share * 100).toFixed(1)}%"></span>` : ''
  return `<tr class="${kind}"><td>${escape(what)}</td><td class="number">${escape(took)}</td><td class="time">${bar}</td><td>${escape(tokens)}</td><td class="number">${escape(cost)}</td><td>${escape(end)}</td></tr>\n`
}

const STYLE = `
.step td { font-weight: 600; } .call td:first-child { padding-left: 1.2rem; font-family: ui-monospace, monospace; font-size: .8rem; overflow-wrap: anywhere; }
.time { width: 12rem; } .bar { display: block; height: .6rem; margin-top: .4rem; min-width: 2px; background: #5b8def; border-radius: .2rem; } .call .bar { background: #9aa7b8; }
`
