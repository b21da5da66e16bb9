import { expect, test } from 'vitest'
import { restoreTerminal, titleSequence } from '../../src/ui/terminal.ts'

test('a window title holds no control character, whatever a folder or a branch is called (T16)', () => {
  const hostile = 'p\x07\x1b]52;c;ZWNobw==\x07 \x9d52;c;Zm9v\x9c main\r\n\x1b\\ \u202etxt'
  const title = titleSequence(`Tiller: ${hostile}`)
  expect(title.startsWith('\x1b]2;Tiller: p')).toBe(true)
  expect(title.endsWith('\x1b\\')).toBe(true)
  expect(title.slice(4, -2)).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/)
  expect(titleSequence('x'.repeat(10_000)).length).toBeLessThan(250)
})

test('putting the terminal back never throws, also when it is gone', () => {
  const gone = (): never => {
    throw new Error('EIO')
  }
  expect(() => restoreTerminal({ input: { setRawMode: gone }, output: { isTTY: true, write: gone } })).not.toThrow()
})
