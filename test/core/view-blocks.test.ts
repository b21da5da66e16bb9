import { expect, test } from 'vitest'
import fc from 'fast-check'
import { feed, finish, noBlocks, unfinished, type Block } from '../../src/core/view-blocks.ts'

const split = (text: string, sizes: readonly number[] = [text.length || 1]): Block[] => {
  let blocks = noBlocks
  const out: Block[] = []
  for (let at = 0, index = 0; at < text.length; index++) {
    const size = sizes[index % sizes.length]!
    const fed = feed(blocks, text.slice(at, at + size))
    blocks = fed.blocks
    out.push(...fed.done)
    at += size
  }
  return [...out, ...finish(blocks)]
}
const texts = (text: string): string[] => split(text).map((block) => block.text)

test('a blank line ends a block, a heading and a fence are blocks of their own', () => {
  expect(texts('# Title\none\ntwo\n\nthree\n```ts\nlet a\n\nlet b\n```\nfour')).toEqual(['# Title', 'one\ntwo', 'three', 'let a\n\nlet b', 'four'])
})

test('a list keeps its loose items, their paragraphs and fences', () => {
  const list = '1. one\n\n   more of one\n\n   ```sh\n   a\n\n   b\n   ```\n\n2. two\n   - nested'
  expect(texts(`${list}\n\nafter`)).toEqual([list, 'after'])
})

test('a table stays whole and a long one comes in pieces that know its first one', () => {
  const head = '| a | b |\n| --- | ---: |'
  expect(texts(`${head}\n| 1 | 2 |\n\nafter`)).toEqual([`${head}\n| 1 | 2 |`, 'after'])
  const pieces = split(`${head}\n${'| 1 | 2 |\n'.repeat(150)}`)
  expect(pieces.length).toBe(3)
  expect(pieces.map((piece) => piece.table?.startsWith(head) ?? null)).toEqual([null, true, true])
  expect(pieces.map((piece) => piece.joins)).toEqual([false, true, true])
})

test('a long fence is given out in pieces that join to the whole', () => {
  const code = Array.from({ length: 100 }, (_, index) => `line ${index}${index % 7 === 0 ? '\n' : ''}`).join('\n')
  const pieces = split(`before\n~~~py extra\n${code}\n~~~\nafter`)
  const fences = pieces.filter((piece) => piece.fence)
  expect(fences.map((piece) => piece.text).join('\n')).toBe(code)
  expect(fences.every((piece) => piece.fence?.language === 'py')).toBe(true)
  expect(fences.filter((piece) => piece.fence?.first).length).toBe(1)
  expect(fences.filter((piece) => piece.fence?.last).length).toBe(1)
  expect(pieces.at(-1)?.text).toBe('after')
})

test('a fence that never ends is closed at the end, and an inner shorter fence does not close it', () => {
  expect(split('````md\n```js\nx\n```\n').map((block) => [block.text, block.fence])).toEqual([['```js\nx\n```', { language: 'md', first: true, last: true }]])
})

test('a line without an end is broken, and nothing of it is lost', () => {
  const line = 'word '.repeat(5_000).trim()
  const pieces = split(line, [13])
  expect(pieces.length).toBeGreaterThan(5)
  expect(pieces.map((piece) => piece.text).join('').replaceAll(/\s/g, '')).toBe(line.replaceAll(' ', ''))
})

const markdown = fc
  .array(fc.constantFrom('text', '- item', '  more', '1. one', '```ts', '```', '~~~', '', '', '| a | b |', '|---|:-:|', '# head', '> quote', '    code', 'a\tb', '你好 👩‍👩‍👧', '\u001b]52;c;x\u0007', 'x\r', '***', 'x'.repeat(4_100)), { maxLength: 60 })
  .map((lines) => lines.join('\n'))

test('where the cuts fall depends on the text and not on how it came', () => {
  fc.assert(
    fc.property(markdown, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 }), (text, sizes) => {
      expect(split(text, sizes)).toEqual(split(text))
    }),
  )
})

test('every visible character is given out once, in order, and no control character is', () => {
  fc.assert(
    fc.property(markdown, (text) => {
      const given = split(text).map((block) => block.text).join('\n')
      expect(given).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
      const visible = (from: string): string => from.replaceAll(/\x1b\].*?\x07/g, '').replaceAll(/^ {0,3}(```|~~~).*$/gm, '').replaceAll(/[\s`~]|ts$/g, '')
      expect(visible(given)).toBe(visible(text))
    }),
  )
})

test('what is held back stays small', () => {
  let blocks = noBlocks
  let most = 0
  for (let index = 0; index < 20_000; index++) {
    blocks = feed(blocks, index % 3 === 0 ? '```js\n' : `token ${index} `.repeat(3) + (index % 5 === 0 ? '\n' : '')).blocks
    most = Math.max(most, unfinished(blocks).length)
  }
  expect(most).toBeLessThan(12 * 4_100)
})
