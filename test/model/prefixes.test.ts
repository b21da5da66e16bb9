import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { ModelRequest } from '../../src/core/ports.ts'
import { isKnownRecord } from '../../src/core/path.ts'
import { parse, type SessionRecord } from '../../src/core/record.ts'
import { rig } from '../support/agent.ts'
import { ask, MODEL, modelsOf, PROTOCOLS } from '../support/model-asks.ts'
import { startModelServer, type ModelServer } from '../support/model-server.ts'

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures', 'sessions')
let server: ModelServer | undefined
afterEach(() => server?.close())

/** What the model is sent when the process ended after any record of any session and somebody goes on: each request once. */
async function requestsAfterCrashes(): Promise<Map<string, { request: ModelRequest; where: string }>> {
  const all = new Map<string, { request: ModelRequest; where: string }>()
  for (const name of readdirSync(FIXTURES).filter((each) => each.endsWith('.jsonl'))) {
    const records = readFileSync(join(FIXTURES, name), 'utf8').split('\n').flatMap((line): SessionRecord[] => {
      const parsed = parse(line)
      return parsed.ok && isKnownRecord(parsed.record) ? [parsed.record] : []
    })
    for (let end = 1; end <= records.length; end++) {
      const r = await rig([{ text: 'Going on.' }], { defaults: { model: 'test/scripted', effort: 'medium', mode: 'full' } }, { before: records.slice(0, end) })
      r.agent.send({ type: 'input', text: 'go on' })
      await r.agent.idle()
      for (const request of r.model.requests) all.set(JSON.stringify(request), { request, where: `${name}, ${end} records` })
    }
  }
  return all
}

test('no provider is sent an unpaired call, or anything else against its rules, wherever a session was cut off', async () => {
  const requests = await requestsAfterCrashes()
  expect(requests.size).toBeGreaterThan(60)
  server = await startModelServer(() => ({ text: 'ok' }))
  const models = modelsOf(server)
  for (const protocol of PROTOCOLS) {
    const model = await models.get(MODEL[protocol])
    for (const { request, where } of requests.values()) {
      const sent = server.requests.length
      const { fault } = await ask(model, request)
      expect(server.requests.slice(sent).flatMap(({ problems }) => problems), `${protocol}: ${where}`).toEqual([])
      expect(fault, `${protocol}: ${where}`).toBeUndefined()
    }
  }
  console.log(`${requests.size} different requests over ${PROTOCOLS.length} protocols, 0 refused`)
}, 120_000)
