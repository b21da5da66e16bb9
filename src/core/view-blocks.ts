/**
 * Cuts Markdown that is still being written into blocks, line by line: a blank line outside fences ends a block,
 * a fence is one of its own, lists and tables stay whole. A block that grows very long is given out in pieces.
 * Where a cut falls depends on the text alone, never on how it was chunked.
 */
export interface Blocks {
  /** Whole lines of the block being written, as they came. */
  block: string
  lines: number
  /** The line being written. */
  rest: string
  shape: 'none' | 'text' | 'list' | 'table' | 'fence'
  /** A blank line came in a list: the next line says whether it goes on. */
  blank: boolean
  fence: { mark: string; language: string; indent: number } | null
  /** Pieces of this block were given out already. */
  pieces: boolean
  /** The head of a table of which pieces were given out. */
  table: string | null
}

export interface Block {
  /** Sanitized, without the newline at its end. */
  text: string
  joins: boolean
  fence: { language: string; last: boolean } | null
  table: string | null
}
