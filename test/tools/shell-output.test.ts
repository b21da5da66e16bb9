import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_BYTES, MAX_LINES } from '../../src/core/cap.ts'
import { sink } from '../../src/os/output.ts'
import { commandOutput } from '../../src/tools/command-output.ts'
import { liveOutput } from '../../src/tools/live-output.ts'

const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/

/** What the sink keeps of these pieces. */
const kept = (pieces: readonly Uint8Array[], window = { head: 1 << 20, tail: 1 << 20 }) => {
  const into = sink(window)
  for (const piece of pieces) into.write(piece)
  return into.kept()
}
const plain = fc.string({ unit: 'binary', maxLength: 300 }).map((text) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ''))
const pieces = fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 30 })

test('any bytes become valid text without control sequences, within the cap', () => {
  fc.assert(fc.property(pieces, fc.nat(40), fc.nat(40), (parts, head, tail) => {
    const { text } = commandOutput(kept(parts, { head, tail }))
    expect(text).not.toMatch(CONTROLS)
    expect(text.isWellFormed()).toBe(true)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES)
  }), { numRuns: 300 })
})

test('plain text in any pieces comes out as it went in', () => {
  fc.assert(fc.property(plain, fc.array(fc.nat(20), { minLength: 1, maxLength: 50 }), (text, sizes) => {
    const bytes = Buffer.from(text)
    const parts: Uint8Array[] = []
    for (let at = 0, index = 0; at < bytes.length; index++) {
      const size = (sizes[index % sizes.length] ?? 0) + 1
      parts.push(bytes.subarray(at, at + size))
      at += size
    }
    expect(commandOutput(kept(parts))).toEqual({ text, cut: false, notes: [] })
  }), { numRuns: 300 })
})

test('however a text is cut, no character is broken', () => {
  fc.assert(fc.property(plain, fc.nat(30), fc.nat(30), (text, head, tail) => {
    const output = commandOutput(kept([Buffer.from(text)], { head, tail }))
    expect(output.notes).toEqual([])
    const [first = '', last = ''] = output.text.split(/\n\[… of \d+ bytes only the beginning and the end are shown …\]\n/)
    expect(text.startsWith(first)).toBe(true)
    expect(text.endsWith(last)).toBe(true)
  }), { numRuns: 300 })
})

test('the sink keeps the first and last bytes and counts the rest', () => {
  fc.assert(fc.property(pieces, fc.nat(50), fc.nat(50), fc.nat(2000), (parts, head, tail, offset) => {
    const all = Buffer.concat(parts)
    const into = sink({ head, tail })
    for (const part of parts) into.write(part)
    const { bytes, cut, head: first, tail: last } = into.kept()
    expect(bytes).toBe(all.length)
    expect(first.equals(all.subarray(0, head))).toBe(true)
    expect(last.equals(all.subarray(Math.max(head, all.length - tail)))).toBe(true)
    expect(cut).toBe(all.length - first.length - last.length)
    const { data, skipped } = into.since(Math.min(offset, all.length))
    expect(all.subarray(Math.min(offset, all.length) + skipped).equals(data)).toBe(true)
  }), { numRuns: 500 })
})

test('many long lines stay within lines and bytes', () => {
  for (const line of ['x'.repeat(5_000), 'short', '\u4f60'.repeat(1_000)]) {
    const { text, cut } = commandOutput(kept([Buffer.from(`${line}\n`.repeat(4_000))]))
    expect(cut).toBe(true)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES)
    expect(text.split('\n').length).toBeLessThanOrEqual(MAX_LINES)
  }
})

test('hostile output takes no long time', () => {
  const began = performance.now()
  for (const unit of ['\x1b]', '\x1b[', 'a\b', '\b', '\r', '\x1b', '\u009d', '\x1bP\n', 'x\r\n']) commandOutput(kept([Buffer.from(unit.repeat(150_000))]))
  commandOutput(kept([Buffer.from('a'.repeat(150_000) + '\b'.repeat(150_000))]))
  expect(performance.now() - began).toBeLessThan(20_000)
})

test('live output of any pieces is bounded and clean', () => {
  const shown: string[] = []
  const live = liveOutput((text) => shown.push(text))
  for (let count = 0; count < 1_000; count++) live.write(Buffer.from(`\x1b[1m\u4f60 ${count}\n`.repeat(500)))
  live.end()
  const text = shown.join('')
  expect(text).toMatch(/\u4f60 999\n$/)
  expect(text).not.toMatch(CONTROLS)
  expect(text).not.toContain('\uFFFD')
  expect(text.length).toBeLessThan(200_000)
})
