import type { HLJSApi, LanguageFn } from 'highlight.js'
import type { Span } from './spans.ts'
import type { Paint, Theme } from './theme.ts'

const MOST_LINES = 400
const MOST_CHARACTERS = 20_000

/** One file a language, read when it is first met. */
const LANGUAGES: Readonly<Record<string, () => Promise<{ default: LanguageFn }>>> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  diff: () => import('highlight.js/lib/languages/diff'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  go: () => import('highlight.js/lib/languages/go'),
  graphql: () => import('highlight.js/lib/languages/graphql'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  lua: () => import('highlight.js/lib/languages/lua'),
  makefile: () => import('highlight.js/lib/languages/makefile'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  php: () => import('highlight.js/lib/languages/php'),
  python: () => import('highlight.js/lib/languages/python'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  scss: () => import('highlight.js/lib/languages/scss'),
  shell: () => import('highlight.js/lib/languages/shell'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
}

const OTHER_NAMES: Readonly<Record<string, string>> = {
  sh: 'bash', zsh: 'bash', console: 'shell', h: 'c', 'c++': 'cpp', hpp: 'cpp', cc: 'cpp', cs: 'csharp', 'c#': 'csharp', patch: 'diff', docker: 'dockerfile', golang: 'go', gql: 'graphql', toml: 'ini',
  js: 'javascript', jsx: 'javascript', mjs: 'javascript', cjs: 'javascript', jsonc: 'json', json5: 'json', jsonl: 'json', kt: 'kotlin', make: 'makefile', md: 'markdown', py: 'python', rb: 'ruby', rs: 'rust',
  ts: 'typescript', tsx: 'typescript', mts: 'typescript', cts: 'typescript', html: 'xml', svg: 'xml', vue: 'xml', yml: 'yaml',
}

let hljs: HLJSApi | null = null
const loading = new Map<string, Promise<void>>()

const nameOf = (language: string): string | null => {
  const lower = language.toLowerCase()
  const name = Object.hasOwn(OTHER_NAMES, lower) ? (OTHER_NAMES[lower] ?? lower) : lower
  return Object.hasOwn(LANGUAGES, name) ? name : null
}

/** Null: it is loaded already, or not known. */
export function loadLanguage(language: string): Promise<void> | null {
  const name = nameOf(language)
  if (name === null || hljs?.getLanguage(name)) return null
  const known = loading.get(name) ?? load(name)
  loading.set(name, known)
  return known
}

async function load(name: string): Promise<void> {
  const [core, language] = await Promise.all([import('highlight.js/lib/core'), LANGUAGES[name]?.()])
  hljs ??= core.default
  if (language) hljs.registerLanguage(name, language.default)
}

/** The code's lines in colours; null: as it is (no colours, not loaded yet, not known, or too long). */
export function highlight(code: string, language: string, theme: Theme): Span[][] | null {
  const name = nameOf(language)
  if (theme.plain || name === null || !hljs?.getLanguage(name) || code.length > MOST_CHARACTERS || code.split('\n').length > MOST_LINES) return null
  try {
    return toLines(hljs.highlight(code, { language: name, ignoreIllegals: true }).value, theme)
  } catch {
    return null
  }
}

/** From highlight.js's HTML, which is its stable output: spans with a class, and five entities. */
function toLines(html: string, theme: Theme): Span[][] {
  const lines: Span[][] = [[]]
  const open: (Paint | undefined)[] = []
  for (const [, scope, close, text] of html.matchAll(/<span class="([^"]*)">|(<\/span>)|([^<]+)/g)) {
    if (scope !== undefined) open.push(paintOf(scope, theme) ?? open.at(-1))
    else if (close !== undefined) open.pop()
    else {
      for (const [index, piece] of unescape(text ?? '').split('\n').entries()) {
        if (index > 0) lines.push([])
        if (piece !== '') lines.at(-1)?.push({ text: piece, paint: open.at(-1) })
      }
    }
  }
  return lines
}

function paintOf(scope: string, theme: Theme): Paint | undefined {
  const name = (scope.split(' ')[0] ?? '').replace(/^hljs-/, '')
  return Object.hasOwn(theme.syntax, name) ? theme.syntax[name] : undefined
}

const unescape = (text: string): string => text.replace(/&(lt|gt|quot|#x27|amp);/g, (_, name: string) => ({ lt: '<', gt: '>', quot: '"', '#x27': "'", amp: '&' })[name] ?? '')
