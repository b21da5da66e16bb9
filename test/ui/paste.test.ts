import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pasteGuard } from '../../src/ui/paste.ts'

const START = '\x1b[200~'
const END = '\x1b[201~'

/** Cuts a text at these places. */
const cut = (text: string, places: readonly number[]): string[] => {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].toSorted((one, other) => one - other)
  return [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length)).filter((piece) => piece !== '')
}

test('however a paste is cut into chunks, it comes out whole and in its place', () => {
  const content = fc.string({ unit: 'binary', maxLength: 200 }).filter((text) => !text.includes('\x1b') && !text.includes('\x03'))
  fc.assert(
    fc.property(content, content, content, fc.array(fc.nat(), { maxLength: 12 }), (before, pasted, after, places) => {
      const guard = pasteGuard()
      const out = cut(`${before}${START}${pasted}${END}${after}`, places).flatMap((chunk) => guard.push(chunk))
      expect(out.join('') + guard.flush().join('')).toBe(`${before}${pasted === '' ? '' : START + pasted + END}${after}`)
      if (pasted !== '') expect(out).toContain(START + pasted + END)
      expect(guard.patience()).toBeNull()
    }),
  )
})

test('300 kB in a thousand chunks with the end marker cut in two is one paste, and work that grows with its length only', () => {
  const text = 'x'.repeat(300_000)
  const guard = pasteGuard()
  const chunks = [`${START}${text.slice(0, 1_000)}`, ...Array.from({ length: 998 }, (_, index) => text.slice(1_000 + index * 299, 1_299 + index * 299)), `${text.slice(1_000 + 998 * 299)}\x1b[20`, '1~']
  const out = chunks.flatMap((chunk) => guard.push(chunk))
  expect(out).toEqual([START + text + END])
})

test('a paste without its end is given out when nothing more comes', () => {
  const guard = pasteGuard()
  expect(guard.push(`${START}lost`)).toEqual([])
  expect(guard.patience()).toBeGreaterThan(100)
  expect(guard.flush()).toEqual([`${START}lost${END}`])
  expect(guard.patience()).toBeNull()
  expect(guard.push('typed')).toEqual(['typed'])
})

test('the rest of a paste that was given up is pasted, not typed', () => {
  const guard = pasteGuard()
  guard.push(`${START}first`)
  guard.flush()
  expect(guard.push(`rm -rf\r${END}`)).toEqual([`${START}rm -rf\r${END}`])
})

test('ctrl+c gets through an open paste', () => {
  const guard = pasteGuard()
  guard.push(`${START}half`)
  expect(guard.push('\x03')).toEqual([`${START}half${END}`, '\x03'])
})

test('keys are not held up, but for an Esc that could begin a marker', () => {
  const guard = pasteGuard()
  expect(guard.push('a')).toEqual(['a'])
  expect(guard.push('\x1b[A')).toEqual(['\x1b[A'])
  expect(guard.push('\x1b')).toEqual([])
  expect(guard.patience()).toBeLessThan(30)
  expect(guard.flush()).toEqual(['\x1b'])
})
