import type { SessionRecord, UnknownRecord } from '../core/record.ts'
import { escape, page } from './page.ts'
import type { Item } from './story.ts'
import { story } from './story.ts'

/** The session as one HTML file, piece by piece: readable without anything else, and safe to open whatever the session holds. */
export const exportHtml = (records: Iterable<SessionRecord | UnknownRecord>, title: string, known: readonly string[] = []): Generator<string> => page(title, STYLE, body(records, title, known))

function* body(records: Iterable<SessionRecord | UnknownRecord>, title: string, known: readonly string[]): Generator<string> {
  yield `<h1>${escape(title)}</h1>\n`
  for (const item of story(records, known)) yield `${html(item)}\n`
}

function html(item: Item): string {
  switch (item.kind) {
    case 'session':
      return `<table class="session">${item.lines.map(([name, value]) => `<tr><th>${escape(name)}</th><td>${escape(value)}</td></tr>`).join('')}</table>`
    case 'input':
      return `<section class="input"><h2>${escape(item.who)}</h2><div class="said">${escape(item.text)}</div>${item.images.map((image) => `<div class="soft">${escape(image)}</div>`).join('')}</section>`
    case 'text':
      return `<section class="text">${prose(item.text)}</section>`
    case 'reasoning':
      return `<details class="soft"><summary>Reasoning</summary><div class="said">${escape(item.text)}</div></details>`
    case 'call':
      return callHtml(item)
    case 'command':
      return `<details${item.ok ? '' : ' open'}><summary><code>${escape(item.title)}</code> <span class="${item.ok ? 'ok' : 'bad'}">${item.ok ? 'ok' : 'failed'}</span></summary>${block(item.text)}</details>`
    case 'summary':
      return `<details class="soft"><summary>${escape(item.title)}</summary><div class="said">${escape(item.text)}</div></details>`
    case 'note':
      return `<p class="soft">${escape(item.text)}</p>`
    case 'outcome':
      return `<p class="outcome ${item.ok ? 'ok' : 'bad'}">${escape([item.title, ...item.facts].join(', '))}</p>`
  }
}

function callHtml(item: Extract<Item, { kind: 'call' }>): string {
  const [first = '', ...rest] = item.input.split('\n')
  const state = item.status === 'ok' ? 'ok' : 'bad'
  const head = `<b>${escape(item.name)}</b> <code>${escape(first.length > 100 ? `${first.slice(0, 99)}…` : first)}</code> <span class="${state}">${escape(item.status)}</span> <span class="soft">${escape(item.facts.join(', '))}</span>`
  const input = rest.length > 0 || first.length > 100 ? block(item.input) : ''
  const shown = item.diff === null ? block(item.text) : diffHtml(item.diff)
  return `<details${item.status === 'ok' && item.diff === null ? '' : ' open'}><summary>${head}</summary>${input}${shown}</details>`
}

const block = (text: string): string => (text.trim() === '' ? '' : `<pre>${escape(text)}</pre>`)

const diffHtml = (diff: string): string =>
  `<pre class="diff">${diff.replace(/\n$/, '').split('\n').map((line) => `<span class="${diffClass(line)}">${escape(line) || ' '}</span>`).join('\n')}</pre>`

function diffClass(line: string): string {
  if (line.startsWith('+++') || line.startsWith('---') || line.startsWith('@@')) return 'head'
  return line.startsWith('+') ? 'add' : line.startsWith('-') ? 'del' : 'same'
}

/** What a model wrote: fences as blocks, headings and inline code as such, the rest as it stands. */
function prose(text: string): string {
  const pieces: string[] = []
  let plain: string[] = []
  let code: { lines: string[]; ticks: string } | null = null
  const flush = (): void => {
    if (plain.join('').trim() !== '') pieces.push(`<div class="said">${plain.map(lineHtml).join('\n').trim()}</div>`)
    plain = []
  }
  for (const line of text.split('\n')) {
    const ticks = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    if (code && ticks?.startsWith(code.ticks)) {
      pieces.push(`<pre>${escape(code.lines.join('\n'))}</pre>`)
      code = null
    } else if (code) code.lines.push(line)
    else if (ticks) {
      flush()
      code = { lines: [], ticks }
    } else plain.push(line)
  }
  flush()
  if (code) pieces.push(`<pre>${escape(code.lines.join('\n'))}</pre>`)
  return pieces.join('')
}

function lineHtml(line: string): string {
  const heading = /^#{1,6}\s+(.*)$/.exec(line)?.[1]
  if (heading !== undefined) return `<b>${escape(heading)}</b>`
  return line.split(/(`[^`]+`)/).map((piece, index) => (index % 2 === 1 ? `<code>${escape(piece.slice(1, -1))}</code>` : escape(piece))).join('')
}

const STYLE = `
.said { white-space: pre-wrap; overflow-wrap: anywhere; } .session { width: auto; } .session th { color: var(--soft); font-weight: 400; }
.input { background: var(--user); border-radius: .5rem; padding: .1rem 1rem .8rem; margin: 1.5rem 0; } .input h2 { margin-top: .6rem; font-size: .85rem; color: var(--soft); }
.text { margin: 1rem 0; } details { border-left: 2px solid var(--line); padding-left: .8rem; margin: .6rem 0; } summary { cursor: pointer; overflow-wrap: anywhere; }
.diff .add { background: var(--add); } .diff .del { background: var(--del); } .diff .head { color: var(--soft); } .outcome { border-top: 1px solid var(--line); padding-top: .6rem; font-weight: 600; }
`
