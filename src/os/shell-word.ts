import { expandGlob } from './shell-glob.ts'
import type { Node } from './shell-grammar.ts'

/** One word of a command line. */
export interface Word {
  /** For rules and people: as bash will see it, or as it is written where that is only known at run time. */
  shown: string
  /** Every word it may become (globs are expanded); null: only known at run time. */
  values: readonly string[] | null
}

export const fixed = (text: string): Word => ({ shown: text, values: [text] })
export const open = (shown: string): Word => ({ shown, values: null })

export interface WordSurroundings {
  /** Where the command may stand; null: anywhere. */
  cwds: readonly string[] | null
  home: string
}

interface Piece { text: string; quoted: boolean }

/** What a word is after quotes, escapes, `~` and globs. Substitutions make it open; who calls looks into them. */
export function wordOf(node: Node, surroundings: WordSurroundings): Word {
  const pieces = piecesOf(node)
  if (!pieces) return open(node.text)
  let text = pieces.map((piece) => piece.text).join('')
  const first = pieces[0]
  const bare = pieces.filter((piece) => !piece.quoted).map((piece) => piece.text).join('')
  if (/\{[\s\S]*(?:,|\.\.)/.test(bare)) return open(node.text)
  if (first && !first.quoted && first.text.startsWith('~')) {
    if (!/^~(?:\/|$)/.test(first.text) || (first.text === '~' && pieces.length > 1)) return open(node.text)
    text = surroundings.home + text.slice(1)
  }
  if (!/[*?[]/.test(bare)) return fixed(text)
  const pattern = pieces.map((piece) => (piece.quoted ? piece.text.replace(/[\\*?[\]]/g, String.raw`\$&`) : piece.text)).join('')
  const values = expandGlob(pattern.startsWith('~') ? surroundings.home + pattern.slice(1) : pattern, surroundings.cwds)
  return { shown: text, values }
}

/** null: some of it is only known at run time. */
function piecesOf(node: Node): Piece[] | null {
  switch (node.type) {
    case 'word':
    case 'number':
    case 'extglob_pattern':
      return unescape(node.text)
    case 'raw_string':
      return [{ text: node.text.slice(1, -1), quoted: true }]
    case 'string': {
      const inside = node.text.slice(1, -1)
      const plain = node.children.every((child) => !child.isNamed || child.type === 'string_content')
      return plain ? [{ text: inside.replace(/\\(?:([$`"\\])|\n)/g, '$1'), quoted: true }] : null
    }
    case 'ansi_c_string': {
      const text = decode(node.text.slice(2, -1))
      return text === null ? null : [{ text, quoted: true }]
    }
    case 'command_name':
    case 'concatenation': {
      const all: Piece[] = []
      let end = node.startIndex
      for (const child of node.children) {
        const pieces = child.startIndex === end && child.isNamed ? piecesOf(child) : null
        if (!pieces) return null
        all.push(...pieces)
        end = child.endIndex
      }
      return all
    }
    case 'process_substitution':
      return [{ text: '/dev/fd/63', quoted: true }]
    default:
      return null
  }
}

const unescape = (text: string): Piece[] =>
  [...text.matchAll(/\\([\s\S])|[^\\]+/g)].map(([whole, escaped]) => (escaped === undefined ? { text: whole, quoted: false } : { text: escaped, quoted: true }))

const SIMPLE: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', v: '\v', '\\': '\\', "'": "'", '"': '"', '?': '?' }

/** `$'…'`; null: an escape that is not worth knowing. */
function decode(text: string): string | null {
  let known = true
  const decoded = text.replace(/\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|([\s\S]))/g, (_whole, hex: string | undefined, octal: string | undefined, simple: string | undefined) => {
    if (simple !== undefined) known &&= Object.hasOwn(SIMPLE, simple)
    const code = hex ? parseInt(hex, 16) : octal ? parseInt(octal, 8) : 0
    if (simple === undefined && (code === 0 || code > 0x7e)) known = false
    return simple === undefined ? String.fromCharCode(code) : (SIMPLE[simple] ?? '')
  })
  return known ? decoded : null
}
