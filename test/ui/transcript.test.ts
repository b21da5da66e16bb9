import { expect, test } from 'vitest'
import { transcript } from '../../src/ui/transcript.ts'

const numbered = (count: number, from = 0): string => Array.from({ length: count }, (_, index) => `line ${from + index}\n`).join('')

test('the end is shown, folded to the window, and again when the window changes', () => {
  const kept = transcript()
  kept.add(numbered(3))
  kept.add('a long line of words\n')
  expect(kept.window(40, 2)).toEqual({ lines: ['line 2', 'a long line of words'], below: 0 })
  expect(kept.window(10, 4).lines).toEqual(['line 2', 'a long', 'line of', 'words'])
  expect(kept.window(40, 9).lines).toHaveLength(4)
})

test('who looks at something earlier goes on looking at it while more is printed', () => {
  const kept = transcript()
  kept.add(numbered(100))
  kept.window(40, 10)
  kept.scroll(50)
  expect(kept.window(40, 10).lines.at(-1)).toBe('line 49')
  kept.add(numbered(20, 100))
  expect(kept.window(40, 10)).toMatchObject({ below: 70, lines: expect.arrayContaining(['line 40', 'line 49']) as string[] })
  kept.scroll(-1_000)
  expect(kept.window(40, 10).lines.at(-1)).toBe('line 119')
  kept.scroll(1_000)
  expect(kept.window(40, 10).lines[0]).toBe('line 0')
})

test('a blank line that was printed is a blank line', () => {
  const kept = transcript()
  kept.add('\na\n')
  kept.add('\nb\n')
  expect(kept.window(10, 9).lines).toEqual(['', 'a', '', 'b'])
})
