import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { sanitize } from '../../src/core/sanitize.ts'
import { loadLanguage } from '../../src/ui/highlight.ts'
import { loadMarkdown, renderMarkdown } from '../../src/ui/markdown.ts'
import type { Width } from '../../src/ui/spans.ts'
import { noAbilities, themeOf } from '../../src/ui/theme.ts'
import { columns, leaks, markdown, widest } from './widths.ts'

const none = themeOf('none', noAbilities)
const rich = themeOf('dark', { level: 3, ascii: false, links: true })
const auto = themeOf('auto', { level: 1, ascii: false, links: false })
const render = (text: string, width: Partial<Width> = {}): string => renderMarkdown(text, { columns: 80, theme: none, ...width })

beforeAll(async () => {
  // Before it is loaded, Markdown is shown as it was written.
  expect(render('**a** `b`')).toBe('**a** `b`')
  await loadMarkdown()
  await loadLanguage('ts')
})

test('emphasis, code and struck text', () => {
  expect(render('a **b _c_** `d` ~~e~~ \\* &lt;f&gt;', { theme: auto })).toBe('a \x1b[1mb \x1b[22m\x1b[3m\x1b[1mc\x1b[22m\x1b[23m \x1b[36md\x1b[39m \x1b[9me\x1b[29m * <f>')
  expect(render('a **b** `d` ~~e~~')).toBe('a b `d` ~~e~~')
})

test('nested, ordered and task lists', () => {
  const list = '- one **b**\n  - two\n    1. three\n- [x] done\n- [ ] open\n\n8. eight\n9. nine\n10. ten'
  expect(render(list)).toBe('- one b\n  - two\n    1. three\n- [x] done\n- [ ] open\n\n8.  eight\n9.  nine\n10. ten')
  expect(render('- [x] a\n\n  more\n\n- [ ] b')).toBe('- [x] a\n\n  more\n\n- [ ] b')
})

test('a folded item hangs under its text', () => {
  expect(render('- one two three four\n  - five six seven', { columns: 12 })).toBe('- one two\n  three four\n  - five six\n    seven')
})

test('a table keeps its alignment and the width of wide characters', () => {
  expect(render('| name | n | c |\n|:--|--:|:-:|\n| 你好 | 1 | x |\n| a | 22 | yy |')).toBe('name |  n | c\n-----+----+---\n你好 |  1 | x\na    | 22 | yy')
})

test('a table that is too wide folds its cells, and one that is far too wide becomes pairs', () => {
  const table = '| key | what it means |\n|--|--|\n| a | one two three four five |\n| b | six |'
  expect(render(table, { columns: 22 })).toBe('key | what it means\n----+-----------------\na   | one two three\n    | four five\nb   | six')
  expect(render(table, { columns: 11 })).toBe('key: a\nwhat it\nmeans: one\ntwo three\nfour five\n\nkey: b\nwhat it\nmeans: six')
})

test('a piece of a long table keeps the columns of the piece that began it', () => {
  const head = '| name | num |\n|:--|--:|\n| long name | 1 |'
  expect(renderMarkdown('| b | 22 |', { columns: 80, theme: none }, head)).toBe('b         |  22')
})

test('a quote has its bar on every row, a rule is short, HTML is text', () => {
  expect(render('> one two three\n> - four', { columns: 12, theme: { ...none, ascii: false } })).toBe('│ one two\n│ three\n│ - four'.replace('- four', '• four'))
  expect(render('---', { columns: 200 })).toBe('-'.repeat(24))
  expect(render('<script>alert(1)</script> <b>x</b>')).toBe('<script>alert(1)</script> <b>x</b>')
})

test('only web and file links are links, and where they lead is seen when the text says otherwise', () => {
  const link = (text: string): string => render(text, { theme: rich })
  expect(link('[bank](https://evil.example/x)')).toBe('\x1b]8;;https://evil.example/x\x1b\\\x1b[4mbank\x1b[24m\x1b]8;;\x1b\\\x1b[2m (evil.example)\x1b[22m')
  expect(link('https://a.example/x')).toBe('\x1b]8;;https://a.example/x\x1b\\\x1b[4mhttps://a.example/x\x1b[24m\x1b]8;;\x1b\\')
  expect(link('[a](javascript:alert(1)) [b](data:text/html,x)')).not.toContain('\x1b]8')
  expect(render('[https://bank.example](https://evil.example)')).toBe('https://bank.example (https://evil.example/)')
  expect(leaks(link(sanitize('[x](https://a.example/\u001b]8;;evil)')))).toBe(null)
  expect(leaks(link('[x](<https://a.example/ü 日本>)'))).toBe(null)
})

test('code is shown between its marks, in colours where the language is known, and untouched without colours', () => {
  expect(render('```ts\nconst a = 1\n\n  b\n```')).toBe('```ts\nconst a = 1\n\n  b\n```')
  expect(render('```ts\nconst a = 1\n```', { theme: auto })).toBe('\x1b[2m```ts\x1b[22m\n\x1b[35mconst\x1b[39m \x1b[36ma\x1b[39m = \x1b[33m1\x1b[39m\n\x1b[2m```\x1b[22m'.replace('\x1b[36ma\x1b[39m', 'a'))
  expect(render('```ts\nconst a = "<&>" // x\n```', { theme: rich }).replaceAll(/\x1b\[[0-9;]*m/g, '')).toBe('```ts\nconst a = "<&>" // x\n```')
  expect(render('```nonsense\na\n```', { theme: rich })).toContain('\na\n')
})

test('a long line of code is left to the terminal when it may be, else it is folded without loss', () => {
  const long = 'x = '.repeat(20)
  expect(render(`\`\`\`\n${long}\n\`\`\``, { columns: 20, soft: true }).split('\n')[1]).toBe(long)
  expect(render(`\`\`\`\n${long}\n\`\`\``, { columns: 20 }).split('\n').slice(1, -1).join('')).toBe(long)
})

test('what would keep the lexer busy for long is shown as it is, at once', () => {
  for (const text of ['**a *b'.repeat(2_500), '> '.repeat(5_000), '- '.repeat(5_000), '['.repeat(40_000), `${'> - '.repeat(100)}x`, '_a_b'.repeat(4_000)]) {
    expect(render(text).replaceAll(/\s/g, '').length).toBeGreaterThanOrEqual(text.replaceAll(/\s/g, '').length)
  }
})

test('no row is wider than the window, and no control sequence is written', () => {
  fc.assert(
    fc.property(markdown, columns, fc.constantFrom(none, rich, auto), (text, width, theme) => {
      const out = renderMarkdown(sanitize(text), { columns: width, theme })
      expect(widest(out.split('\n'))).toBeLessThanOrEqual(width)
      expect(leaks(out)).toBe(null)
    }),
    { numRuns: 250 },
  )
})

test('no word is lost, whatever the width', () => {
  const text = fc.array(fc.constantFrom('alpha', 'beta', '你好世界', 'gamma-delta', '👩‍👩‍👧', 'x'.repeat(50)), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(text, columns, (words, width) => {
      expect(render(words.join(' '), { columns: width }).replaceAll(/\s/g, '')).toBe(words.join(''))
    }),
  )
})
