import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import type { Node, Parser } from 'web-tree-sitter'

export type { Node }

let parser: Promise<Parser> | undefined

/** Bash's grammar, loaded once, on first use (or ahead of it, to have it warm). */
export function loadShellGrammar(): Promise<Parser> {
  parser ??= load()
  return parser
}

async function load(): Promise<Parser> {
  // Bash's lexer is one huge function: to optimise it costs V8 half a gigabyte and 20 s of a core, and holds up the exit. Parsing a command does not need it.
  for (const flag of ['--no-wasm-dynamic-tiering', '--no-wasm-tier-up']) setFlagsFromString(flag)
  const { Language, Parser } = await import('web-tree-sitter')
  await Parser.init({ locateFile: () => wasm('web-tree-sitter/web-tree-sitter.wasm') })
  const loaded = new Parser()
  loaded.setLanguage(await Language.load(wasm('tree-sitter-bash/tree-sitter-bash.wasm')))
  return loaded
}

/** Beside the bundle's chunks (scripts/build.js copies it there), else in the package. */
function wasm(specifier: string): string {
  const beside = fileURLToPath(new URL(specifier.slice(specifier.lastIndexOf('/') + 1), import.meta.url))
  return existsSync(beside) ? beside : createRequire(import.meta.url).resolve(specifier)
}

/**
 * Why this tree may not be what bash would make of the text; null: it is. The grammar is nobody's specification of
 * bash, so its tokens are looked at again here: between them only blanks, in them nothing that would end a word.
 */
export function doubt(root: Node, source: string): string | null {
  if (root.hasError) return 'it could not be parsed'
  // Bash takes these as parts of words, the grammar as blanks.
  if (/[^\S \t\n]|[\x00-\x08\x0e-\x1f\x7f]/.test(source)) return 'it holds control characters or unusual blanks'
  let before: Node | null = null
  for (const leaf of leaves(root)) {
    const why = gap(source, before, leaf) ?? oddToken(leaf)
    if (why) return why
    before = leaf
  }
  return gap(source, before, null)
}

function* leaves(node: Node): Generator<Node> {
  if (node.childCount === 0) {
    if (node.endIndex > node.startIndex) yield node
    return
  }
  for (const child of node.children) yield* leaves(child)
}

function gap(source: string, before: Node | null, next: Node | null): string | null {
  const [from, to] = [before?.endIndex ?? 0, next?.startIndex ?? source.length]
  const between = source.slice(from, to)
  const strange = 'it could not be parsed for certain'
  if (to < from || !/^(?:[ \t\n]|\\\n)*$/.test(between)) return strange
  // A continued line joins what stands on both sides unless there is a blank.
  if (/(?:^|[^ \t\n])\\\n/.test(between) && !/^[ \t]/.test(between)) return 'a word is continued on the next line'
  // Bash agrees that it is an argument; a person who reads it may not.
  if (between.includes('\\\n') && next?.type === 'word' && !next.text.startsWith('-')) return 'a line goes on with a word that looks like a command of its own'
  if (next?.type === 'comment' && from > 0 && between === '' && !/[;&|()\n]/.test(source[from - 1] ?? '')) return strange
  if (before && next && between.replaceAll('\\\n', '').includes('\n') && !endsAtNewline(before, next)) return strange
  return null
}

/** A newline between two tokens ends a command, so nothing that is one command may hold both. */
function endsAtNewline(before: Node, next: Node): boolean {
  const above = new Set<number>()
  for (let node: Node | null = before; node; node = node.parent) above.add(node.id)
  for (let node: Node | null = next; node; node = node.parent) if (above.has(node.id)) return OF_SEVERAL.has(node.type)
  return false
}
const OF_SEVERAL: ReadonlySet<string> = new Set([
  'program', 'list', 'pipeline', 'compound_statement', 'subshell', 'command_substitution', 'process_substitution', 'do_group', 'if_statement', 'elif_clause', 'else_clause', 'while_statement', 'for_statement', 'case_statement', 'case_item', 'function_definition',
])

function oddToken({ type, text, isNamed, parent }: Node): string | null {
  const strange = `it could not be parsed for certain (${type})`
  if (!isNamed) return null
  if (type.startsWith('heredoc')) return 'it holds a here-document'
  const fits = TOKENS[type]
  if (!fits) return strange
  if (!fits.test(text)) return strange
  return type === 'word' && text.startsWith('#') && parent?.type !== 'concatenation' ? strange : null
}

/** What a token of each kind may look like; kinds that are not here are doubted. */
const TOKENS: Readonly<Record<string, RegExp>> = {
  word: /^(?:[^\s;&|<>()"'`$\\]|\\[^\n]|\$$)+$/,
  string_content: /^(?:[^"`$\\]|\\[\s\S]|\$(?![\w({@*#?$!-]))*$/,
  raw_string: /^'[^']*'$/,
  ansi_c_string: /^\$'(?:[^'\\]|\\[\s\S])*'$/,
  number: /^-?\d+$/,
  variable_name: /^\w+$/,
  special_variable_name: /^[*@?!#$_0-9-]$/,
  file_descriptor: /^\d+$/,
  test_operator: /^-\w+$/,
  extglob_pattern: /^[^\s;&|<>()"'`$\\]+$/,
  comment: /^#[^\n]*$/,
}
