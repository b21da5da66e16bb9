import { describe, expect, it } from 'vitest'
import type { WireProtocol } from '../support/model-server.ts'
import { calls, openWorld, say } from '../support/world.ts'

const PROTOCOLS: WireProtocol[] = ['chat', 'responses', 'anthropic', 'google']

const models = { m: { contextWindow: 100_000, maxOutput: 8_192, images: false } }

describe.each(PROTOCOLS)('over the %s protocol', (protocol) => {
  it('the job is done, cut short and gone on with, and every request keeps the rules of the provider', async () => {
    const thought = { reasoning: 'Let me see.' }
    const world = await openWorld([
      { ...thought, text: 'I look.', ...calls(['read', { path: 'a.txt' }], ['shell', { command: 'cat a.txt; exit 3' }]) },
      { ...thought, ...calls(['edit', { path: 'a.txt', edits: [{ old: 'two', new: 'zwei' }] }], ['ls', {}]) },
      { ...thought, ...calls(['shell', { command: 'mkdir made; sleep 300' }], ['ls', {}]) },
    ], { files: { 'a.txt': 'one\ntwo\n' } })
    world.configure({ model: `${protocol}/m`, providers: { [protocol]: { ...world.server.providers[protocol], models } } })
    const tiller = world.start(['--json', '--mode', 'full', 'Translate'])
    await tiller.until('spawn', ({ call }) => call === (world.of('reply')[2]?.parts.find((part) => part.type === 'call')?.id ?? ''))
    tiller.kill('SIGINT')
    expect((await tiller.ended).code).toBe(130)
    world.server.push({ text: 'Cut', cut: 2 }, { ...thought, ...say('Done.') })
    const again = await world.run(['-c', '-p', 'go on'])
    expect([again.code, again.stdout]).toEqual([0, 'Done.\n'])
    expect(world.read('a.txt')).toBe('one\nzwei\n')
    expect(world.statuses()).toEqual(['ok', 'failed', 'ok', 'ok', 'interrupted', 'skipped'])
    expect(world.of('reply').every(({ usage, stop }) => stop === 'interrupted' || usage.input > 0)).toBe(true)
  })
})

it('a session changes its provider with each step, and each is sent only what it may be sent', async () => {
  const step = (name: string) => ({ reasoning: `Thoughts of ${name}.`, ...calls(['ls', {}], ['read', { path: 'README.md' }]) })
  const rounds: WireProtocol[] = [...PROTOCOLS, 'chat']
  const world = await openWorld(rounds.flatMap((name) => [step(name), { reasoning: 'Hm.', text: `${name} was here.` }]))
  const { chat, responses, anthropic, google } = world.server.providers
  world.configure({ providers: { chat: { ...chat, models }, responses: { ...responses, models }, anthropic: { ...anthropic, models }, google: { ...google, models } } })
  for (const [round, protocol] of rounds.entries()) {
    const { code, stdout, stderr } = await world.run([...(round === 0 ? [] : ['-c']), '-p', '-m', `${protocol}/m`, `Round ${round}`])
    expect([code, stdout, stderr]).toEqual([0, `${protocol} was here.\n`, ''])
  }
  expect(world.of('step').map(({ model }) => model)).toEqual(rounds.flatMap((name) => [`${name}/m`, `${name}/m`]))
  expect(world.sessions()).toHaveLength(1)
})
