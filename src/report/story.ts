import type { CallPart, FactOf, RecordOf, SessionRecord, UnknownRecord } from '../core/record.ts'
import { redactDeep } from '../core/redact.ts'
import { sanitize } from '../core/sanitize.ts'
import { duration, number, time } from './figures.ts'

/** A session as somebody reads it. All texts are redacted and without control sequences; nothing is escaped for a format yet. */
export type Item =
  | { kind: 'session'; lines: [string, string][] }
  | { kind: 'input'; who: string; text: string; images: string[] }
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  | { kind: 'call'; name: string; input: string; status: string; facts: string[]; text: string; diff: string | null }
  | { kind: 'command'; title: string; ok: boolean; text: string }
  | { kind: 'summary'; title: string; text: string }
  | { kind: 'note'; text: string }
  | { kind: 'outcome'; ok: boolean; title: string; facts: string[] }

/** Calls are told where their results are. `known`: secrets to be taken out beside those of known forms. */
export function* story(records: Iterable<SessionRecord | UnknownRecord>, known: readonly string[] = []): Generator<Item> {
  const open: Open = { calls: new Map(), inputs: new Map() }
  let next = 0
  for (const record of records) {
    if (record.seq > next && next > 0) yield { kind: 'note', text: record.seq === next + 1 ? `Record ${next} is missing.` : `Records ${next} to ${record.seq - 1} are missing.` }
    next = record.seq + 1
    if (!('unknown' in record)) yield* tell(redactDeep(record, known), open)
  }
  for (const call of open.calls.values()) yield callItem(call, null)
}

/** What a later record may name: calls without a result, and the first words of inputs not delivered yet. */
interface Open {
  calls: Map<string, CallPart>
  inputs: Map<string, string>
}

function* tell(record: SessionRecord, open: Open): Generator<Item> {
  switch (record.type) {
    case 'session':
      return yield sessionItem(record)
    case 'input':
      open.inputs.set(record.id, sanitize(record.text.slice(0, 200)).replace(/\s+/g, ' ').trim().slice(0, 60))
      return yield { kind: 'input', who: whoSaid(record), text: sanitize(record.text), images: (record.images ?? []).map((image) => `${sanitize(image.name ?? 'image')} (${image.mediaType}, ${number(image.blob.bytes)} bytes)`) }
    case 'withdraw':
      return yield note(`Taken back before it was delivered: ${open.inputs.get(record.input) ?? record.input}`)
    case 'set':
      return yield* settings(record)
    case 'shell':
      return yield { kind: 'command', title: sanitize(record.command), ok: record.exit === 0, text: sanitize(record.text) }
    case 'reply':
      return yield* replied(record, open)
    case 'answer':
      if (record.by === 'user' || record.by === 'nobody') yield note(answered(record, open.calls.get(record.call)?.name ?? 'the call'))
      return
    case 'result': {
      const call = open.calls.get(record.call)
      open.calls.delete(record.call)
      return yield callItem(call ?? { type: 'call', id: record.call, name: 'call', input: {} }, record)
    }
    case 'job':
      return yield note(`The background command \`${sanitize(record.command)}\` ended${record.exit === null ? '' : ` with exit code ${record.exit}`}.`)
    case 'compact':
      return yield { kind: 'summary', title: `Compacted: ${number(record.tokens.before)} tokens became ${number(record.tokens.after)}`, text: sanitize(record.summary) }
    case 'check':
      return yield { kind: 'command', title: `Check: ${sanitize(record.command)}`, ok: record.exit === 0, text: sanitize(record.text ?? '') }
    case 'rewind':
      return yield note(`Rewound: what follows comes after record ${record.to}.`)
    case 'pause':
      return yield note(`Paused: ${sanitize(record.text)}.`)
    case 'choice':
      return yield note(`The user chose: ${record.choice}${record.by === 'input' ? ' (by what was written)' : ''}.`)
    case 'outcome':
      return yield { kind: 'outcome', ok: record.status === 'done' || record.status === 'verified', title: `${record.status}: ${sanitize(record.reason)}`, facts: [...(record.ms === undefined ? [] : [duration(record.ms)]), ...(record.tree === undefined ? [] : [`files as of ${sanitize(record.tree.slice(0, 8))}`])] }
    case 'step':
      for (const id of record.inputs) open.inputs.delete(id)
      return
    case 'system':
    case 'ask':
    case 'start':
    case 'spawn':
    case 'omit':
      return
    case 'checkpoint':
      if (record.undo?.changes.length && record.why.startsWith('after')) yield note(`${record.why === 'after redo' ? 'The undo was taken back' : 'Files were put back'}: ${record.undo.changes.map(({ path, after }) => `${sanitize(path)}${after === null ? ' (removed)' : ''}`).join(', ')}`)
      return
  }
}

const note = (text: string): Item => ({ kind: 'note', text })

function sessionItem(record: RecordOf<'session'>): Item {
  const lines: [string, string][] = [['Session', record.id], ['Begun', time(record.at)], ['Folder', record.cwd]]
  if (record.git?.branch) lines.push(['Branch', record.git.branch])
  if (record.git?.head) lines.push(['Commit', record.git.head])
  if (record.fork) lines.push(['Copied from', `${record.fork.id}, up to record ${record.fork.seq}`])
  return { kind: 'session', lines: lines.map(([name, value]) => [name, sanitize(value)]) }
}

function whoSaid({ from, when }: FactOf<'input'>): string {
  switch (from) {
    case undefined:
    case 'user':
      return when === 'now' ? 'User, cutting in' : 'User'
    case 'check':
      return 'Check'
    case 'hook':
      return 'Hook'
    case 'tiller':
      return 'Tiller'
  }
}

function* settings({ model, effort, mode, title }: FactOf<'set'>): Generator<Item> {
  const said = [['title', title], ['model', model], ['effort', effort], ['mode', mode]].flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${sanitize(value)}`]))
  if (said.length > 0) yield note(`Set ${said.join(', ')}.`)
}

function* replied(record: RecordOf<'reply'>, open: Open): Generator<Item> {
  for (const part of record.parts) {
    if (part.type === 'call') {
      // A reply that failed or was interrupted runs none of its calls.
      if (record.stop !== 'error' && record.stop !== 'interrupted') open.calls.set(part.id, part)
    } else if (part.text.trim() !== '') yield { kind: part.type, text: sanitize(part.text) }
  }
  if (record.fault) yield note(`The request failed: ${sanitize(record.fault.message)}`)
  else if (record.stop === 'interrupted') yield note('The reply was interrupted.')
  else if (record.stop === 'length') yield note('The reply was cut off by the token limit.')
  else if (record.stop === 'filter') yield note('The reply was stopped by a content filter.')
}

function answered({ verdict, by, reason }: RecordOf<'answer'>, name: string): string {
  const who = by === 'user' ? 'The user' : 'Nobody was there to be asked, which'
  return `${who} ${verdict === 'allow' ? 'allowed' : 'denied'} ${sanitize(name)}${reason ? `: ${sanitize(reason)}` : ''}.`
}

function callItem(call: CallPart, result: RecordOf<'result'> | null): Item {
  const facts = [
    ...(result?.exit === undefined || result.exit === null ? [] : [`exit code ${result.exit}`]),
    ...(result?.ms === undefined ? [] : [duration(result.ms)]),
    ...(result?.output ? [`${number(result.output.bytes)} bytes of output`] : []),
  ]
  return {
    kind: 'call', name: sanitize(call.name), input: inputText(call.input), status: result?.status ?? 'no result', facts,
    text: sanitize(result?.text ?? ''), diff: result?.diff === undefined ? null : sanitize(result.diff),
  }
}

/** Short arguments on one line; long ones as they are. */
function inputText(input: unknown): string {
  if (typeof input === 'object' && input !== null && 'command' in input && typeof input.command === 'string' && Object.keys(input).length === 1) return sanitize(input.command)
  const line = JSON.stringify(input) ?? ''
  return sanitize(line.length <= 120 ? line : JSON.stringify(input, null, 2))
}

