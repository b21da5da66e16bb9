import fc from 'fast-check'
import { expect, test } from 'vitest'
import { context } from '../../src/core/context.ts'
import { live } from '../../src/core/path.ts'
import type { Fact, SessionRecord } from '../../src/core/record.ts'
import { missingOnTheWay, treeOf, type TreePoint } from '../../src/core/tree.ts'

/** A log as the loop writes it, without a loop: each turn is an input and the run that answers it. */
function logOf() {
  const records: SessionRecord[] = []
  let count = 0
  const append = (...facts: Fact[]): void => facts.forEach((fact) => void records.push({ ...fact, seq: records.length, at: records.length }))
  const input = (text: string, from: 'user' | 'tiller' = 'user'): string => {
    append({ type: 'input', id: `i${++count}`, text, from, when: 'next' })
    return `i${count}`
  }
  const step = (run: string, number: number, inputs: string[]): void => append({ type: 'step', run, number, attempt: 1, inputs, model: 'm', request: { sha256: '', bytes: 1 } })
  const reply = (run: string, text: string): void => append({ type: 'reply', run, parts: [{ type: 'text', text }], stop: 'end', usage: { input: 1, output: 1 } })
  append({ type: 'session', version: 1, id: 's', cwd: '/w', root: '/w' })
  const begin = (text: string): string => {
    const run = `r${++count}`
    step(run, 1, [input(text)])
    reply(run, `to ${text}`)
    return run
  }
  const end = (run: string): void => append({ type: 'outcome', run, status: 'done', reason: '' })
  return { records, append, input, step, reply, begin, end, turn: (text: string): void => end(begin(text)), rewind: (to: number): void => append({ type: 'rewind', to }) }
}

const drawn = (points: readonly TreePoint[]): string[] => points.map(({ kind, text, depth }) => `${'  '.repeat(depth)}${kind === 'input' ? text : `${kind} of ${text}`}`)
const point = (records: readonly SessionRecord[], text: string, kind: TreePoint['kind'] = 'input'): TreePoint => treeOf(records).find((each) => each.kind === kind && each.text.includes(text))!
/** What was delivered on the live path. */
const said = (records: readonly SessionRecord[]): string[] => {
  const path = live(records)
  const texts = new Map(records.flatMap((record) => (record.type === 'input' ? [[record.id, record.text]] : [])))
  return path.flatMap((record) => (record.type === 'step' ? record.inputs.map((id) => texts.get(id)!) : []))
}

test('a path that was left stands above the place where it leaves, with its end, and one that leaves from it further in', () => {
  const log = logOf()
  log.turn('a')
  log.turn('b')
  log.turn('c')
  log.rewind(point(log.records, 'b').to)
  log.turn('b2')
  log.turn('c2')
  log.rewind(point(log.records, 'c2').to)
  log.turn('c3')
  log.rewind(point(log.records, 'a', 'input').to)
  log.turn('a2')
  expect(drawn(treeOf(log.records))).toEqual([
    'head of a2', 'a2',
    '  end of c', '  c', '  b',
    '    end of c2', '    c2', '      end of c3', '      c3', '    b2',
    '  a',
  ])
  expect(said(log.records)).toEqual(['a2'])
})

test('a left path is brought back at its end, and what goes on from there is one path with it', () => {
  const log = logOf()
  log.turn('a')
  log.turn('b')
  log.rewind(point(log.records, 'b').to)
  log.turn('c')
  expect(drawn(treeOf(log.records))).toEqual(['head of c', 'c', '  end of b', '  b', 'a'])
  log.rewind(point(log.records, 'b', 'end').to)
  expect(said(log.records)).toEqual(['a', 'b'])
  expect(drawn(treeOf(log.records))).toEqual(['head of b', 'b', '  end of c', '  c', 'a'])
  log.turn('d')
  log.rewind(point(log.records, 'c', 'end').to)
  expect(said(log.records)).toEqual(['a', 'c'])
  expect(drawn(treeOf(log.records))).toEqual(['head of c', 'c', '  end of d', '  d', '  b', 'a'])
})

test('where nothing was said since a rewind, the path that was left leaves from where the conversation is', () => {
  const log = logOf()
  log.turn('a')
  log.turn('b')
  log.rewind(point(log.records, 'b').to)
  expect(drawn(treeOf(log.records))).toEqual(['  end of b', '  b', 'head of a', 'a'])
  log.rewind(point(log.records, 'a').to)
  expect(drawn(treeOf(log.records))).toEqual(['  end of b', '  b', '  a', 'head of '])
})

test('before a text that steered is in the middle of its run, and before a follow-up behind the run that it waited for', () => {
  const log = logOf()
  const run = log.begin('go')
  log.append({ type: 'reply', run, parts: [{ type: 'call', id: 'c1', name: 'shell', input: {} }], stop: 'calls', usage: { input: 1, output: 1 } })
  const steer = log.input('steer')
  log.append({ type: 'start', run, call: 'c1' }, { type: 'result', run, call: 'c1', status: 'ok', text: 'the result' })
  const later = log.input('later')
  log.step(run, 2, [steer])
  log.reply(run, 'steered')
  log.end(run)
  log.step('r9', 1, [later])
  log.end('r9')
  const [steered, followed] = [point(log.records, 'steer'), point(log.records, 'later')]
  expect(log.records[steered.to]!.type).toBe('input')
  expect(log.records[steered.to + 1]).toMatchObject({ type: 'step', inputs: [steer] })
  expect(log.records[followed.to]).toMatchObject({ type: 'outcome', run })
  log.rewind(steered.to)
  expect(JSON.stringify(context(live(log.records)).messages)).toContain('the result')
  expect(JSON.stringify(context(live(log.records)).messages)).not.toContain('steered')
})

test('texts that were delivered together are one place, with all that was written; what tiller said is none', () => {
  const log = logOf()
  const ids = [log.input('note', 'tiller'), log.input('one'), log.input('two')]
  log.step('r1', 1, ids)
  log.end('r1')
  log.step('r2', 1, [log.input('by tiller alone', 'tiller')])
  log.end('r2')
  expect(treeOf(log.records).filter(({ kind }) => kind === 'input').map(({ text }) => text)).toEqual(['one\n\ntwo'])
})

test('whatever is said and wherever one goes back to: every input has its place, and that leads to before it, an end to behind it', () => {
  const move = fc.record({ do: fc.constantFrom('turn', 'turn', 'steer', 'rewind', 'rewind'), at: fc.nat(1_000) })
  fc.assert(fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
    const log = logOf()
    moves.forEach((each, index) => {
      if (each.do === 'turn') log.turn(`t${index}.`)
      else if (each.do === 'steer') {
        const run = log.begin(`t${index}.`)
        log.step(run, 2, [log.input(`s${index}.`)])
        log.reply(run, 'x')
        log.end(run)
      } else {
        const points = treeOf(log.records)
        log.rewind(points[each.at % points.length]!.to)
      }
    })
    const points = treeOf(log.records)
    const texts = new Set(log.records.flatMap((record) => (record.type === 'input' ? [record.text] : [])))
    expect(new Set(points.filter(({ kind }) => kind === 'input').map(({ text }) => text))).toEqual(texts)
    const before = said(log.records)
    expect(points.filter(({ kind, depth }) => kind === 'input' && depth === 0).map(({ text }) => text).reverse()).toEqual(before)
    for (const each of points) {
      expect(missingOnTheWay({ records: log.records, base: 0 }, each.to)).toEqual([])
      const then: SessionRecord[] = [...log.records, { type: 'rewind', to: each.to, seq: log.records.length, at: 0 }]
      const now = said(then)
      if (each.kind === 'input') expect(now).not.toContain(each.text)
      if (each.kind === 'end') expect(now.at(-1)).toBe(each.text)
      if (each.kind === 'head') expect(now).toEqual(before)
      const roles = context(live(then)).messages.map(({ role }) => role)
      expect(roles.some((role, index) => role === roles[index - 1])).toBe(false)
    }
  }), { numRuns: 150 })
})

test('a tree of thousands of inputs and hundreds of paths is drawn', () => {
  const log = logOf()
  for (let index = 0; index < 5_000; index++) {
    log.turn(`t${index}.`)
    if (index % 7 === 0) log.rewind(Math.max(0, log.records.length - 9))
  }
  expect(treeOf(log.records).filter(({ kind }) => kind === 'input')).toHaveLength(5_000)
})

test('records that cannot be read are found on the way to a place, and only there (J20)', () => {
  const log = logOf()
  for (const text of ['a', 'b', 'c', 'd']) log.turn(text)
  const damaged = log.records.filter(({ seq }) => seq !== 7)
  expect(missingOnTheWay({ records: damaged, base: 0 }, 12)).toEqual([[7, 7]])
  expect(missingOnTheWay({ records: damaged, base: 0 }, 6)).toEqual([])
  expect(missingOnTheWay({ records: damaged, base: 0 }, 7)).toBeNull()
  // On a path that was left it is of no concern.
  const rewound: SessionRecord[] = [...damaged, { type: 'rewind', to: 4, seq: 17, at: 0 }, { type: 'input', id: 'x', text: 'x', seq: 18, at: 0 }]
  expect(missingOnTheWay({ records: rewound, base: 0 }, 18)).toEqual([])
  const late = [log.records[0]!, ...log.records.slice(9)]
  expect(missingOnTheWay({ records: late, base: 9 }, 12)).toEqual([])
})
