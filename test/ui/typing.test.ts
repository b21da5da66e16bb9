import { expect, test } from 'vitest'
import { typing, type Typed } from '../../src/ui/typing.ts'

const text = (what: string): Typed => ({ type: 'text', text: what })
const enter: Typed = { type: 'enter' }

test('an Enter that is pressed sends at once', () => {
  const burst = typing()
  expect(burst.text('i', 0)).toEqual([text('i')])
  expect(burst.enter(80)).toEqual([enter])
  expect(burst.held()).toBe(false)
})

test('text and Enter in one chunk is text, then a pressed Enter', () => {
  const burst = typing()
  expect(burst.text('go on\r', 0)).toEqual([text('go on')])
  expect(burst.held()).toBe(true)
  expect(burst.settle()).toEqual([enter])
})

test('lines pasted without markers are one text, and nothing is sent (T11)', () => {
  const whole = typing()
  expect(whole.text('l1\rl2\rl3\r\nl4', 0)).toEqual([text('l1\nl2\nl3\nl4')])
  expect(whole.settle()).toEqual([])
  const pieces = typing()
  const out = ['l1\r', 'l2\r', 'l3\r\n', 'l4'].flatMap((chunk, index) => pieces.text(chunk, index * 2))
  expect(out).toEqual([text('l1'), text('\nl2'), text('\nl3'), text('\nl4')])
  expect(pieces.settle()).toEqual([])
})

test('lone Enters in the middle of a burst are line ends, two of them an empty line', () => {
  const burst = typing()
  expect([...burst.text('l1', 0), ...burst.enter(1), ...burst.enter(2), ...burst.text('l2', 3)]).toEqual([text('l1'), text('\n\nl2')])
})

test('a second Enter right after the first is nothing more (C19)', () => {
  const burst = typing()
  expect([...burst.text('hi', 0), ...burst.enter(2), ...burst.enter(4), ...burst.settle()]).toEqual([text('hi'), enter])
})
