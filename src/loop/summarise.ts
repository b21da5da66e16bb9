import { ModelError, type Message, type Model, type ModelRequest } from '../core/ports.ts'
import type { Fault, Usage } from '../core/record.ts'
import { askedNext } from './model-of.ts'
import { attemptsFor, waitBefore, waitFor } from './retry.ts'
import { untilAborted } from './until-aborted.ts'
import type { Work } from './work.ts'

export type Summary = { text: string; usage: Usage } | { why: string; fault?: Fault }

/** Another way to ask helps where trying again does not: with less to read, or for less to write. */
const MOST_WAYS = 4

const INSTRUCTION = `Write a summary of the work above for yourself: it replaces these messages, and you go on from it alone. Keep, in this order:
the user's goal and every standing wish; what was done (files with their paths, commands with their results); what was found out; what is open and the next step; exact names, values and error texts that are still needed.
Leave out what no longer matters. Plain text, no preamble.`
const BRIEFLY = '\nThe last summary was cut off: be brief, at most 400 words.'

/** The model's own summary of these messages, asked for again where that can help; each wait is told and ends with the signal. `bytes`: what it may read. Never throws. */
export async function summarise(work: Work, model: Model, messages: readonly Message[], room: { bytes: number; output: number }, signal: AbortSignal, about?: string): Promise<Summary> {
  const { ledger, run, deps: { host } } = work
  let { bytes, output } = room
  let ways = 0
  let wish = about ? `\nThe user asks to keep above all: ${about}` : ''
  for (let attempt = 1; ; ) {
    const read = transcript(trimTo(messages, bytes))
    const reply = await ask(model, { system: SYSTEM, tools: [], messages: [{ role: 'user', parts: [{ type: 'text', text: `${read}\n\n${INSTRUCTION}${wish}` }] }], maxOutput: output }, signal)
    if (signal.aborted) return { why: 'it was interrupted' }
    if ('text' in reply) return reply
    if (reply === CUT_OFF || reply.kind === 'overflow') {
      if (++ways >= MOST_WAYS) return { why: reply.message, fault: reply }
      if (reply.kind === 'overflow') bytes = Math.min(bytes, Buffer.byteLength(read)) / 2
      else {
        output = Math.min(output * 2, model.limits.maxOutput ?? output * 2)
        wish += wish.endsWith(BRIEFLY) ? '' : BRIEFLY
      }
      continue
    }
    const wait = waitBefore(attempt, reply, host.random())
    if (wait === null) return { why: reply.message, fault: reply }
    ledger.emit({ type: 'retry', run, fault: reply, attempt, of: attemptsFor(reply), at: host.now() + wait, waitMs: wait })
    await waitFor(work, wait, signal)
    if (askedNext(work) !== model.id) return { why: 'another model was chosen meanwhile.' }
    attempt++
  }
}

const SYSTEM = 'You summarise the work of a coding agent so that it can go on from your summary alone. You call no tools.'
const CUT_OFF: Fault = { kind: 'garbage', message: 'the summary was cut off at the output limit, again and again.' }

async function ask(model: Model, request: ModelRequest, signal: AbortSignal): Promise<{ text: string; usage: Usage } | Fault> {
  try {
    for await (const event of untilAborted(model.stream(request, signal), signal)) {
      if (event.type !== 'end') continue
      const text = event.parts.map((part) => (part.type === 'text' ? part.text : '')).join('').trim()
      if (event.stop === 'length') return CUT_OFF
      return event.stop === 'end' && text ? { text, usage: event.usage } : { kind: event.stop === 'filter' ? 'filter' : 'garbage', message: `${model.id} wrote no summary.` }
    }
    return { kind: 'network', message: `${model.id} ended its summary before it was whole.` }
  } catch (error) {
    return error instanceof ModelError ? error.fault : { kind: 'garbage', message: `${model.id} could not be understood: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** As text, so that the request for a summary is valid for every provider, whatever the messages hold. */
function transcript(messages: readonly Message[]): string {
  return messages.map((message) => {
    switch (message.role) {
      case 'user':
        return `User: ${message.parts.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n')}`
      case 'assistant':
        return `Agent: ${message.parts.map((part) => (part.type === 'call' ? `[calls ${part.name} ${JSON.stringify(part.input)}]` : part.type === 'text' ? part.text : '')).filter(Boolean).join('\n')}`
      case 'tool':
        return message.results.map((result) => `Result of ${result.name}${result.failed ? ' (failed)' : ''}: ${result.text}`).join('\n')
    }
  }).join('\n\n')
}

/** The first message and the newest that fit, with long results shortened: a summary request must fit the window, too. */
function trimTo(messages: readonly Message[], bytes: number): Message[] {
  if (Buffer.byteLength(transcript(messages)) <= bytes) return [...messages]
  const share = Math.max(200, Math.floor(bytes / Math.max(1, messages.length) / 2))
  const shorter = messages.map((message): Message => {
    if (message.role === 'tool') return { ...message, results: message.results.map((result) => ({ ...result, text: clip(result.text, share) })) }
    if (message.role === 'assistant') return { ...message, parts: message.parts.map((part) => (part.type === 'call' ? { ...part, input: clip(JSON.stringify(part.input), share) } : { ...part, text: clip(part.text, share) })) }
    return { ...message, parts: message.parts.map((part) => (part.type === 'text' ? { ...part, text: clip(part.text, share) } : part)) }
  })
  const sizes = shorter.map((message) => Buffer.byteLength(transcript([message])) + 2)
  let over = sizes.reduce((sum, size) => sum + size, 0) - bytes
  let from = 1
  while (over > 0 && from < shorter.length - 1) over -= sizes[from++] ?? 0
  return [...shorter.slice(0, 1), ...shorter.slice(from)]
}

const clip = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most / 2)} […] ${text.slice(-most / 2)}`)
