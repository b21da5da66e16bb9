import type { OutcomeStatus, SessionRecord, Totals, UnknownRecord } from '../core/record.ts'
import { sanitize } from '../core/sanitize.ts'
import { columns, dollars, duration, number, plural, time } from './figures.ts'

/** What many sessions come to. Grows with the tools and models that were used, not with the sessions. */
export interface Statistics {
  sessions: number
  runs: number
  outcomes: Partial<Record<OutcomeStatus, number>>
  totals: Totals
  cacheRead: number
  faults: number
  inputs: number
  checks: { passed: number; failed: number }
  tools: Map<string, { calls: number; ok: number; ms: number }>
  models: Map<string, Totals>
  first: number
  last: number
}

const noTotals = (): Totals => ({ steps: 0, calls: 0, input: 0, output: 0, cost: 0, costUnknown: false })

export const noStatistics = (): Statistics => ({
  sessions: 0, runs: 0, outcomes: {}, totals: noTotals(), cacheRead: 0, faults: 0, inputs: 0, checks: { passed: 0, failed: 0 }, tools: new Map(), models: new Map(), first: Infinity, last: -Infinity,
})

/** Adds one session. What a fork copied counts where it happened. */
export function addSession(statistics: Statistics, records: Iterable<SessionRecord | UnknownRecord>): void {
  const names = new Map<string, string>()
  let model = ''
  let copiedBefore = -Infinity
  statistics.sessions++
  for (const record of records) {
    if ('unknown' in record) continue
    if (record.type === 'session' && record.fork) copiedBefore = record.at
    if (record.type === 'step') model = record.model
    if (record.type === 'reply') for (const part of record.parts) if (part.type === 'call') names.set(part.id, part.name)
    if (record.at < copiedBefore) continue
    statistics.first = Math.min(statistics.first, record.at)
    statistics.last = Math.max(statistics.last, record.at)
    add(statistics, record, model, names)
  }
}

function add(statistics: Statistics, record: SessionRecord, model: string, names: ReadonlyMap<string, string>): void {
  switch (record.type) {
    case 'input':
      if (record.from === undefined || record.from === 'user') statistics.inputs++
      return
    case 'reply': {
      const own = statistics.models.get(model) ?? noTotals()
      statistics.models.set(model, own)
      for (const totals of [statistics.totals, own]) {
        totals.steps++
        spend(totals, record)
      }
      statistics.cacheRead += record.usage.cacheRead ?? 0
      if (record.fault) statistics.faults++
      return
    }
    case 'compact':
      return spend(statistics.totals, record)
    case 'result': {
      const name = names.get(record.call) ?? 'unknown'
      const tool = statistics.tools.get(name) ?? { calls: 0, ok: 0, ms: 0 }
      statistics.tools.set(name, tool)
      tool.calls++
      if (record.status === 'ok') tool.ok++
      tool.ms += record.ms ?? 0
      return
    }
    case 'start':
      statistics.totals.calls++
      return
    case 'check':
      statistics.checks[record.exit === 0 ? 'passed' : 'failed']++
      return
    case 'outcome':
      statistics.runs++
      statistics.outcomes[record.status] = (statistics.outcomes[record.status] ?? 0) + 1
      return
    default:
      return
  }
}

function spend(totals: Totals, { usage, cost }: { usage?: { input: number; output: number } | undefined; cost?: number | null | undefined }): void {
  totals.input += usage?.input ?? 0
  totals.output += usage?.output ?? 0
  totals.cost += cost ?? 0
  if (cost === null) totals.costUnknown = true
}

/** For a terminal. */
export function statisticsText(statistics: Statistics): string {
  const { totals, checks } = statistics
  if (statistics.sessions === 0) return 'There are no sessions yet.\n'
  const figures = [
    ['sessions', number(statistics.sessions)],
    ['from', Number.isFinite(statistics.first) ? `${time(statistics.first)} to ${time(statistics.last)}` : 'nothing recorded'],
    ['inputs', number(statistics.inputs)],
    ['runs', `${number(statistics.runs)}${statistics.runs === 0 ? '' : ` (${Object.entries(statistics.outcomes).sort((one, other) => other[1] - one[1]).map(([status, count]) => `${count} ${status}`).join(', ')})`}`],
    ['steps', `${number(totals.steps)}${statistics.faults > 0 ? ` (${plural(statistics.faults, 'request')} failed)` : ''}`],
    ['tokens', `${number(totals.input)} in (${number(statistics.cacheRead)} cached), ${number(totals.output)} out`],
    ['cost', dollars(totals)],
    ...(checks.passed + checks.failed > 0 ? [['checks', `${number(checks.passed)} passed, ${number(checks.failed)} failed`]] : []),
  ]
  const tools = [...statistics.tools].sort((one, other) => other[1].calls - one[1].calls).map(([name, tool]) => [sanitize(name), number(tool.calls), `${Math.round((100 * tool.ok) / tool.calls)} %`, duration(tool.ms / tool.calls)])
  const models = [...statistics.models].sort((one, other) => other[1].steps - one[1].steps).map(([name, own]) => [sanitize(name), number(own.steps), number(own.input), number(own.output), dollars(own)])
  return [
    ...columns(figures),
    ...(tools.length > 0 ? ['', ...columns([['tool', 'calls', 'ok', 'each'], ...tools], [1, 2, 3])] : []),
    ...(models.length > 0 ? ['', ...columns([['model', 'steps', 'in', 'out', 'cost'], ...models], [1, 2, 3, 4])] : []),
  ].join('\n') + '\n'
}
