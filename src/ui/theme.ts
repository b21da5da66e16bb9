import { Chalk, type ChalkInstance } from 'chalk'

export type Paint = (text: string) => string

/** How things look. Every state is a word as well: with colours off nothing is lost. */
export interface Theme {
  dim: Paint
  strong: Paint
  accent: Paint
  good: Paint
  bad: Paint
  warn: Paint
  emphasis: Paint
  struck: Paint
  heading: Paint
  code: Paint
  link: Paint
  added: Paint
  removed: Paint
  addedWord: Paint
  removedWord: Paint
  /** By highlight.js scope, `title` for `title.function`. */
  syntax: Readonly<Record<string, Paint>>
  /** Nothing is painted: marks that colours would replace are shown. */
  plain: boolean
  /** Only ASCII marks. */
  ascii: boolean
  /** OSC 8 hyperlinks are written. */
  links: boolean
}

export type ThemeName = 'auto' | 'dark' | 'light' | 'none'
export const THEMES: readonly ThemeName[] = ['auto', 'dark', 'light', 'none']

/** What the terminal can do; `level` as chalk has it: 0 nothing, 1 the 16 colours, 2 256, 3 all. */
export interface Abilities {
  level: 0 | 1 | 2 | 3
  ascii: boolean
  links: boolean
}

export const noAbilities: Abilities = { level: 0, ascii: true, links: false }

/** From the environment. `level`: what chalk found. NO_COLOR counts when it is not empty; a dumb terminal gets text alone. */
export function abilities(env: Readonly<Record<string, string | undefined>>, level: 0 | 1 | 2 | 3, noColor = false): Abilities {
  const dumb = env['TERM'] === 'dumb'
  if (dumb || noColor || (env['NO_COLOR'] ?? '') !== '') return { ...noAbilities, ascii: dumb }
  // The Linux console prints what it does not know of an OSC.
  return { level, ascii: false, links: level > 0 && env['TERM'] !== 'linux' && env['TERM_PROGRAM'] !== 'Apple_Terminal' }
}

/** `auto` uses the terminal's own colours only, which fit any background; an unknown name is `auto`. */
export function themeOf(name: string, { level, ascii, links }: Abilities): Theme {
  const plain = level === 0 || name === 'none'
  const paint = new Chalk({ level: plain ? 0 : level })
  const own = level > 1 && (name === 'dark' || name === 'light') ? PALETTES[name] : null
  return {
    dim: paint.dim, strong: paint.bold, emphasis: paint.italic, struck: paint.strikethrough,
    accent: own ? paint.hex(own.accent) : paint.cyan,
    good: own ? paint.hex(own.good) : paint.green,
    bad: own ? paint.hex(own.bad) : paint.red,
    warn: own ? paint.hex(own.warn) : paint.yellow,
    heading: own ? paint.bold.hex(own.accent) : paint.bold,
    code: own ? paint.hex(own.code) : paint.cyan,
    link: paint.underline,
    added: own ? paint.hex(own.good) : paint.green,
    removed: own ? paint.hex(own.bad) : paint.red,
    addedWord: own ? paint.hex(own.good).bgHex(own.addedWord) : paint.green.inverse,
    removedWord: own ? paint.hex(own.bad).bgHex(own.removedWord) : paint.red.inverse,
    syntax: own ? syntaxOf(paint, own.syntax) : basicSyntax(paint),
    plain, ascii, links: links && !plain,
  }
}

interface Palette {
  accent: string
  good: string
  bad: string
  warn: string
  code: string
  addedWord: string
  removedWord: string
  syntax: Readonly<Record<'keyword' | 'string' | 'number' | 'comment' | 'title' | 'type' | 'name', string>>
}

const PALETTES: Readonly<Record<'dark' | 'light', Palette>> = {
  dark: {
    accent: '#7fc8e8', good: '#8fd48f', bad: '#f08f8f', warn: '#e8c56c', code: '#d8b48a', addedWord: '#1f4d2b', removedWord: '#5c2626',
    syntax: { keyword: '#c9a0f0', string: '#a8d08d', number: '#e0b06c', comment: '#8b949e', title: '#7fb8f0', type: '#6fcfc0', name: '#e89f9f' },
  },
  light: {
    accent: '#00658a', good: '#1a6b2a', bad: '#a82020', warn: '#8a5a00', code: '#7a4a10', addedWord: '#c9efd0', removedWord: '#f8d0d0',
    syntax: { keyword: '#7a2fa0', string: '#2a6b1f', number: '#905000', comment: '#66707a', title: '#1f55a0', type: '#006b60', name: '#a03030' },
  },
}

const syntaxOf = (paint: ChalkInstance, colours: Palette['syntax']): Theme['syntax'] => scopes({
  keyword: paint.hex(colours.keyword), string: paint.hex(colours.string), number: paint.hex(colours.number), comment: paint.hex(colours.comment),
  title: paint.hex(colours.title), type: paint.hex(colours.type), name: paint.hex(colours.name), added: paint.hex(colours.string), removed: paint.hex(colours.name),
})

const basicSyntax = (paint: ChalkInstance): Theme['syntax'] => scopes({
  keyword: paint.magenta, string: paint.green, number: paint.yellow, comment: paint.dim, title: paint.blue, type: paint.cyan, name: paint.cyan, added: paint.green, removed: paint.red,
})

const scopes = (by: Readonly<Record<'keyword' | 'string' | 'number' | 'comment' | 'title' | 'type' | 'name' | 'added' | 'removed', Paint>>): Theme['syntax'] => ({
  keyword: by.keyword, literal: by.number, number: by.number, string: by.string, regexp: by.string, comment: by.comment, quote: by.comment, doctag: by.comment, meta: by.comment,
  title: by.title, section: by.title, built_in: by.type, type: by.type, class: by.type, name: by.name, tag: by.name, attr: by.name, attribute: by.name, property: by.name,
  symbol: by.number, bullet: by.number, link: by.string, variable: by.name, 'selector-tag': by.keyword, 'selector-class': by.title, 'selector-id': by.title, 'template-tag': by.keyword,
  addition: by.added, deletion: by.removed,
})
