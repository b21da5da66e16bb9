import { closeSync, fstatSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RawLine } from '../../src/session/lines.ts'
import { linesBack, linesFrom } from '../../src/session/lines.ts'
import { scratch } from './scratch.ts'

function read(bytes: Buffer): { forward: [number, string, boolean][]; back: [number, string, boolean][] } {
  const file = join(scratch(), 'lines')
  writeFileSync(file, bytes)
  const fd = openSync(file, 'r')
  const forward: [number, string, boolean][] = []
  for (const line of linesFrom(fd)) forward.push([line.offset, line.bytes.toString('latin1'), line.ended])
  const back: [number, string, boolean][] = []
  for (const line of linesBack(fd, fstatSync(fd).size)) back.push([line.offset, line.bytes.toString('latin1'), line.ended])
  closeSync(fd)
  return { forward, back: back.reverse() }
}

test('lines read from either end are the same, whatever the bytes are', () => {
  const bytes = fc.array(fc.oneof(fc.constant(10), fc.constant(13), fc.integer({ min: 0, max: 255 })), { maxLength: 60 })
  fc.assert(
    fc.property(bytes, (all) => {
      const { forward, back } = read(Buffer.from(all))
      expect(back).toEqual(forward)
      expect(forward.map(([, text, ended]) => text + (ended ? '\n' : '')).join('')).toBe(Buffer.from(all).toString('latin1'))
    }),
    { numRuns: 300 },
  )
})

test('lines longer than the pieces in which a file is read are whole from either end', () => {
  const all = ['a'.repeat(70_000), '', 'b'.repeat(3_000_000), 'c', 'd'.repeat(1024 * 1024 - 1), 'e'.repeat(65_536), 'f']
  const { forward, back } = read(Buffer.from(all.join('\n')))
  expect(forward.map(([, text]) => text.length)).toEqual(all.map((line) => line.length))
  expect(forward.map(([, text]) => text).join('\n') === all.join('\n')).toBe(true)
  expect(back.map(([offset, text, ended]) => [offset, text.length, ended])).toEqual(forward.map(([offset, text, ended]) => [offset, text.length, ended]))
  expect(back.every(([, text], index) => text === forward[index]?.[1])).toBe(true)
})

test.each([0, 1, 10, 3_000_000])('a line too long for a record (by %i) is named from either end, and the lines beside it are read', (more) => {
  const most = 2 * 1024 * 1024
  const file = join(scratch(), 'long')
  writeFileSync(file, Buffer.concat([Buffer.from('first\n'), Buffer.alloc(most + more, 'x'), Buffer.from('\n'), Buffer.alloc(most - 1, 'y'), Buffer.from('\nlast\n')]))
  const fd = openSync(file, 'r')
  const show = (line: RawLine): unknown => [line.offset, line.tooLong ? 'too long' : line.bytes.length, line.ended]
  const forward = []
  for (const line of linesFrom(fd, 0, Infinity, most)) forward.push(show(line))
  const back = []
  for (const line of linesBack(fd, fstatSync(fd).size, most)) back.push(show(line))
  closeSync(fd)
  expect(forward).toEqual([[0, 5, true], [6, 'too long', true], [7 + most + more, most - 1, true], [7 + most + more + most, 4, true]])
  expect(back.reverse()).toEqual(forward)
})
