import type { MarkedToken, Token, Tokens } from 'marked'
import { columnsOf } from './graphemes.ts'
import { renderCode } from './code.ts'
import { decode, inline } from './markdown-inline.ts'
import { fold, TAB, type Span, type Width } from './spans.ts'
import { renderTable } from './table.ts'
import type { Theme } from './theme.ts'

let lex: ((text: string) => Token[]) | null = null

/** Until this is done, Markdown is shown as it was written. Null: it is done. */
export const loadMarkdown = (): Promise<void> | null => (lex ? null : load())

async function load(): Promise<void> {
  const { Lexer } = await import('marked')
  lex = (text) => Lexer.lex(text, { gfm: true })
}

/** One block of sanitized Markdown as painted rows. `head`: the piece that began the table which `text` goes on with. */
export function renderMarkdown(text: string, width: Width, head: string | null = null): string {
  const source = text.replaceAll('\t', TAB)
  const tokens = tooHard(source) ? null : lexed(head === null ? source : `${head.split('\n').slice(0, 2).join('\n')}\n${source}`)
  if (!tokens) return fold([{ text: source }], { columns: width.columns }).join('\n')
  if (head !== null && tokens[0]?.type === 'table') return renderTable(tokens[0] as Tokens.Table, width, tableOf(head.replaceAll('\t', TAB))).join('\n')
  return renderBlocks(tokens, width).join('\n')
}

/** What would take the lexer long (it is quadratic in emphasis, and recursive in nesting) is no prose of use. */
const tooHard = (text: string): boolean => text.length > 16_000 || (text.match(/[*_]/g)?.length ?? 0) > 1_500 || /(?:(?:>|[-*+]|\d+[.)])[ \t]*){25}/.test(text)

function lexed(text: string): Token[] | null {
  try {
    return lex?.(text) ?? null
  } catch {
    return null
  }
}

const tableOf = (head: string): Tokens.Table | null => {
  const token = lexed(head)?.[0]
  return token?.type === 'table' ? (token as Tokens.Table) : null
}

function renderBlocks(tokens: readonly Token[], width: Width): string[] {
  const rows: string[] = []
  for (const token of tokens as readonly MarkedToken[]) {
    if (token.type === 'space') {
      if (rows.length > 0) rows.push('')
    } else rows.push(...renderBlock(token, width))
  }
  while (rows.at(-1) === '') rows.pop()
  return rows
}

function renderBlock(token: MarkedToken, width: Width): string[] {
  const { columns, theme } = width
  switch (token.type) {
    case 'heading': {
      const spans = inline(token.tokens, theme, theme.heading)
      return fold(theme.plain ? [{ text: `${'#'.repeat(token.depth)} ` }, ...spans] : spans, { columns })
    }
    case 'paragraph':
      return fold(inline(token.tokens, theme), { columns })
    case 'text':
      return fold(token.tokens ? inline(token.tokens, theme) : [{ text: decode(token.text) }], { columns })
    case 'code':
      return renderCode(token.text, { language: token.lang ?? '', first: true, last: true }, width)
    case 'list':
      return renderList(token, width)
    case 'blockquote':
      return prefixed(renderBlocks(token.tokens, narrower(width, 2)), theme.dim(theme.ascii ? '> ' : '│ '))
    case 'table':
      return renderTable(token, width, null)
    case 'hr':
      return [theme.dim((theme.ascii ? '-' : '─').repeat(Math.min(columns, 24)))]
    case 'def':
      return fold([{ text: token.raw.trimEnd(), paint: theme.dim }], { columns })
    default:
      return fold(fallback(token, theme), { columns })
  }
}

/** HTML and what a later lexer may know: as written. */
const fallback = (token: MarkedToken, theme: Theme): Span[] => ('tokens' in token && token.tokens ? inline(token.tokens, theme) : [{ text: token.raw.trimEnd() }])

function renderList(list: Tokens.List, width: Width): string[] {
  const rows: string[] = []
  const start = list.start === '' ? 1 : list.start
  const widest = list.ordered ? String(start + list.items.length - 1).length + 2 : 2
  for (const [index, item] of list.items.entries()) {
    if (index > 0 && list.loose) rows.push('')
    rows.push(...renderItem(item, list.ordered ? `${start + index}.`.padEnd(widest) : width.theme.ascii ? '- ' : '• ', width))
  }
  return rows
}

function renderItem(item: Tokens.ListItem, mark: string, width: Width): string[] {
  const tokens = item.task && item.tokens[0]?.type !== 'checkbox' && !startsWithBox(item) ? [box(item), ...item.tokens] : item.tokens
  const body = renderBlocks(mergeBox(tokens), narrower(width, columnsOf(mark)))
  const indent = ' '.repeat(columnsOf(mark))
  return (body.length === 0 ? [''] : body).map((row, index) => (index === 0 ? mark + row : row === '' ? '' : indent + row))
}

const box = (item: Tokens.ListItem): Tokens.Checkbox => ({ type: 'checkbox', raw: '', checked: item.checked === true })
const startsWithBox = (item: Tokens.ListItem): boolean => {
  const first = item.tokens[0]
  return first !== undefined && 'tokens' in first && first.tokens?.[0]?.type === 'checkbox'
}

/** The box of a task stands in the line of its text. */
function mergeBox(tokens: readonly Token[]): Token[] {
  const [first, second, ...rest] = tokens
  if (first?.type !== 'checkbox') return [...tokens]
  if (second && (second.type === 'text' || second.type === 'paragraph')) return [{ ...second, tokens: [first, ...(second.tokens ?? [{ type: 'text', raw: second.raw, text: second.raw }])] }, ...rest]
  return [{ type: 'paragraph', raw: '', text: '', tokens: [first] }, ...tokens.slice(1)]
}

const narrower = (width: Width, by: number): Width => ({ ...width, columns: Math.max(8, width.columns - by), soft: false })

const prefixed = (rows: readonly string[], prefix: string): string[] => rows.map((row) => prefix + row)
