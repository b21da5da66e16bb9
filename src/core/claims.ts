import type { CallPart, RecordOf, SessionRecord } from './record.ts'
import { argumentOf, plainToolName } from './tool-arguments.ts'

/**
 * What a final answer says against what the log shows. Only for what can be told without a doubt: it is better to let a false
 * claim pass than to doubt an honest one.
 */

const TEST_COMMAND = /\b(tests?|spec|check|verify|jest|vitest|mocha|pytest|unittest|tox|rspec|phpunit|ctest|cargo|go|gradlew?|mvn|make|ninja|tsc|lint)\b/i
const CLAIM = /\b(?:all|the|its|every|both)?\s*(?:\w+\s+){0,2}(?:tests?|checks?|suite|specs?)\b[^.!?\n]{0,40}\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?)\b/i
const DENIAL = /\b(?:not|never|no|fail\w*|cannot|can't|couldn't|didn't|don't|does(?:n't| not)|won't|should|would|once|until|if|whether|unverified|skipp\w+)\b/i

/** Why an answer that says tests pass is not borne out by this run; null: it is, or it says nothing of the kind. */
export function unprovenClaim(answer: string, records: readonly SessionRecord[], run: string): string | null {
  const sentence = answer.split(/(?<=[.!?])\s|\n/).find((each) => CLAIM.test(each) && !DENIAL.test(each))
  if (!sentence) return null
  const { changed, tests } = history(records, run)
  if (changed === null) return null
  const last = tests.at(-1)
  if (!last || last.seq < changed) return 'the answer says that tests pass, but none ran after the last change'
  return last.passed ? null : `the answer says that tests pass, but the last one that ran failed (${last.command})`
}

function history(records: readonly SessionRecord[], run: string): { changed: number | null; tests: { seq: number; command: string; passed: boolean }[] } {
  const calls = new Map<string, CallPart>()
  const tests: { seq: number; command: string; passed: boolean }[] = []
  let changed: number | null = null
  for (const record of records) {
    if (!('run' in record) || record.run !== run) continue
    if (record.type === 'reply') for (const part of record.parts) if (part.type === 'call') calls.set(part.id, part)
    if (record.type === 'check') tests.push({ seq: record.seq, command: record.command, passed: record.exit === 0 })
    if (record.type !== 'result') continue
    if (record.changes?.length) changed = record.seq
    const command = commandOf(calls.get(record.call))
    if (command !== null && TEST_COMMAND.test(command) && record.exit !== undefined) tests.push({ seq: record.seq, command: command.slice(0, 80), passed: passed(record) })
  }
  return { changed, tests }
}

const commandOf = (call: CallPart | undefined): string | null => {
  const input = call && plainToolName(call.name) === 'shell' && typeof call.input === 'object' && call.input !== null ? argumentOf(call.input, 'command') : null
  return typeof input === 'string' ? input : null
}

const passed = (result: RecordOf<'result'>): boolean => result.status === 'ok' && result.exit === 0

/** Open items of the newest todo list of a run that was taken; empty: there is none, or all is done. */
export function openItems(records: readonly SessionRecord[], run: string): string[] {
  const taken = new Set(records.flatMap((record) => (record.type === 'result' && record.run === run && record.status === 'ok' ? [record.call] : [])))
  const lists = records.flatMap((record) => (record.type === 'reply' && record.run === run ? record.parts.filter(isTodo) : []))
  const call = lists.findLast((part) => part.type === 'call' && taken.has(part.id))
  const items = call?.type === 'call' && typeof call.input === 'object' && call.input !== null ? argumentOf(call.input, 'items') : null
  if (!Array.isArray(items)) return []
  return items.flatMap((item: unknown) => {
    const { text, status } = (item ?? {}) as { text?: unknown; status?: unknown }
    return typeof text === 'string' && status !== 'done' ? [text] : []
  })
}

const isTodo = (part: RecordOf<'reply'>['parts'][number]): boolean => part.type === 'call' && plainToolName(part.name) === 'todo'

/** An answer that ends by saying what comes next, and then does not do it. */
export const promisesMore = (answer: string): boolean => {
  const text = answer.trim()
  if (/(?:^|[.!?\n]\s*)(?:now|next|then|first|let me|let's|i will|i'll|i am going to|i'm going to)\b[^.!?\n]{0,160}(?::|\.\.\.|…)\s*$/i.test(text)) return true
  const last = text.split(/(?<=[.!?])\s+|\n+/).at(-1) ?? ''
  return PROMISE.test(last) && !CONDITION.test(last)
}

const PROMISE = new RegExp(
  "^(?:(?:ok(?:ay)?|now|next|then|first|so|great|alright)[,:]? )*(?:let me|let's|i will|i'll|i am going to|i'm going to)(?: (?:now|then|first|next|also|just|quickly|start by|begin by|go ahead and|proceed to))* " +
    '(?:do|run|execute|call|use|check|look|read|open|list|search|find|inspect|examine|investigate|explore|review|fix|update|change|edit|write|create|add|implement|apply|make|remove|refactor|rename|test|verify|try|start|begin|continue|proceed)(?:ing)?\\b[^?]*$',
  'i',
)
/** Then it waits for somebody, and rightly so. */
const CONDITION = /\b(?:if|once|when(?:ever)?|after|until|unless|as soon as|let me know|would|tomorrow|later|in the future)\b/i

/** A model that writes its calls as text has made none: servers without a parser for its template, and models that were not trained for tools. */
export function callAsText(answer: string, tools: readonly string[]): boolean {
  const text = answer.trim()
  if (/^(?:[^\n]{0,200}\n)?\s*(?:<tool_calls?>|<function(?:_call)?[ =>]|<\|?(?:tool_call|python_tag|channel)\b|\[TOOL_CALLS\]|<invoke |<｜tool)/.test(text)) return true
  const json = /^(?:[^\n]{0,200}\n)?\s*(?:```[\w]*\s*)?\{\s*"(?:name|tool|tool_name|function)"\s*:\s*"(\w+)"[^]*\}\s*(?:```)?$/.exec(text)
  return json?.[1] !== undefined && tools.includes(json[1])
}
