import { describe, expect, it } from 'vitest'
import { calls, openWorld, say, type World } from '../support/world.ts'

const outcome = (world: World): [string | undefined, string | undefined] => {
  const last = world.of('outcome').at(-1)
  return [last?.status, last?.reason]
}
const write = (path: string, content = 'x\n') => calls(['write', { path, content }])

describe('checks', () => {
  it('that pass after the last change make the run verified: 0', async () => {
    const world = await openWorld([write('a.txt'), say('Written.')])
    const { code, stderr } = await world.run(['-p', '--mode', 'full', '--check', 'test -e a.txt', 'Write'])
    expect([code, stderr]).toEqual([0, ''])
    expect(outcome(world)).toEqual(['verified', 'test -e a.txt passed after the last change'])
    expect(world.of('check').map(({ command, exit, attempt }) => [command, exit, attempt])).toEqual([['test -e a.txt', 0, 1]])
  })

  it('that fail are told to the model, which may mend it', async () => {
    const world = await openWorld([write('a.txt'), say('Written.'), write('b.txt'), say('Now.')])
    expect((await world.run(['-p', '--mode', 'full', '--check', 'ls b.txt', 'Write'])).code).toBe(0)
    expect(world.of('check').map(({ exit, attempt }) => [exit === 0, attempt])).toEqual([[false, 1], [true, 2]])
    expect(JSON.stringify(world.server.requests[2]?.body['messages'])).toMatch(/The check `ls b\.txt` failed with exit 2.*cannot access/)
    expect(world.of('outcome')).toHaveLength(1)
  })

  it('that go on failing make it unverified: 4, whatever the model claims', async () => {
    const world = await openWorld([write('a.txt'), say('All tests pass.'), say('They do pass.')], { config: { checkAttempts: 2 } })
    const { code, stdout, stderr } = await world.run(['-p', '--mode', 'full', '--check', 'exit 3', 'Write'])
    expect([code, stdout]).toEqual([4, 'They do pass.\n'])
    expect(stderr).toMatch(/^unverified: exit 3 \(exit 3\) still fails after 2 attempts\n$/)
  })

  it('are not run where nothing was changed', async () => {
    const world = await openWorld([calls(['ls', {}], ['shell', { command: 'git status' }]), say('Nothing to do.')])
    expect((await world.run(['-p', '--mode', 'full', '--check', 'touch ran', 'Look'])).code).toBe(0)
    expect(world.exists('ran')).toBe(false)
    expect(outcome(world)[0]).toBe('done')
  })
})

describe('a limit ends the run with 3, and says which', () => {
  it.each<[string[], RegExp, number]>([
    [['--max-steps', '2'], /2 steps/, 2],
    [['--max-calls', '3'], /3 tool calls/, 2],
    [['--max-tokens', '200'], /200 tokens/, 2],
    [['--max-minutes', '0.0001'], /0\.0001 minutes/, 1],
  ])('%j', async (option, reason, steps) => {
    const world = await openWorld((_, index) => calls(['ls', {}], ['read', { path: 'README.md', offset: index }]))
    const { code, stderr } = await world.run(['-p', ...option, 'Go on for ever'])
    expect(code).toBe(3)
    expect(stderr).toMatch(/^limit: this run has used its /)
    expect(outcome(world)).toEqual(['limit', expect.stringMatching(reason)])
    expect(world.of('step')).toHaveLength(steps)
  })

  it('--max-cost, where the price is known', async () => {
    const world = await openWorld((_, index) => ({ ...calls(['read', { path: 'README.md', offset: index }]), usage: { input: 10_000, output: 0 } }), {
      config: { providers: {} },
    })
    const models = { 'test-model': { contextWindow: 100_000, maxOutput: 4_096, images: false, price: { input: 10, output: 0, cacheRead: 0, cacheWrite: 0 } } }
    world.configure({ providers: { chat: { ...world.server.providers.chat, models } } })
    const { code } = await world.run(['-p', '--max-cost', '0.15', 'Go on'])
    expect([code, outcome(world)]).toEqual([3, ['limit', expect.stringContaining('0.15 US dollars')]])
    expect(world.of('reply').map(({ cost }) => cost)).toEqual([0.1, 0.1])
  })

  it('--max-cost, where it is not known, is exit 2 and says what to do', async () => {
    const world = await openWorld()
    const { code, stderr } = await world.run(['-p', '--max-cost', '1', 'Go on'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^tiller: --max-cost: the price of chat\/test-model is unknown.*price in \.agentrc, or use --max-tokens\n$/)
    expect(world.server.requests).toHaveLength(0)
  })

  it('going in circles', async () => {
    const world = await openWorld((_, index) => (index > 20 ? say('I give up.') : calls(['edit', { path: 'README.md', edits: [{ old: 'zzz', new: 'y' }] }])))
    const { code, stderr } = await world.run(['-p', '--mode', 'full', 'Mend'])
    expect(code).toBe(3)
    expect(stderr).toMatch(/^limit: going in circles: /)
    expect(world.of('step').length).toBeLessThanOrEqual(6)
    expect(JSON.stringify(world.server.requests.at(-1)?.body['messages'])).toContain('Repeating it will not help')
  })
})

describe('modes', () => {
  it('ask: with nobody to ask a call is denied, the model is told, and it ends as needs-user: 5', async () => {
    const world = await openWorld([calls(['write', { path: 'a.txt', content: 'a' }], ['shell', { command: 'touch b.txt' }], ['shell', { command: 'git log --oneline' }]), say('I could only look.')])
    const { code, stdout, stderr } = await world.run(['-p', 'Write'])
    expect([code, stdout]).toEqual([5, 'I could only look.\n'])
    expect(stderr).toMatch(/^needs-user: /)
    expect(world.statuses()).toEqual(['denied', 'denied', 'ok'])
    expect([world.exists('a.txt'), world.exists('b.txt')]).toEqual([false, false])
    expect(JSON.stringify(world.server.requests[1]?.body['messages'])).toContain('nobody can be asked')
  })

  it('plan: nothing is changed, and that is no failure', async () => {
    const world = await openWorld([calls(['write', { path: 'a.txt', content: 'a' }], ['shell', { command: 'touch b.txt' }], ['shell', { command: 'cat README.md > c.txt' }], ['shell', { command: 'cat README.md' }], ['git', { op: 'commit', message: 'x', paths: ['README.md'] }]), say('The plan: …')])
    world.write('README.md', '# Changed by the person\n')
    const { code, stderr } = await world.run(['-p', '--mode', 'plan', 'Plan'])
    expect([code, stderr]).toEqual([0, ''])
    expect(world.statuses()).toEqual(['denied', 'denied', 'denied', 'ok', 'denied'])
    expect(world.git('status', '--porcelain')).toBe(' M README.md')
    expect(outcome(world)[0]).toBe('done')
  })

  it('edit: files in the root are written, commands ask', async () => {
    const world = await openWorld([calls(['write', { path: 'a.txt', content: 'a\n' }], ['write', { path: `${'../'.repeat(2)}outside.txt`, content: 'x' }], ['write', { path: '.git/hooks/post-commit', content: 'x' }], ['shell', { command: 'touch b.txt' }]), say('One.')])
    expect((await world.run(['-p', '--mode', 'edit', 'Write'])).code).toBe(5)
    expect(world.statuses()).toEqual(['ok', 'denied', 'denied', 'denied'])
    expect(world.git('status', '--porcelain')).toBe('?? a.txt')
  })

  it('a rule that denies holds in every mode and does not change the outcome; one that allows runs unasked', async () => {
    const world = await openWorld([calls(['shell', { command: 'touch a.txt' }], ['shell', { command: 'touch b.txt; rm README.md' }], ['shell', { command: 'touch b.txt' }]), say('Done.')])
    const { code } = await world.run(['-p', '--allow', 'exec:touch *', '--deny', 'exec:rm *', 'Touch'])
    expect([code, world.statuses()]).toEqual([0, ['ok', 'denied', 'ok']])
    expect([world.exists('README.md'), world.exists('b.txt')]).toEqual([true, true])
    world.server.push(calls(['shell', { command: 'rm README.md' }]), say('No.'))
    expect((await world.run(['-p', '--mode', 'full', '--deny', 'exec:rm *', 'Remove'])).code).toBe(0)
    expect(world.exists('README.md')).toBe(true)
  })

  it('the rules of a start end with it', async () => {
    const world = await openWorld([calls(['shell', { command: 'touch a.txt' }]), say('Yes.'), calls(['shell', { command: 'touch b.txt' }]), say('No.')])
    await world.run(['-p', '--allow', 'exec:touch *', 'Touch'])
    expect((await world.run(['-c', '-p', 'Touch'])).code).toBe(5)
    expect([world.exists('a.txt'), world.exists('b.txt')]).toEqual([true, false])
  })
})

describe('a claim that the log does not bear out', () => {
  it('that the tests pass, although they failed behind a pipe, is no success', async () => {
    const world = await openWorld([write('a.txt'), calls(['shell', { command: 'npm test 2>&1 | tail -3' }]), say('All tests pass.')], { files: { 'package.json': '{ "scripts": { "test": "echo 1 failed; exit 7" } }' } })
    const { code, stdout, stderr } = await world.run(['-p', '--mode', 'full', 'Test'])
    expect(world.of('result')[1]).toMatchObject({ status: 'failed', text: expect.stringContaining('7') as string })
    expect([code, stdout]).toEqual([4, 'All tests pass.\n'])
    expect(stderr).toMatch(/^unverified: the answer says that tests pass, but /)
  })

  it('that it goes on, without doing so, is asked about twice and then no success', async () => {
    const todo = calls(['todo', { items: [{ text: 'find it', status: 'done' }, { text: 'mend it', status: 'doing' }, { text: 'prove it', status: 'open' }] }])
    const world = await openWorld((_, index) => (index === 0 ? todo : say('Next I will run the tests:')))
    const { code, stderr } = await world.run(['-p', 'Mend'])
    expect(code).toBe(4)
    expect(stderr).toMatch(/^unverified: 2 items of its todo list are still open: mend it; prove it\n$/)
    expect(world.server.requests).toHaveLength(4)
  })

  it('said over and over is cut off', async () => {
    const world = await openWorld(() => ({ text: 'I will now execute the command.\nLet me do it.\nExecuting:\n'.repeat(5_000), deltas: 500 }))
    const tiller = world.start(['-p', 'Do'])
    await tiller.says('over and over')
    tiller.kill('SIGINT')
    expect((await tiller.ended).code).toBe(130)
    expect(world.of('reply')[0]?.fault?.kind).toBe('garbage')
  })

  it('failing in the same way with other words each time is a circle, too', async () => {
    const world = await openWorld((_, index) => (index > 30 ? say('Oh well.') : calls(['shell', { command: `ls /nope${index}` }])))
    const { code, stderr } = await world.run(['-p', '--mode', 'full', 'List'])
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^limit: going in circles: shell failing in the same way/)])
    expect(world.server.requests.length).toBeLessThan(12)
  })
})

it('of several runs the first that was not done decides', async () => {
  const world = await openWorld([calls(['shell', { command: 'touch a' }]), say('No.'), { status: 400, json: { error: { message: 'bad thing' } } }, say('Yes.')])
  const lines = ['one', 'two', 'three'].map((text) => JSON.stringify({ type: 'input', text, when: 'after' }))
  // Nobody can be asked once stdin has ended.
  const { code } = await world.run(['--json-in'], { input: lines.join('\n') })
  expect(code).toBe(5)
  expect(world.of('outcome').map(({ status }) => status)).toEqual(['needs-user', 'failed', 'done'])
})

describe('--output-schema', () => {
  const files = { 'schema.json': JSON.stringify({ type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'], additionalProperties: false }) }

  it('lets a fitting answer through and fails the others, with what is wrong', async () => {
    const world = await openWorld([say('{"ok": true}'), say('{"ok": "yes"}'), say('Fine!')], { files })
    const run = () => world.run(['-p', '--output-schema', 'schema.json', 'Answer'])
    expect(await run()).toMatchObject({ code: 0, stdout: '{"ok": true}\n', stderr: '' })
    expect(await run()).toMatchObject({ code: 1, stderr: expect.stringMatching(/does not fit schema\.json.*ok/s) as string })
    expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('not JSON') as string })
  })
})

it('--tools names those of this start, or takes one away', async () => {
  const world = await openWorld([calls(['shell', { command: 'touch a' }], ['ls', {}]), say('No shell.'), say('Again.')])
  expect((await world.run(['-p', '--mode', 'full', '--tools', 'read,ls', 'Go'])).code).toBe(0)
  const offered = (index: number): string[] => ((world.server.requests[index]?.body['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name)
  expect(offered(0)).toEqual(['read', 'ls'])
  expect(world.statuses()).toEqual(['rejected', 'ok'])
  await world.run(['-p', '--tools', '-shell,-job', 'Go'])
  expect(offered(2)).toContain('write')
  expect(offered(2)).not.toContain('shell')
})

it('--system and --append-system are what the model is told', async () => {
  const world = await openWorld([say('Yes.'), say('Yes.')], { files: { 'persona.md': 'You are a pirate.\n' } })
  await world.run(['-p', '--system', '@persona.md', 'Hi'])
  await world.run(['-p', '--append-system', 'Speak Latin.', 'Hi'])
  const [first, second] = world.server.requests.map(({ body }) => JSON.stringify((body['messages'] as unknown[])[0]))
  expect(first).toContain('You are a pirate.')
  expect(first).not.toContain('Tiller')
  expect(second).toContain('Speak Latin.')
})
