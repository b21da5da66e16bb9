import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { live } from '../core/path.ts'
import { ModelError, type Delta, type Message, type Model, type ModelEnd, type ModelRequest } from '../core/ports.ts'
import { parse, type Part, type RecordOf, type SessionRecord, type Stop, type Usage } from '../core/record.ts'
import { createIdFor } from './ids.ts'

export interface ReplayOptions {
  /** Between two deltas, so that it looks like one who writes. Without it a part comes at once. */
  msPerDelta?: number | undefined
}

/** Plays the replies of a session file. Throws a ModelError when the file cannot be read or holds no reply. */
export async function openReplay(id: string, file: string, options: ReplayOptions = {}): Promise<Model> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new ModelError({ kind: 'not-found', message: `The script ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown cause'}). Expected a session file after replay/.` })
  }
  const model = createReplay(id, text.split('\n'), options)
  if (!model) throw new ModelError({ kind: 'not-found', message: `The script ${file} holds no reply to play. Expected a session file with "reply" records.` })
  return model
}

/**
 * A scripted model: the replies of a session, one for each request, with real tools in between. Where it stands is read from
 * the request, so that a retry, a rewind or a resume goes on at the right place. Undefined: the lines hold no reply.
 */
export function createReplay(id: string, lines: readonly string[], { msPerDelta }: ReplayOptions = {}): Model | undefined {
  const script = readScript(lines)
  if (script.steps.length === 0) return undefined
  const issued = new Set<string>()
  let played = 0
  return {
    id,
    limits: { contextWindow: null, maxOutput: null, images: true, price: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, guessed: false },
    async *stream(request, signal) {
      const at = position(script, request) ?? played
      const step = script.steps[at] ?? OVER
      played = Math.min(at, script.steps.length) + 1
      const before = unexpectedSteer(script, request)
      const idFor = createIdFor(request, issued)
      const parts = [...(before === undefined ? [] : asked(script, before, at)), ...(wasDenied(request.messages) ? [DENIED] : []), ...step.parts].map((part) => (part.type === 'call' ? { ...part, id: idFor(part.id) } : part))
      yield* play(parts, step, msPerDelta, signal)
    },
  }
}

interface Step {
  parts: Part[]
  stop: Stop
  usage: Usage
}

interface Script {
  steps: Step[]
  /** What is said before the next step when a person steers; without any, a plain sentence. */
  steered: Part[][]
  /** The texts that the script knows of. */
  inputs: ReadonlySet<string>
}

const OVER: Step = { parts: [{ type: 'text', text: 'Scripted model: the script ends here, so I have nothing more to say. Choose a real model with /model to go on.' }], stop: 'end', usage: { input: 0, output: 0, estimated: true } }

/** Failed attempts are left out, for the attempt after them is there as well. What was interrupted ends where it did. */
function readScript(lines: readonly string[]): Script {
  const records = live(lines.flatMap((line): SessionRecord[] => {
    const read = parse(line)
    return read.ok && !('unknown' in read.record) ? [read.record] : []
  }))
  const replies = records.filter((record): record is RecordOf<'reply'> & { whenSteered?: boolean } => record.type === 'reply' && record.stop !== 'error')
  const steps = replies.filter(({ whenSteered }) => !whenSteered).map(({ parts, stop, usage }): Step => {
    const kept = parts.filter((part) => stop !== 'interrupted' || part.type !== 'call').map(withoutState)
    return { parts: kept, stop: stop === 'interrupted' ? 'end' : stop, usage }
  })
  return {
    steps,
    steered: replies.filter(({ whenSteered }) => whenSteered).map(({ parts }) => parts.filter((part) => part.type === 'text')),
    inputs: new Set(records.flatMap((record) => (record.type === 'input' ? [record.text.trim()] : []))),
  }
}

/** Of another provider: it is of no use here. */
function withoutState(part: Part): Part {
  const { opaque, ...plain } = part
  return opaque === undefined ? part : plain
}

/** The step after the last one that the conversation holds, or that one again where its calls were cut short; undefined: what it holds is not of this script. */
function position({ steps }: Script, request: ModelRequest): number | undefined {
  if (request.messages.every(({ role }) => role !== 'assistant')) return 0
  const prints = steps.map(({ parts }) => fingerprint(parts))
  let next: number | undefined
  for (const [index, message] of request.messages.entries()) {
    if (message.role !== 'assistant') continue
    const found = prints.indexOf(fingerprint(message.parts), next ?? 0)
    if (found >= 0) next = wasCutShort(request.messages[index + 1]) ? found : found + 1
  }
  return next
}

/** Else the script would go on as if it had been done, and say so in the end. */
const wasCutShort = (message: Message | undefined): boolean => message?.role === 'tool' && message.results.some(({ text }) => /^Not run: cancelled|^\[interrupted after/m.test(text))

/** What a step says and calls, without ids, and without what was said about a message of the person. */
const fingerprint = (parts: readonly Part[]): string => JSON.stringify(parts.flatMap((part): unknown[] => (part.type === 'call' ? [[part.name, part.input]] : part.type === 'text' && !part.text.startsWith(OWN) ? [part.text] : [])))

/** A message of the person, in the middle of the work, that the script did not have. */
function unexpectedSteer({ inputs }: Script, { messages }: ModelRequest): string | undefined {
  const last = messages.at(-1)
  if (last?.role !== 'user' || messages.at(-2)?.role !== 'tool') return undefined
  const text = textOf(last).replace(INTERRUPTED, '')
  return text === '' || inputs.has(text) ? undefined : text
}

const textOf = (message: Extract<Message, { role: 'user' }>): string => message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n').trim()

/** What the loop says before the texts that follow an interrupt. */
const INTERRUPTED = /^\[The user interrupted[^\]]*\]\s*/

/** What a script's model says besides the script. */
const OWN = 'Scripted model: '
const SAW = `${OWN}I saw your message`
const DENIED: Part = { type: 'text', text: `${OWN}a call was denied. The script does not know that; what it says next is as it was written.\n\n` }

/** Else the script would claim what was not done. */
function wasDenied(messages: readonly Message[]): boolean {
  const last = messages.findLast(({ role }) => role !== 'user')
  return last?.role === 'tool' && last.results.some(({ failed, text }) => failed && /^Not run: (the user denied|it needs a person)/.test(text))
}

function asked({ steered }: Script, text: string, at: number): Part[] {
  const written = steered[at % Math.max(1, steered.length)]
  if (written) return written
  const line = text.replace(/\s+/g, ' ')
  return [{ type: 'text', text: `${SAW} «${line.length > 80 ? `${line.slice(0, 79)}…` : line}» and go on with the script.` }]
}

async function* play(parts: Part[], { stop, usage }: Step, msPerDelta: number | undefined, signal: AbortSignal): AsyncGenerator<Delta | ModelEnd> {
  for (const [index, part] of parts.entries()) {
    let offset = 0
    const text = part.type === 'call' ? JSON.stringify(part.input) : part.text
    const name = part.type === 'call' ? { name: part.name } : {}
    for (const piece of msPerDelta ? (text.match(/[\s\S]{1,6}\S{0,6}/gu) ?? []) : [text]) {
      if (msPerDelta) await sleep(msPerDelta, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return yield { type: 'end', parts: [...parts.slice(0, index), ...begun(part, text.slice(0, offset))], stop: 'interrupted', usage }
      yield { type: 'delta', part: index, kind: part.type, offset, text: piece, ...(offset === 0 ? name : {}) }
      offset += piece.length
    }
  }
  yield { type: 'end', parts, stop, usage }
}

function begun(part: Part, text: string): Part[] {
  if (text === '') return []
  return [part.type === 'call' ? { ...part, input: {}, invalid: 'the reply ended before its arguments were complete' } : { ...part, text }]
}
