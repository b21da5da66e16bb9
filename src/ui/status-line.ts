import { raisedBy, type Budget } from '../core/limits.ts'
import type { LimitName, Reached } from '../core/record.ts'
import type { Run, View } from '../core/view.ts'
import { elapsed, money, tokens } from './figures.ts'
import { fitParts, type Part } from './first-paint.ts'
import { fit } from './graphemes.ts'
import type { UiHost } from './port.ts'
import { isActive, isStoppable, type Screen } from './screen.ts'
import type { Theme } from './theme.ts'

/** Under the editor: mode, model, context used, cost, limits that come near, folder and branch. */
export function statusLine({ view, size, connection }: Screen, host: UiHost, clock: number, theme: Theme): string {
  const { status, run } = view
  const model = status.model ?? host.about.model
  const parts: Part[] = [
    { text: connection.rest ? 'reading the session…' : (status.mode ?? host.about.mode), keep: 9 },
    { text: `${modelName(model, host)}${status.effort && size.columns >= 40 ? ` (${status.effort})` : ''}`, keep: 8 },
    { text: contextText(status.context, model === null ? null : host.contextWindow(model)), keep: 6 },
    { text: run ? limitText(run, status, host, clock) : '', keep: 7 },
    { text: status.cost.usd > 0 || status.cost.unknown ? money(status.cost) : '', keep: 5 },
    { text: connection.readOnly === undefined ? '' : 'read only', keep: 8 },
    { text: run ? '' : jobsText(view), keep: 6 },
    { text: `${host.about.folder}${(status.branch ?? host.about.branch) === null ? '' : ` (${status.branch ?? host.about.branch})`}`, keep: 3 },
    { text: run ? '' : '? for keys', keep: 1 },
  ]
  return theme.dim(fitParts(parts, size.columns - 1))
}

/** Above the queue while something goes on. It always says how to stop it. */
export function activityLine(screen: Screen, clock: number, theme: Theme): string | null {
  const { view, stopping, busy, size } = screen
  if (!isStoppable(screen)) return null
  if (stopping !== null && stopping === view.run?.id) return theme.warn(fit('Stopping…', size.columns - 1))
  const parts: Part[] = [
    { text: view.asks.length > 0 || view.pause ? 'Waits for your answer' : busy === 'compact' ? 'Compacting' : busy === 'check' ? 'Checking' : busy === 'undo' ? 'Putting files back' : isActive(screen) ? 'Working' : 'Your command runs', keep: 8 },
    { text: view.run ? elapsed(view.run.since, clock) : '', keep: 6 },
    { text: view.run && view.run.step > 0 ? `step ${view.run.step}` : '', keep: 4 },
    { text: jobsText(view), keep: 3 },
    { text: view.asks.length > 0 ? 'Ctrl+C interrupts' : 'Esc interrupts', keep: 9 },
  ]
  return theme.accent(fitParts(parts, size.columns - 1))
}

/** A script's file says nothing to a person. */
const modelName = (model: string | null, { about }: UiHost): string => (about.demo && model?.startsWith('replay/') ? 'scripted model' : (model ?? 'no model'))

const jobsText = ({ jobs }: View): string => (jobs.length > 0 ? `${jobs.length} in the background` : '')

function contextText(used: number | null, window: number | null): string {
  if (used === null) return ''
  return window === null ? `${tokens(used)} tokens` : `${tokens(used)} of ${tokens(window)} (${Math.round((used / window) * 100)}%)`
}

/** The limit that is nearest, of this run or of the session, once most of it is used up. */
function limitText(run: Run, status: View['status'], { settings: { limits } }: UiHost, clock: number): string {
  const ofRun = { steps: run.step, minutes: (clock - run.since) / 60_000, calls: run.calls, tokens: run.tokens.input + run.tokens.output, cost: run.cost.usd }
  const ofSession = { steps: status.steps, calls: status.calls, tokens: status.tokens.input + status.tokens.output, cost: status.cost.usd }
  const shares = [...sharesOf('run', ofRun, limits, run.raised), ...sharesOf('session', ofSession, limits.session, status.raised)]
  const nearest = shares.toSorted((one, other) => other.share - one.share)[0]
  return nearest && nearest.share >= NEAR ? nearest.text : ''
}

const NEAR = 0.7

function sharesOf(whose: Reached['of'], used: Partial<Record<LimitName, number>>, limits: Budget, raised: readonly Reached[]): { share: number; text: string }[] {
  return Object.entries(used).flatMap(([name, now]) => {
    const limit = name as LimitName
    const by = limits[limit]
    if (by == null) return []
    const most = by + raisedBy(raised, whose, limit)
    return [{ share: now / most, text: `${whose === 'session' ? 'session ' : ''}${FORMS[limit](now, most)}` }]
  })
}

const FORMS: Readonly<Record<LimitName, (now: number, of: number) => string>> = {
  steps: (now, of) => `step ${now}/${of}`,
  minutes: (now, of) => `${Math.floor(now)}/${of} min`,
  calls: (now, of) => `${now}/${of} calls`,
  tokens: (now, of) => `${tokens(now)}/${tokens(of)} tokens`,
  cost: (now, of) => `$${now.toFixed(2)}/${of}`,
}
