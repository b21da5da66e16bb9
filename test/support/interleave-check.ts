import fc from 'fast-check'
import { expect } from 'vitest'
import { context } from '../../src/core/context.ts'
import { live } from '../../src/core/path.ts'
import type { ModelRequest } from '../../src/core/ports.ts'
import { host, rig, type Rig } from './agent.ts'
import { MOVES, play, SHAPES, type Move, type Play, type Played, type Shape } from './interleave.ts'

/** Each is a script, what the person does, and an order of everything in it that waits. */
const plays: fc.Arbitrary<Play> = fc.record({
  shapes: fc.array(fc.constantFrom(...SHAPES), { minLength: 1, maxLength: 8, size: 'max' }),
  moves: fc.array(fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom<Move>('next', 'after', 'now', 'withdraw', 'interrupt', 'allow', 'deny') },
    { weight: 12, arbitrary: fc.constantFrom(...MOVES.filter((move) => move !== 'stop' && move !== 'abandon')) },
    { weight: 1, arbitrary: fc.constantFrom<Move>('stop', 'abandon') },
  ), { maxLength: 16, size: 'max' }),
  seed: fc.nat(),
  asks: fc.boolean(),
  checks: fc.option(fc.array(fc.boolean(), { maxLength: 3 })),
  steps: fc.constantFrom(3, 50, 50),
  small: fc.boolean(),
})

/** Tries so many, from TILLER_SEED where it is set, and says what was in them. */
export async function tryInterleavings(runs: number): Promise<string> {
  const sum = { interleavings: 0, points: 0, texts: 0, calls: 0, interrupts: 0, compactions: 0, checks: 0 }
  const seen = { shapes: new Set<Shape>(), moves: new Set<Move>() }
  const seed = process.env['TILLER_SEED']
  await fc.assert(fc.asyncProperty(plays, fc.nat(1_000), async (one, cut) => {
    const played = await play(one)
    const { log, of } = played.rig
    checkPlayed(played)
    await checkResumed(played, cut % (log.all.length + 1))
    if (played.lost) await checkResumed(played, log.all.length)
    for (const shape of one.shapes) seen.shapes.add(shape)
    for (const move of one.moves) seen.moves.add(move)
    sum.interleavings++
    sum.points += played.points
    sum.texts += played.sent
    sum.calls += of('result').length
    sum.interrupts += played.interrupts.length
    sum.compactions += of('compact').length
    sum.checks += of('check').length
  }), { numRuns: runs, ...(seed === undefined ? {} : { seed: Number(seed) }) })
  expect([seen.shapes.size, seen.moves.size], 'nothing is left out').toEqual([SHAPES.length, MOVES.length])
  return `${Object.entries(sum).map(([what, count]) => `${count} ${what}`).join(', ')}; texts lost 0, unpaired calls 0`
}

/** The promises that hold whatever comes when. */
function checkPlayed(played: Played): void {
  const { rig: r, interrupts, requests } = played
  checkTexts(played)
  // Of a log that could not be written to its end.
  const open = played.lost ? (r.agent.state.live.run?.id ?? null) : null
  checkCalls(r, open)
  checkCuts(r)
  for (const run of new Set(r.of('step').map((step) => step.run))) {
    if (run === open) continue
    expect(r.of('outcome').filter((outcome) => outcome.run === run), `the outcomes of ${run}`).toHaveLength(1)
    expect(r.log.all.findLast((record) => 'run' in record && record.run === run)?.type, `the last record of ${run}`).toBe('outcome')
  }
  for (const { run, seq } of interrupts) {
    const later = r.log.all.slice(seq).filter((record) => (record.type === 'step' || record.type === 'start') && record.run === run)
    expect(later, `what ${run} began after it was interrupted`).toEqual([])
  }
  for (const request of requests) if (request.tools.length > 0) expect(unpaired(request), 'calls without a result in a request').toEqual([])
  for (const step of r.of('step')) {
    const body = JSON.stringify(context(live(r.log.all.slice(0, step.seq + 1))))
    expect(host().sha256(body), `the request of step ${step.seq}`).toBe(step.request.sha256)
  }
  const told = r.events.flatMap((event) => ('seq' in event ? [event.seq] : []))
  expect(told, 'what was told, in the order of the log').toEqual(r.log.all.filter(({ seq }) => seq >= (told[0] ?? 0)).map(({ seq }) => seq))
  expect(played.after, 'records after it was told to leave at once').toBe(0)
}

/** What cuts in ends what runs, so that nothing begins before it is delivered, and comes first. */
function checkCuts(r: Rig): void {
  if (r.of('rewind').length > 0) return
  for (const input of r.of('input').filter(({ when }) => when === 'now')) {
    const later = r.log.all.slice(input.seq + 1)
    const next = later.find((record) => record.type === 'step' || record.type === 'outcome' || (record.type === 'withdraw' && record.input === input.id))
    if (next?.type === 'step') expect(next.inputs, `what is delivered after "${input.text}"`).toContain(input.id)
    expect(later.filter((record) => record.type === 'start' && record.seq < (next?.seq ?? 0)), `what began after "${input.text}"`).toEqual([])
  }
}

function checkTexts({ rig: r, sent }: Played): void {
  const refused = r.errors().filter((message) => / this input | This input /.test(` ${message}`)).length
  const ofUser = r.of('input').filter(({ from }) => from === 'user')
  expect(ofUser.length + refused, 'texts that were taken or refused').toBe(sent)
  const [delivered, withdrawn] = [r.of('step').flatMap((step) => step.inputs), r.of('withdraw').map((record) => record.input)]
  const waiting = r.agent.state.live.waiting.map(({ id }) => id)
  const rewound = r.of('rewind').length > 0
  for (const { id, text, from } of r.of('input')) {
    const times = [delivered, withdrawn, waiting].map((list) => list.filter((each) => each === id).length)
    // Only a rewind may leave one on a path that was left.
    if (!rewound) expect(times.reduce((sum, each) => sum + each, 0), `"${text}" of ${from} is delivered, taken back or waiting`).toBe(1)
    // A word of our own may wait again on a path that was gone back to.
    if (!rewound || from === 'user') expect(times[0], `"${text}" is delivered`).toBeLessThanOrEqual(1)
  }
}

function checkCalls(r: Rig, open: string | null = null): void {
  const replies = r.of('reply').filter(({ stop }) => stop !== 'error' && stop !== 'interrupted')
  const results = r.of('result').map(({ call }) => call)
  const calls = replies.flatMap(({ parts, run }) => parts.flatMap((part) => (part.type === 'call' && (run !== open || results.includes(part.id)) ? [part.id] : [])))
  expect(results.toSorted(), 'one result for each call').toEqual(calls.toSorted())
  for (const { call, status, seq } of r.of('result')) {
    const starts = r.of('start').filter((start) => start.call === call)
    const ran = status === 'ok' || status === 'interrupted' || status === 'unknown'
    expect(starts.length, `starts of ${call}, which is ${status}`)[status === 'failed' ? 'toBeLessThanOrEqual' : 'toBe'](ran || status === 'failed' ? 1 : 0)
    for (const start of starts) expect(start.seq, `the start of ${call} is before its result`).toBeLessThan(seq)
  }
}

/** Ids of calls that are not followed by exactly their results, in order. */
function unpaired({ messages }: Pick<ModelRequest, 'messages'>): string[] {
  return messages.flatMap((message, index) => {
    const next = messages[index + 1]
    const calls = message.role === 'assistant' ? message.parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])) : []
    const results = next?.role === 'tool' ? next.results.map(({ call }) => call) : []
    if (message.role === next?.role) return [`two messages of ${message.role}`]
    return calls.join() === results.join() ? [] : [...calls, ...results]
  })
}

/** Ends the process after so many records, and goes on. */
async function checkResumed({ rig: { log } }: Played, length: number): Promise<void> {
  const before = log.all.slice(0, length)
  if (before.length === 0) return
  const r = await rig([{ text: 'Going on.' }], { defaults: { model: 'test/scripted', effort: 'medium', mode: 'full' } }, { before })
  r.agent.send({ type: 'input', text: 'go on' })
  await r.agent.idle()
  for (const request of r.model.requests) expect(unpaired(request), `after ${length} records`).toEqual([])
  expect(r.of('outcome').at(-1)?.status).toBe('done')
  checkCalls(r)
  for (const run of new Set(r.of('step').map((step) => step.run))) expect(r.of('outcome').filter((outcome) => outcome.run === run), `the outcomes of ${run}`).toHaveLength(1)
}
