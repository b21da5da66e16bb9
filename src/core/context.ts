import type { Message, ModelRequest } from './ports.ts'
import type { Image, Part, RecordOf, SessionRecord } from './record.ts'

/**
 * Live records -> the request the model gets. Pure: the request of any step can be rebuilt from the log, and its hash proves it.
 * Valid for every prefix of a log: each call has exactly one result, in the order of the calls.
 * `next` is the step that is about to be written; without it, the request is the one of the newest step in `records`.
 */
export function context(records: readonly SessionRecord[], next?: { inputs: readonly string[]; effort?: RecordOf<'step'>['effort']; maxOutput?: number | undefined }): ModelRequest {
  const from = beginning(records)
  const messages: Message[] = []
  const reading: Reading = { inputs: knownInputs(records, from), omitted: omissions(records, from.keep), results: new Map(), pending: null, notes: [], messages }
  if (from.compact) addUser(messages, [{ type: 'text', text: `Summary of the work so far (older messages were compacted):\n\n${from.compact.summary}` }])
  let system: RecordOf<'system'> | null = null
  let step: RecordOf<'step'> | null = null
  for (const record of records) {
    if (record.type === 'system') system = record
    if (record.seq < from.keep) continue
    if (record.type === 'step') step = record
    add(reading, record)
  }
  closeCalls(reading)
  if (next) deliver(reading, next.inputs)
  else flushNotes(reading)
  const effort = next ? next.effort : step?.effort
  const maxOutput = next ? next.maxOutput : step?.maxOutput
  return {
    system: system?.text ?? '',
    tools: system?.tools ?? [],
    messages,
    ...(effort === undefined ? {} : { effort }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
  }
}

const CUT_OFF = '[Your reply above was cut off by the user.]'

interface Reading {
  inputs: Map<string, { text: string; images?: Image[] | undefined; seq?: number | undefined }>
  omitted: Map<number, string>
  /** Of the newest reply, by call. */
  results: Map<string, RecordOf<'result'>>
  pending: RecordOf<'reply'> | null
  /** Told with the next user message: what the person ran, and that a run was interrupted. */
  notes: string[]
  messages: Message[]
}

function beginning(records: readonly SessionRecord[]): { compact: RecordOf<'compact'> | null; keep: number } {
  const compact = records.findLast((record) => record.type === 'compact') ?? null
  return { compact, keep: compact?.keep ?? 0 }
}

/** Of what is not kept, the compaction has the word, whether the records before it are there or not. */
function knownInputs(records: readonly SessionRecord[], { compact, keep }: { compact: RecordOf<'compact'> | null; keep: number }): Reading['inputs'] {
  const inputs: Reading['inputs'] = new Map()
  for (const record of records) if (record.type === 'input') inputs.set(record.id, record)
  for (const carried of compact?.carry?.inputs ?? []) if ((inputs.get(carried.id)?.seq ?? 0) < keep) inputs.set(carried.id, carried)
  return inputs
}

const omissions = (records: readonly SessionRecord[], keep: number): Map<number, string> =>
  new Map(records.filter((record) => record.type === 'omit').flatMap((omit) => (omit.seq >= keep ? [[omit.record, omit.text ?? '[left out]']] : [])))

function add(reading: Reading, record: SessionRecord): void {
  switch (record.type) {
    case 'step':
      closeCalls(reading)
      return deliver(reading, record.inputs)
    case 'reply':
      closeCalls(reading)
      return addReply(reading, record)
    case 'result':
      if (reading.pending) reading.results.set(record.call, record)
      return
    case 'shell':
      if (record.model) reading.notes.push(`The user ran a command:\n$ ${record.command}\n${record.text}`)
      return
    case 'checkpoint':
      // Only when it was done: what is to be done is recorded before.
      if (record.undo?.changes.length && record.why.startsWith('after')) reading.notes.push(putBackText(record.undo.changes))
      return
    case 'outcome':
      closeCalls(reading)
      if (record.status === 'interrupted' && !reading.notes.includes(CUT_OFF)) reading.notes.push('[The user interrupted the work above.]')
      if (record.status === 'lost') reading.notes.push('[Tiller ended while the work above was under way. Look at the state of things before going on.]')
      return
    default:
      return
  }
}

const MOST_FILES = 30

/** What the replies above say of these files is no longer so. */
function putBackText(changes: NonNullable<RecordOf<'checkpoint'>['undo']>['changes']): string {
  const files = changes.slice(0, MOST_FILES).map(({ path, after }) => `${path}${after === null ? ' (removed)' : ''}`)
  const more = changes.length > files.length ? [`and ${changes.length - files.length} more`] : []
  return `[Since then the user put files back to an earlier state, so they no longer hold what is said above. Read them again before you go by what is in them:\n${[...files, ...more].join('\n')}]`
}

/** A reply that failed is tried again and was never said; of an interrupted one the text was shown, so the model knows it. */
function addReply(reading: Reading, record: RecordOf<'reply'>): void {
  if (record.stop === 'error') return
  const parts = record.stop === 'interrupted' ? record.parts.filter((part) => part.type === 'text') : record.parts
  const kept = parts.filter((part) => part.type !== 'text' || part.text !== '')
  if (kept.length === 0) return
  const replaced = reading.omitted.get(record.seq)
  reading.messages.push({ role: 'assistant', parts: replaced === undefined ? kept : kept.map((part): Part => (part.type === 'call' ? part : { type: 'text', text: replaced })) })
  if (record.stop === 'interrupted') reading.notes.push(CUT_OFF)
  reading.pending = record.stop === 'interrupted' ? null : record
}

function closeCalls(reading: Reading): void {
  const { pending } = reading
  if (!pending) return
  reading.pending = null
  const calls = pending.parts.filter((part) => part.type === 'call')
  if (calls.length > 0) reading.messages.push({ role: 'tool', results: calls.map((call) => toResult(reading, call.id, call.name)) })
  reading.results.clear()
}

function toResult(reading: Reading, call: string, name: string): Extract<Message, { role: 'tool' }>['results'][number] {
  const result = reading.results.get(call)
  if (!result) return { call, name, failed: true, text: 'There is no result of this call: whether it had an effect is not known.' }
  const text = reading.omitted.get(result.seq)
  if (text !== undefined) return { call, name, failed: result.status !== 'ok', text }
  return { call, name, failed: result.status !== 'ok', text: result.text, ...(result.images?.length ? { images: result.images } : {}) }
}

function deliver(reading: Reading, inputs: readonly string[]): void {
  flushNotes(reading)
  for (const id of inputs) {
    const input = reading.inputs.get(id)
    if (!input) continue
    const replaced = input.seq === undefined ? undefined : reading.omitted.get(input.seq)
    if (replaced !== undefined) addUser(reading.messages, [{ type: 'text', text: replaced }])
    else addUser(reading.messages, [{ type: 'text', text: input.text }, ...(input.images ?? []).map((image) => ({ type: 'image' as const, image }))])
  }
}

function flushNotes(reading: Reading): void {
  if (reading.notes.length > 0) addUser(reading.messages, [{ type: 'text', text: reading.notes.join('\n\n') }])
  reading.notes.length = 0
}

type UserPart = Extract<Message, { role: 'user' }>['parts'][number]

/** One user message at a time: no provider is sent two in a row. */
function addUser(messages: Message[], parts: UserPart[]): void {
  const kept = parts.filter((part) => part.type !== 'text' || part.text !== '')
  if (kept.length === 0) return
  const last = messages.at(-1)
  if (last?.role === 'user') last.parts.push(...kept)
  else messages.push({ role: 'user', parts: kept })
}

/** What `JSON.stringify` makes of a request, in a third of the time where it is long: piece by piece, no piece is copied as the text grows. */
export function textOfRequest({ system, tools, messages, effort, maxOutput }: ModelRequest): string {
  const more = [effort === undefined ? '' : `,"effort":${JSON.stringify(effort)}`, maxOutput === undefined ? '' : `,"maxOutput":${JSON.stringify(maxOutput)}`]
  return `{"system":${JSON.stringify(system)},"tools":${JSON.stringify(tools)},"messages":[${messages.map((message) => JSON.stringify(message)).join(',')}]${more.join('')}}`
}
