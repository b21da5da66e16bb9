import type { Readable, Writable } from 'node:stream'
import { Command } from '../core/command.ts'
import type { AgentEvent } from '../core/ports.ts'
import type { FactOf, Image, OutcomeStatus, SessionRecord } from '../core/record.ts'
import { sanitize } from '../core/sanitize.ts'
import type { Agent } from '../loop/agent.ts'

export interface Headless {
  agent: Agent
  prompt: { text: string; images: Image[] } | null
  /** Every event as one JSON line on stdout. */
  json: boolean
  /** Commands arrive here as JSON lines. */
  commands: Readable | null
  stdout: Writable
  stderr: Writable
  /** What opening a session has appended to it, such as the end of a run that was cut off. */
  settled: readonly SessionRecord[]
  /** Records that reach the disk with the first input. */
  before: readonly SessionRecord[]
  /** Called when stdin with commands has ended, so that nobody can be asked from then on. */
  onNobody(): void
  /** Checks the final answer; null: it is as wanted. */
  checkAnswer?(text: string): string | null
}

/** Runs what is asked for and returns the exit code. Everything but results goes to stderr. */
export async function runHeadless(face: Headless): Promise<number> {
  const { agent, stdout, stderr } = face
  const outcomes: FactOf<'outcome'>[] = []
  let answer = ''
  let refused = false
  const print = (text: string): void => void stdout.write(text)
  const complain = (text: string): void => void stderr.write(`${sanitize(text)}\n`)
  if (face.json) for (const record of face.settled) print(`${JSON.stringify(record)}\n`)
  const before = [...face.before]
  // For good: what is recorded while the program leaves, such as the end of a job, is told as well.
  agent.subscribe((event) => {
    // What waited in memory was written with the first input, so it is told now.
    if (face.json && !isLate(event, stdout)) for (const record of [...(event.type === 'input' ? before.splice(0) : []), event]) print(`${JSON.stringify(record)}\n`)
    if (event.type === 'reply' && event.stop === 'end') answer = textOf(event)
    if (event.type === 'reply' && event.retry && event.fault && !face.json) complain(`${event.fault.message} ${event.retry.model === undefined ? `Trying again in ${Math.max(0, Math.round((event.retry.at - event.at) / 1000))} s.` : `${event.retry.model} takes over for the rest of this run.`}`)
    if (event.type === 'retry' && !face.json) complain(`${event.fault.message} Trying again in ${Math.round(event.waitMs / 1000)} s.`)
    if (event.type === 'outcome') outcomes.push(event)
    if (event.type === 'error') {
      refused = true
      if (!face.json) complain(event.message)
    }
  })
  const closed = closedOutput(stdout, agent)
  if (face.prompt !== null) agent.send({ type: 'input', ...face.prompt })
  if (face.commands) {
    const ended = readCommands(face.commands, agent, (event) => {
      if (face.json) print(`${JSON.stringify(event)}\n`)
      else complain(event.message)
    }).then(() => {
      face.onNobody()
      agent.nobody()
    })
    if (face.prompt === null) await Promise.race([ended, closed])
  }
  await agent.idle()
  if (closed.now) return 0
  const decisive = outcomes.find((outcome) => outcome.status !== 'done' && outcome.status !== 'verified')
  if (!face.json && answer !== '') print(`${sanitize(answer).replace(/\n$/, '')}\n`)
  if (decisive && !face.json) complain(`${decisive.status}: ${decisive.reason}`)
  const wrong = decisive ? null : (face.checkAnswer?.(answer) ?? null)
  if (wrong !== null) {
    complain(wrong)
    return 1
  }
  if (outcomes.length === 0) return refused ? 1 : 0
  return decisive ? exitCode(decisive.status) : 0
}

export function exitCode(status: OutcomeStatus): number {
  switch (status) {
    case 'done':
    case 'verified':
      return 0
    case 'failed':
    case 'lost':
      return 1
    case 'limit':
      return 3
    case 'unverified':
      return 4
    case 'needs-user':
      return 5
    case 'interrupted':
      return 130
  }
}

const MOST_UNREAD = 1024 * 1024

/** A slow reader gets every record; what may be dropped is dropped before it fills the memory. */
const isLate = (event: AgentEvent, { writableLength }: Writable): boolean => (event.type === 'delta' || event.type === 'output') && writableLength > MOST_UNREAD

const textOf = (reply: FactOf<'reply'>): string => reply.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** `| head` closes our stdout: what runs is stopped and recorded, and nothing is said. */
function closedOutput(stdout: Writable, agent: Agent): Promise<void> & { now?: boolean } {
  const closed: Promise<void> & { now?: boolean } = new Promise((resolve) => {
    stdout.on('error', () => {
      if (closed.now) return
      closed.now = true
      void agent.stop('the reader of stdout went away').then(resolve)
    })
  })
  return closed
}

async function readCommands(input: Readable, agent: Agent, complain: (event: Extract<AgentEvent, { type: 'error' }>) => void): Promise<void> {
  let rest = ''
  const take = (line: string): void => {
    if (line.trim() === '') return
    const command = parseCommand(line)
    if (command.ok) agent.send(command.command)
    else complain({ type: 'error', message: command.why, active: agent.active() })
  }
  input.setEncoding('utf8')
  try {
    for await (const chunk of input) {
      rest += String(chunk)
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      lines.forEach(take)
    }
  } catch {
    // A broken stdin ends like a closed one.
  }
  take(rest)
}

function parseCommand(line: string): { ok: true; command: Command } | { ok: false; why: string } {
  let raw: unknown
  try {
    raw = JSON.parse(line)
  } catch {
    return { ok: false, why: `This line on stdin is not JSON: ${line.slice(0, 80)}` }
  }
  const checked = Command.safeParse(raw)
  if (checked.success) return { ok: true, command: checked.data }
  const issue = checked.error.issues[0]
  return { ok: false, why: `This line on stdin is no command (${issue?.path.join('.') || 'type'} does not fit): ${line.slice(0, 80)}. Expected { "type": "input", "text": "…" } or interrupt, decide, withdraw, set, compact, rewind, background, shell, check.` }
}
