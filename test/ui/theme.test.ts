import { expect, test } from 'vitest'
import { elapsed, money, took, tokens } from '../../src/ui/figures.ts'
import { fold, safeLink } from '../../src/ui/spans.ts'
import { abilities, THEMES, themeOf } from '../../src/ui/theme.ts'

test('NO_COLOR, --no-color and a dumb terminal get no colours; an empty NO_COLOR does not count', () => {
  expect(abilities({ NO_COLOR: '1' }, 3)).toEqual({ level: 0, ascii: false, links: false })
  expect(abilities({ NO_COLOR: '' }, 3)).toEqual({ level: 3, ascii: false, links: true })
  expect(abilities({}, 3, true)).toEqual({ level: 0, ascii: false, links: false })
  expect(abilities({ TERM: 'dumb' }, 2)).toEqual({ level: 0, ascii: true, links: false })
  expect(abilities({ TERM: 'linux' }, 1).links).toBe(false)
})

test('each theme paints, none paints nothing, and auto keeps to the colours of the terminal', () => {
  for (const name of THEMES) {
    const theme = themeOf(name, { level: 3, ascii: false, links: true })
    expect(theme.bad('x') === 'x').toBe(name === 'none')
    expect(theme.links).toBe(name !== 'none')
    if (name === 'auto') for (const paint of [theme.good, theme.code, theme.addedWord, ...Object.values(theme.syntax)]) expect(paint('x')).not.toContain('[38;')
  }
  expect(themeOf('unknown', { level: 1, ascii: false, links: false }).good('x')).toBe('\x1b[32mx\x1b[39m')
})

test('a link target is http, https or file, and nothing that could end the sequence', () => {
  expect(safeLink('https://a.example/x y')).toEqual({ href: 'https://a.example/x%20y', host: 'a.example' })
  for (const bad of ['javascript:alert(1)', 'data:text/html,x', 'vscode://x', 'relative/path', '#a', `https://a/${'x'.repeat(3_000)}`]) expect(safeLink(bad)).toBe(undefined)
})

test('text folds at blanks and between wide characters, and never in the middle of one', () => {
  expect(fold([{ text: 'one two  three' }], { columns: 7 })).toEqual(['one two', 'three'])
  expect(fold([{ text: '你好世界' }], { columns: 5 })).toEqual(['你好', '世界'])
  expect(fold([{ text: 'a👩‍👩‍👧b' }], { columns: 2 })).toEqual(['a', '👩‍👩‍👧', 'b'])
  expect(fold([{ text: 'ab cd' }], { columns: 3, first: '> ', rest: '  ' })).toEqual(['> a', '  b', '  c', '  d'])
  expect(fold([{ text: 'a  b\n\nc' }], { columns: 3, anywhere: true })).toEqual(['a  ', 'b', '', 'c'])
})

test('figures', () => {
  expect([took(0), took(999), took(1_000), took(61_000), took(3_700_000)]).toEqual(['0 ms', '999 ms', '1.0 s', '1 min 1 s', '1 h 1 min'])
  expect([elapsed(1_000, 500), elapsed(0, 59_999), elapsed(0, 90_000)]).toEqual(['0 s', '59 s', '1 min 30 s'])
  expect([tokens(999), tokens(1_000), tokens(12_345), tokens(123_456)]).toEqual(['999', '1k', '12.3k', '123k'])
  expect([money({ usd: 0.0123, unknown: false }), money({ usd: 1.5, unknown: true }), money({ usd: 0, unknown: true })]).toEqual(['$0.012', 'over $1.50', 'cost unknown'])
})
