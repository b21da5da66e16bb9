import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { context, textOfRequest } from '../../src/core/context.ts'
import { live, needed } from '../../src/core/path.ts'
import { parse, type Fact, type SessionRecord } from '../../src/core/record.ts'

const fixtures = new URL('../../fixtures/sessions/', import.meta.url).pathname

const system = (text: string): Fact => ({ type: 'system', text, tools: [] })
const input = (id: string): Fact => ({ type: 'input', id, text: `text of ${id}`, from: 'user', when: 'next' })
const step = (inputs: string[]): Fact => ({ type: 'step', run: 'r', number: 1, attempt: 1, inputs, model: 'a/b', request: { sha256: '', bytes: 1 } })
const reply = (text: string): Fact => ({ type: 'reply', run: 'r', parts: [{ type: 'text', text }], stop: 'end', usage: { input: 1, output: 1 } })

/** A session in which texts wait, and what was said is compacted, left out and gone back from, in any order. */
const histories = fc.array(fc.constantFrom('system', 'input', 'step', 'omit', 'compact', 'rewind', 'outcome'), { maxLength: 60 }).map((kinds) => {
  const records: SessionRecord[] = []
  const add = (fact: Fact): void => void records.push({ seq: records.length, at: records.length, ...fact })
  add({ type: 'session', version: 1, id: 's', cwd: '/w', root: '/w' })
  const waiting = (): string[] => {
    const path = live(records)
    const delivered = new Set(path.flatMap((record) => (record.type === 'step' ? record.inputs : [])))
    return path.flatMap((record) => (record.type === 'input' && !delivered.has(record.id) ? [record.id] : []))
  }
  for (const [index, kind] of kinds.entries()) {
    if (kind === 'system') add(system(`system ${index}`))
    if (kind === 'input') add(input(`i${index}`))
    if (kind === 'step') add(step(waiting().slice(0, 2)))
    if (kind === 'step') add(reply(`said ${index}`))
    if (kind === 'omit') add({ type: 'omit', record: Math.floor(records.length / 2) })
    if (kind === 'outcome') add({ type: 'outcome', run: 'r', status: 'lost', reason: '' })
    if (kind === 'rewind') add({ type: 'rewind', to: Math.floor(records.length / 3) })
    const path = live(records)
    const steps = path.filter((record) => record.type === 'step')
    const keep = steps[Math.floor(steps.length / 2)]?.seq
    if (kind !== 'compact' || keep === undefined) continue
    const known = path.flatMap((record) => (record.type === 'compact' ? (record.carry?.inputs ?? []) : record.type === 'input' && record.seq < keep ? [record] : []))
    const carried = new Set([...waiting(), ...steps.flatMap((each) => (each.seq >= keep ? each.inputs : []))])
    add({
      type: 'compact', summary: `summary ${index}`, keep, tokens: { before: 2, after: 1 },
      carry: { grants: [], totals: { steps: 0, calls: 0, input: 0, output: 0, cost: 0, costUnknown: false }, seen: [], inputs: known.filter(({ id }) => carried.has(id)).map(({ id, seq, text }) => ({ id, seq, text })) },
    })
  }
  return { records, waiting: waiting() }
})

test('a request is the same from what is needed of a path as from all of it', () => {
  fc.assert(fc.property(histories, ({ records, waiting }) => {
    const path = live(records)
    for (const next of [undefined, { inputs: waiting }]) expect(context(needed(path), next)).toEqual(context(path, next))
  }), { numRuns: 500 })
})

test('what is needed can be kept up to date record by record, and the text of a request is its JSON', () => {
  fc.assert(fc.property(histories, ({ records }) => {
    let path: SessionRecord[] = []
    for (const [index, record] of records.entries()) {
      path.push(record)
      if (record.type === 'rewind') path = needed(live(records.slice(0, index + 1)))
      if (record.type === 'compact') path = needed(path)
    }
    expect(context(path, { inputs: [] })).toEqual(context(live(records), { inputs: [] }))
    for (const next of [undefined, { inputs: [], effort: 'low' as const }, { inputs: [], effort: 'high' as const, maxOutput: 5 }]) expect(textOfRequest(context(path, next))).toBe(JSON.stringify(context(path, next)))
  }), { numRuns: 500 })
})

test('also in every prefix of every session that is kept for tests', () => {
  for (const name of readdirSync(fixtures).filter((each) => each.endsWith('.jsonl'))) {
    const records = readFileSync(join(fixtures, name), 'utf8').split('\n').flatMap((line) => {
      const parsed = parse(line)
      return parsed.ok && !('unknown' in parsed.record) ? [parsed.record] : []
    })
    for (let end = 1; end <= records.length; end++) {
      const path = live(records.slice(0, end))
      expect(context(needed(path)), `${name} up to ${end}`).toEqual(context(path))
    }
  }
})
