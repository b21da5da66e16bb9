import { resolve } from 'node:path'
import { distrust, trust } from '../config/trust.ts'
import { context } from '../core/context.ts'
import { live } from '../core/path.ts'
import type { Said, TextCommand } from '../ui/port.ts'
import type { Connections } from './connections.ts'
import { doctor } from './doctor.ts'
import { toUndo } from './go-back.ts'
import { secretsOf } from './secrets.ts'
import { showConfig } from './show-config.ts'
import { carryOutPlan, certain, describePlan, describeUndone, diffOf, planLast, planLastRedo } from './undo-runs.ts'

type Answer = (connections: Connections, argument: string, signal: AbortSignal) => Promise<Said> | Said

const text = (said: string): Said => ({ text: said, as: 'text' })

/** The slash commands whose answer is text. */
const ANSWERS: Readonly<Record<TextCommand, Answer>> = {
  context: (connections) => text(contextText(connections)),
  cost: (connections) => text(costText(connections)),
  config: ({ settings }, argument) => text(showConfig(settings, argument || undefined)),
  doctor: async ({ place, settings, options }) => text(await doctor(place, settings, options)),
  trust: async (connections, argument) => text(await changeTrust(connections, argument)),
  export: async (connections, argument) => text(await exportTo(connections, argument)),
  mcp: () => text('No tool servers are connected: this version has no MCP client yet.'),
  undo: async (connections, argument, signal) => text(await undoText(connections, argument, signal)),
  diff: async (connections, argument, signal) => {
    const diff = await diffOf(toUndo(connections), argument === 'run' ? 'run' : 'session', signal)
    return diff === '' ? text('This session has changed no files, or all of it is put back.') : { text: diff, as: 'diff' }
  },
}

export async function answer(connections: Connections, name: TextCommand, argument: string, signal: AbortSignal): Promise<Said> {
  await connections.current().ready()
  return ANSWERS[name](connections, argument, signal)
}

/** `/undo show` says what would be put back, `/undo all` puts back also what would be asked, `/undo redo` takes the last undo back. Without a word, only what is certain. */
async function undoText(connections: Connections, argument: string, signal: AbortSignal): Promise<string> {
  if (!['', 'show', 'all', 'redo'].includes(argument)) return `/undo ${argument}: expected /undo, /undo show, /undo all or /undo redo.`
  const of = toUndo(connections)
  const plan = await (argument === 'redo' ? planLastRedo(of, signal) : planLast(of, signal))
  if (!plan) return argument === 'redo' ? 'There is no undo to take back.' : 'No run of this session has changed files that are not put back already.'
  if (argument === 'show') return describePlan(of, plan)
  const chosen = new Set([...certain(plan), ...(argument === 'all' ? plan.entries.filter(({ verdict }) => verdict === 'ask').map(({ path }) => path) : [])])
  const { agent } = connections.current()
  const undone = await agent.apart('putting files back', (stop) => carryOutPlan(of, plan, chosen, (fact) => agent.note(fact), AbortSignal.any([signal, stop])))
  return `${describeUndone(of, plan, undone).join('\n')}${undone.done.length > 0 && argument !== 'redo' ? ' /undo redo takes this back.' : ''}`
}

function contextText(connections: Connections): string {
  const { agent, log } = connections.current()
  const { tokensPerByte, contextTokens } = agent.state.live
  const request = context(live(log.records))
  const tokens = (value: unknown): number => Math.round(Buffer.byteLength(JSON.stringify(value)) * tokensPerByte)
  const parts: [string, number][] = [['system text', tokens(request.system)], ['tool declarations', tokens(request.tools)], ['messages', tokens(request.messages)]]
  return [...parts.map(([name, count]) => `${name.padEnd(18)} about ${count} tokens`), ...(contextTokens > 0 ? [`${'newest reply'.padEnd(18)} ${contextTokens} tokens in and out, as the provider counted`] : [])].join('\n')
}

function costText(connections: Connections): string {
  const { totals } = connections.current().agent.state
  const cost = totals.costUnknown ? (totals.cost > 0 ? `at least $${totals.cost.toFixed(4)}, the rest has no known price` : 'unknown: the model has no known price') : `$${totals.cost.toFixed(4)}`
  return `${counted(totals.steps, 'model request')}, ${counted(totals.calls, 'tool call')}\n${totals.input} tokens in, ${totals.output} out\ncost ${cost}`
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

async function changeTrust(connections: Connections, argument: string): Promise<string> {
  const { place, settings } = connections
  if (argument === '') return settings.trusted ? `${place.root} is trusted: its .agentrc, checks and rules are used.` : `${place.root} is not trusted: its .agentrc can only tighten. /trust yes changes that.`
  if (argument !== 'yes' && argument !== 'no') return 'Expected /trust yes or /trust no.'
  const saved = argument === 'yes' ? trust(place.root, settings.places) : distrust(place.root, settings.places)
  if (!saved.ok) return saved.why
  await connections.reconfigure()
  return argument === 'yes' ? `${place.root} is trusted now; what it brings holds from the next call on.` : `${place.root} is no longer trusted.`
}

/** `/export [file]`: the ending says which form. */
async function exportTo(connections: Connections, argument: string): Promise<string> {
  const { exportFile } = await import('./export-session.ts')
  const { log } = connections.current()
  return `Written to ${exportFile(resolve(connections.place.cwd, argument || `tiller-${log.id}.html`), log, secretsOf(process.env, connections.settings.config.providers))}`
}
