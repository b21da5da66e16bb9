import { sanitize } from './sanitize.ts'

/**
 * Cuts Markdown that is still being written into blocks, line by line: a blank line outside fences ends a block,
 * a heading and a fence are blocks of their own, lists and tables stay whole. What grows very long is given out in
 * pieces, so that what is not given out yet stays small. Where a cut falls depends on the text alone, never on how
 * it was chunked. Everything given out is sanitized.
 */
export interface Blocks {
  /** Whole lines of the block being written, sanitized, each with its newline. */
  block: string
  lines: number
  /** The line being written, as it came. */
  rest: string
  shape: 'none' | 'text' | 'list' | 'table' | 'fence'
  /** A blank line came in a list: the next line says whether the list goes on. */
  blank: boolean
  /** The open fence, in `shape` fence or list. */
  fence: { mark: string; language: string; indent: number } | null
  /** Pieces of this block were given out already. */
  pieces: number
  /** The first piece of a table. */
  table: string | null
}

export interface Block {
  /** Sanitized; no newline at its end. */
  text: string
  /** The block before is an earlier piece of this one. */
  joins: boolean
  /** `text` is code without the fence's own lines. */
  fence: { language: string; first: boolean; last: boolean } | null
  /** `text` is table lines without a head; this piece has it. */
  table: string | null
}

/** Most lines that a block keeps to itself before it is given out in pieces. Short for fences: their pieces join without a seam. */
const KEEP = { none: 1, text: 100, list: 100, table: 60, fence: 12 } as const
const LONG_LINE = 4_000

export const noBlocks: Blocks = { block: '', lines: 0, rest: '', shape: 'none', blank: false, fence: null, pieces: 0, table: null }

/** The next piece of text, and the blocks it completed. Costs what the piece and the line it completes cost. */
export function feed(before: Blocks, text: string): { blocks: Blocks; done: Block[] } {
  const now = { ...before }
  const done: Block[] = []
  let from = 0
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
    addRest(now, text.slice(from, end), done)
    addLine(now, now.rest, done)
    now.rest = ''
    from = end + 1
  }
  addRest(now, text.slice(from), done)
  return { blocks: now, done }
}

/** The text is over: what is left is a block. */
export function finish(before: Blocks): Block[] {
  const now = { ...before }
  const done: Block[] = []
  if (now.rest !== '') addLine(now, now.rest, done)
  give(now, done, true)
  return done
}

/** What is not given out yet, sanitized. */
export const unfinished = (now: Blocks): string => now.block + sanitize(now.rest)

const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/
const INDENTED = /^(?: {2}|\t)/
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/
const DELIMITERS = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/
const FENCE = /^([ \t]*)(?:[-*+]|\d{1,9}[.)])?[ \t]*(`{3,}(?=[^`]*$)|~{3,})[ \t]*([^\s`]*)/

function addLine(now: Blocks, raw: string, done: Block[]): void {
  const line = sanitize(raw.endsWith('\r') ? raw.slice(0, -1) : raw)
  if (now.shape === 'fence') return addToFence(now, line, done)
  if (now.fence) return addToList(now, line, done)
  if (line.trim() === '') return addBlank(now, done)
  const listGoesOn = now.shape === 'list' && (INDENTED.test(line) || LIST_ITEM.test(line))
  if (now.blank && !listGoesOn) give(now, done, true)
  else if (now.blank && LIST_ITEM.test(line) && now.lines >= KEEP.list) give(now, done, true)
  const fence = FENCE.exec(line)
  if (fence && !listGoesOn && !LIST_ITEM.test(line) && (fence[1] ?? '').length < 4) return openFence(now, fence, done)
  if (HEADING.test(line) && !listGoesOn) {
    give(now, done, true)
    append(now, line)
    return give(now, done, true)
  }
  if (now.shape === 'none') now.shape = 'text'
  if (now.shape === 'text' && LIST_ITEM.test(line)) now.shape = 'list'
  else if (now.shape === 'text' && now.lines === 1 && line.includes('|') && DELIMITERS.test(line)) now.shape = 'table'
  if (now.shape === 'list' && fence) now.fence = toFence(fence)
  append(now, line)
  now.blank = false
  if (now.lines >= KEEP[now.shape] && now.shape !== 'list') give(now, done, false)
}

function addBlank(now: Blocks, done: Block[]): void {
  if (now.shape !== 'list') return give(now, done, true)
  append(now, '')
  now.blank = true
}

function addToFence(now: Blocks, line: string, done: Block[]): void {
  if (closes(now.fence, line)) return give(now, done, true)
  const indent = now.fence?.indent ?? 0
  append(now, indent > 0 ? line.slice(Math.min(indent, line.length - line.trimStart().length)) : line)
  if (now.lines >= KEEP.fence) give(now, done, false)
}

function addToList(now: Blocks, line: string, done: Block[]): void {
  append(now, line)
  if (closes(now.fence, line)) now.fence = null
  else if (now.lines >= KEEP.list * 4) give(now, done, true)
}

function openFence(now: Blocks, fence: RegExpExecArray, done: Block[]): void {
  give(now, done, true)
  now.shape = 'fence'
  now.fence = toFence(fence)
}

const toFence = ([, indent = '', mark = '', info = '']: RegExpExecArray): NonNullable<Blocks['fence']> => ({
  mark, indent: indent.length, language: /^[\w+#.-]{1,24}/.exec(info)?.[0] ?? '',
})

function closes(fence: Blocks['fence'], line: string): boolean {
  const trimmed = line.trim()
  return fence !== null && trimmed.length >= fence.mark.length && trimmed === (fence.mark[0] ?? '').repeat(trimmed.length)
}

/** A line without an end would stay unseen: it is broken, at a space where there is one. */
function addRest(now: Blocks, text: string, done: Block[]): void {
  now.rest += text
  while (now.rest.length > LONG_LINE) cutLongLine(now, done)
}

function cutLongLine(now: Blocks, done: Block[]): void {
  const space = now.rest.lastIndexOf(' ', LONG_LINE)
  const cut = space > LONG_LINE / 2 ? space + 1 : LONG_LINE - (isHighSurrogate(now.rest.charCodeAt(LONG_LINE - 1)) ? 1 : 0)
  const start = now.rest.slice(0, cut)
  now.rest = now.rest.slice(cut)
  addLine(now, start, done)
  if (now.shape !== 'none') give(now, done, false)
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

function append(now: Blocks, line: string): void {
  now.block += `${line}\n`
  now.lines++
}

/** Gives out what there is, as the block's end or as a piece of it. */
function give(now: Blocks, done: Block[], last: boolean): void {
  const { shape, fence, pieces } = now
  const text = now.block.slice(0, -1)
  if (shape === 'fence' && (last || now.lines > 0)) {
    done.push({ text, joins: pieces > 0, fence: { language: fence?.language ?? '', first: pieces === 0, last }, table: null })
  } else if (text.trim() !== '') {
    done.push({ text: text.replace(/\n+$/, ''), joins: pieces > 0, fence: null, table: now.table })
    if (shape === 'table' && !last) now.table ??= text
  }
  now.block = ''
  now.lines = 0
  now.blank = false
  if (!last) now.pieces++
  else Object.assign(now, { shape: 'none', fence: null, pieces: 0, table: null })
}
