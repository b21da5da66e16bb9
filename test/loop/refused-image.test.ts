import { expect, test } from 'vitest'
import { outcomeOf, rig, tool } from '../support/agent.ts'
import type { ScriptedReply } from '../support/scripted-model.ts'
import type { ModelRequest } from '../../src/core/ports.ts'

const look = tool('look', (_, input) => ({ status: 'ok', text: `image ${JSON.stringify(input)}`, images: [{ blob: { sha256: JSON.stringify(input), bytes: 9 }, mediaType: 'image/png' }] }))
const show = (at: number): ScriptedReply => ({ calls: [{ name: 'look', input: { at } }] })
const imagesIn = ({ messages }: ModelRequest): number => messages.flatMap((message): unknown[] => (message.role === 'tool' ? message.results.flatMap(({ images = [] }) => images) : message.role === 'user' ? message.parts.filter(({ type }) => type === 'image') : [])).length
const refusing = (most: number, reply: ScriptedReply) => (request: ModelRequest): ScriptedReply => (imagesIn(request) > most ? { fault: { kind: 'bad-request', message: 'Image dimensions exceed max allowed size: 8000 pixels', status: 400 } } : reply)
const limits = { limits: { images: true } }

test('X12: an image that the provider refuses is left out with a note, and the run goes on; earlier ones stay', async () => {
  const r = await rig([show(1), refusing(1, show(2)), refusing(1, { text: 'never' }), refusing(1, { text: 'done without it' }), refusing(1, { text: 'later' })], { tools: [look] }, limits)
  r.agent.send({ type: 'input', text: 'go' })
  await r.agent.idle()
  expect([outcomeOf(r), r.of('omit').length]).toEqual(['done', 1])
  const last = r.model.requests.at(-1)!
  expect(imagesIn(last)).toBe(1)
  expect(JSON.stringify(last.messages.at(-1))).toContain('The image is left out: the provider did not accept it (Image dimensions')
  r.agent.send({ type: 'input', text: 'more' })
  await r.agent.idle()
  expect(r.of('omit')).toHaveLength(1)
})

test('X12: where that was not enough all are, also those that a person sent; then it is a fault like any other', async () => {
  const none = (reply: ScriptedReply) => refusing(0, reply)
  const r = await rig([show(1), show(2), none({ text: 'x' }), none({ text: 'x' }), none({ text: 'done' })], { tools: [look] }, limits)
  r.agent.send({ type: 'input', text: 'LOOK AT THIS', images: [{ blob: { sha256: 'a', bytes: 1 }, mediaType: 'image/png' }] })
  await r.agent.idle()
  expect([outcomeOf(r), r.of('omit').length, imagesIn(r.model.requests.at(-1)!)]).toEqual(['done', 3, 0])
  expect(JSON.stringify(r.model.requests.at(-1)!.messages[0])).toMatch(/LOOK AT THIS.*The image is left out/)
  const bare = await rig([{ fault: { kind: 'bad-request', message: 'no image for you' } }])
  bare.agent.send({ type: 'input', text: 'go' })
  await bare.agent.idle()
  expect([outcomeOf(bare), bare.model.requests.length]).toEqual(['failed', 1])
})
