import type { SessionRecord, UnknownRecord } from '../core/record.ts'
import { redactDeep } from '../core/redact.ts'
import type { Item } from './story.ts'
import { story } from './story.ts'

type AnyRecord = SessionRecord | UnknownRecord

/** The session as JSON lines that can be imported again, secrets taken out; opaque provider state stays. One line at a time. */
export function* exportJsonl(records: Iterable<AnyRecord>, known: readonly string[] = []): Generator<string> {
  for (const record of records) {
    const raw: unknown = 'unknown' in record ? JSON.parse(record.line) : record
    yield `${JSON.stringify(redactDeep(raw, known))}\n`
  }
}

/** The session as Markdown, piece by piece. */
export function* exportMarkdown(records: Iterable<AnyRecord>, known: readonly string[] = []): Generator<string> {
  for (const item of story(records, known)) yield `${markdown(item)}\n\n`
}

function markdown(item: Item): string {
  switch (item.kind) {
    case 'session':
      return `# Session\n\n${item.lines.map(([name, value]) => `- ${name}: ${inline(value)}`).join('\n')}`
    case 'input':
      return [`## ${item.who}`, item.text, ...item.images.map((image) => `- image: ${inline(image)}`)].join('\n\n')
    case 'text':
      return item.text.trim()
    case 'reasoning':
      return quote(item.text.trim())
    case 'call':
      return [
        `**${item.name}** ${[item.status, ...item.facts].join(', ')}`,
        fence(item.input, item.input.startsWith('{') ? 'json' : ''),
        ...(item.diff === null ? [] : [fence(item.diff, 'diff')]),
        ...(item.text.trim() === '' || item.diff !== null ? [] : [fence(item.text)]),
      ].join('\n\n')
    case 'command':
      return [`**${item.ok ? 'ok' : 'failed'}** ${inline(item.title)}`, ...(item.text.trim() === '' ? [] : [fence(item.text)])].join('\n\n')
    case 'summary':
      return `*${item.title}*\n\n${quote(item.text.trim())}`
    case 'note':
      return `*${item.text.replaceAll('*', '\\*')}*`
    case 'outcome':
      return `---\n\n**${item.title}**${item.facts.length > 0 ? ` (${item.facts.join(', ')})` : ''}`
  }
}

const quote = (text: string): string => text.split('\n').map((line) => `> ${line}`.trimEnd()).join('\n')

/** Longer than any run of backticks in the text, so that nothing in it ends the fence. */
function fence(text: string, language = ''): string {
  const ticks = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${ticks}${language}\n${text.endsWith('\n') ? text.slice(0, -1) : text}\n${ticks}`
}

function inline(text: string): string {
  const ticks = '`'.repeat(longestRun(text) + 1)
  const padded = text.startsWith('`') || text.endsWith('`') ? ` ${text} ` : text
  return `${ticks}${padded.replaceAll('\n', ' ')}${ticks}`
}

function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return longest
}
