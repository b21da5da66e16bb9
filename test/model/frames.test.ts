import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFrameReader, type Frame } from '../../src/model/frames.ts'

function read(pieces: string[]): { frames: Frame[]; noise: string[] } {
  const frames: Frame[] = []
  const noise: string[] = []
  const reader = createFrameReader((frame) => frames.push(frame), (line) => noise.push(line))
  for (const piece of pieces) reader.push(piece)
  reader.end()
  return { frames, noise }
}

test('wherever the network cuts, and however lines end, the events are the same', () => {
  const event = fc.record({ name: fc.option(fc.constantFrom('message_stop', 'error'), { nil: undefined }), value: fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify({ text })), comment: fc.boolean() })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 8 }), fc.constantFrom('\n', '\r\n', '\r'), fc.array(fc.nat(400), { maxLength: 12 }), fc.boolean(), (events, end, cuts, lastBlank) => {
      const lines = events.flatMap(({ name, value, comment }) => [...(comment ? [': keep-alive'] : []), ...(name ? [`event: ${name}`] : []), `data: ${value}`, ''])
      if (!lastBlank) lines.pop()
      const text = lines.join(end) + (lastBlank && lines.length > 0 ? end : '')
      const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].toSorted((a, b) => a - b)
      const pieces = [0, ...at].map((from, index) => text.slice(from, [...at, text.length][index]))
      const { frames, noise } = read(pieces)
      expect(frames).toEqual(events.map(({ name, value }) => (name ? { event: name, data: value } : { data: value })))
      expect(noise).toEqual([])
    }),
  )
})

test('several data lines are one value, unless each of them is one', () => {
  expect(read(['data: {"a":\ndata: 1}\n\n']).frames).toEqual([{ data: '{"a":\n1}' }])
  expect(read(['data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n\n']).frames.map(({ data }) => data)).toEqual(['{"a":1}', '{"b":2}', '[DONE]'])
})

test('what is no event is noise, and a field that is only like one too', () => {
  expect(read(['upstream error: reset\ndatabase: x\nid: 7\nretry: 10\n\n'])).toEqual({ frames: [], noise: ['upstream error: reset', 'database: x'] })
})
