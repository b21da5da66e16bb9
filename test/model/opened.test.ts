import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { startModelServer } from '../support/model-server.ts'
import { ask, MODEL, modelsOf, PROTOCOLS, textOf, user } from '../support/model-asks.ts'

const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex')

test.each(PROTOCOLS)('%s: requests of one model at the same time each note what they sent themselves', async (protocol) => {
  const both = Promise.withResolvers<void>()
  await using server = await startModelServer((request) => {
    if (server.requests.length === 2) both.resolve()
    return { hold: both.promise, text: request.raw.includes('first') ? 'one' : 'two' }
  })
  const models = modelsOf(server)
  const replies = await Promise.all(['first', 'second'].map(async (words) => ask(await models.get(MODEL[protocol]), { messages: [user(words)] })))
  expect(replies.map(({ end }) => textOf(end.parts))).toEqual(['one', 'two'])
  const sent = new Map(server.requests.map(({ raw }) => [raw.includes('first') ? 'one' : 'two', sha256(raw)]))
  expect(replies.map(({ end }) => end.wire?.sha256)).toEqual([sent.get('one'), sent.get('two')])
})
