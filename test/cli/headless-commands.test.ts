import { describe, expect, it } from 'vitest'
import { calls, openWorld, say } from '../support/world.ts'

type Message = { role: string; content: unknown; tool_calls?: { id: string }[] }

const messages = (body: Record<string, unknown>): Message[] => (body['messages'] as Message[]).filter(({ role }) => role !== 'system')
const shape = (body: Record<string, unknown>): string => messages(body).map(({ role, content }) => (role === 'user' ? `user:${textOf(content)}` : role)).join(' ')
const textOf = (content: unknown): string => (typeof content === 'string' ? content : (content as { text: string }[]).map(({ text }) => text).join('|'))

/** A promise that a scripted server waits for, and its end. */
const gate = () => Promise.withResolvers<void>()

describe('steering', () => {
  it('is delivered with the next request, after the results, each text once and in order', async () => {
    const held = gate()
    const world = await openWorld([{ ...calls(['ls', {}], ['read', { path: 'README.md' }]), hold: held.promise }, say('Understood.')])
    const tiller = world.start(['--json', '--json-in', '--mode', 'full', 'Look around'], { input: null })
    await world.server.request(0)
    tiller.send({ type: 'input', text: 'rather in French' }, { type: 'input', text: 'and briefly', when: 'next' })
    const second = await tiller.until('input', ({ text }) => text === 'and briefly')
    expect(world.server.requests).toHaveLength(1)
    held.resolve()
    expect((await tiller.ended).code).toBe(0)
    expect(shape(world.server.requests[1]?.body ?? {})).toBe('user:Look around assistant tool tool user:rather in French|and briefly')
    const inputs = world.of('input')
    expect(inputs.map(({ text }) => text)).toEqual(['Look around', 'rather in French', 'and briefly'])
    expect(world.of('step').map((step) => step.inputs)).toEqual([[inputs[0]?.id], [inputs[1]?.id, second.id]])
  })

  it('while the last reply comes in goes on with the run in place of ending it', async () => {
    const held = gate()
    const world = await openWorld([{ text: 'Done.', hold: held.promise }, say('That as well.')])
    const tiller = world.start(['--json-in', 'First'], { input: null })
    await world.server.request(0)
    tiller.send({ type: 'input', text: 'one more thing' })
    await expect.poll(() => world.of('input').length, { timeout: 20_000 }).toBe(2)
    held.resolve()
    const { code, stdout } = await tiller.ended
    expect([code, stdout]).toEqual([0, 'That as well.\n'])
    expect(world.of('outcome')).toHaveLength(1)
  })

  it('that cuts in stops what runs, skips the rest and goes on in the same run', async () => {
    const world = await openWorld([calls(['shell', { command: 'sleep 300' }], ['write', { path: 'never.txt', content: 'x' }]), say('As you like.')])
    const tiller = world.start(['--json', '--json-in', '--mode', 'full', 'Wait'], { input: null })
    await tiller.until('spawn')
    tiller.send({ type: 'input', text: 'leave that', when: 'now' })
    expect((await tiller.ended).code).toBe(0)
    expect(world.statuses()).toEqual(['interrupted', 'skipped'])
    expect(world.exists('never.txt')).toBe(false)
    expect(shape(world.server.requests[1]?.body ?? {})).toBe('user:Wait assistant tool tool user:leave that')
    expect(world.of('outcome').map(({ status }) => status)).toEqual(['done'])
  })

  it('can be taken back while it waits', async () => {
    const held = gate()
    const world = await openWorld([{ ...calls(['ls', {}]), hold: held.promise }, say('Yes.')])
    const tiller = world.start(['--json', '--json-in', 'Go'], { input: null })
    await tiller.until('step')
    tiller.send({ type: 'input', text: 'no, wait' })
    const { id } = await tiller.until('input', ({ text }) => text === 'no, wait')
    tiller.send({ type: 'withdraw', input: id }, { type: 'withdraw', input: id })
    expect((await tiller.until('error')).message).toContain(id)
    held.resolve()
    await tiller.ended
    expect(shape(world.server.requests[1]?.body ?? {})).toBe('user:Go assistant tool')
  })
})

describe('a follow-up', () => {
  it('starts the next run when this one has its outcome, one at a time', async () => {
    const held = gate()
    const world = await openWorld([{ text: 'One.', hold: held.promise }, say('Two.'), say('Three.')])
    const tiller = world.start(['--json', '--json-in', 'First'], { input: null })
    await tiller.until('step')
    tiller.send({ type: 'input', text: 'second', when: 'after' }, { type: 'input', text: 'third', when: 'after' })
    await tiller.until('input', ({ text }) => text === 'third')
    held.resolve()
    expect((await tiller.ended).code).toBe(0)
    expect(world.records().flatMap((record) => (record.type === 'step' ? [`step ${record.inputs.length}`] : record.type === 'outcome' ? [record.status] : []))).toEqual(['step 1', 'done', 'step 1', 'done', 'step 1', 'done'])
    expect(new Set(world.of('step').map(({ run }) => run)).size).toBe(3)
  })
})

describe('commands on stdin', () => {
  it('begin without a prompt, and the end of stdin means: finish what is queued, then leave', async () => {
    const world = await openWorld([say('One.'), say('Two.')])
    const { code, stdout } = await world.run(['--json-in'], { input: '{"type":"input","text":"a"}\n{"type":"input","text":"b","when":"after"}' })
    expect([code, stdout]).toEqual([0, 'Two.\n'])
    expect(world.of('outcome')).toHaveLength(2)
  })

  it('that name another run are refused whole, with an error that names both', async () => {
    const held = gate()
    const world = await openWorld([{ ...calls(['ls', {}]), hold: held.promise }, say('Fine.')])
    const tiller = world.start(['--json', '--json-in', 'Go'], { input: null })
    const { run } = await tiller.until('step')
    const names = { run: 'long-gone' }
    tiller.send(
      { type: 'input', text: 'for the old one', ...names }, { type: 'interrupt', ...names }, { type: 'withdraw', ...names }, { type: 'decide', call: 'c', verdict: 'allow', ...names },
      { type: 'set', mode: 'full', ...names }, { type: 'input', text: 'for this one', run },
    )
    await tiller.until('input', ({ text }) => text === 'for this one')
    held.resolve()
    const { events, code } = await tiller.ended
    expect(code).toBe(0)
    const errors = events.filter((event) => event.type === 'error')
    expect(errors.map((error) => [error.run, error.active])).toEqual(Array.from({ length: 5 }, () => ['long-gone', run]))
    for (const { message } of errors) expect(message).toMatch(new RegExp(`long-gone.*${run}`))
    expect(shape(world.server.requests[1]?.body ?? {})).toBe('user:Go assistant tool user:for this one')
    expect(world.of('set').some(({ mode }) => mode === 'full')).toBe(false)
  })

  it('that are no commands are named, and the next one is taken', async () => {
    const world = await openWorld([say('Here.')])
    const { code, events } = await world.run(['--json', '--json-in'], { input: 'nonsense\n{"type":"dance"}\n[1]\n\n{"type":"input"}\n{"type":"input","text":"hello"}\n' })
    expect(code).toBe(0)
    expect(events.filter((event) => event.type === 'error').map(({ message }) => message)).toEqual([
      expect.stringContaining('not JSON: nonsense'), expect.stringContaining('dance'), expect.stringContaining('[1]'), expect.stringContaining('text does not fit'),
    ])
    expect(world.of('input').map(({ text }) => text)).toEqual(['hello'])
  })

  it('interrupt the run: exit 130, waiting texts go back, and the next input is a run of its own', async () => {
    const world = await openWorld([calls(['shell', { command: 'sleep 300' }]), say('Good morning.')])
    const tiller = world.start(['--json', '--json-in', '--mode', 'full'], { input: null })
    tiller.send({ type: 'input', text: 'sleep' })
    await tiller.until('spawn')
    tiller.send({ type: 'input', text: 'later' }, { type: 'interrupt' })
    await tiller.until('outcome')
    tiller.send({ type: 'input', text: 'wake up' })
    await tiller.until('outcome', ({ status }) => status === 'done')
    tiller.endInput()
    expect((await tiller.ended).code).toBe(130)
    expect(world.of('withdraw')).toHaveLength(1)
    expect(shape(world.server.requests[1]?.body ?? {})).toMatch(/^user:sleep assistant tool user:\[The user interrupted the work above\.\]\|wake up$/)
  })

  it('change mode, model and title, and rewind, as records that hold in the next start', async () => {
    const world = await openWorld([say('Red.'), say('Blue.'), say('Green.')])
    const tiller = world.start(['--json', '--json-in'], { input: null })
    tiller.send({ type: 'set', title: 'Colours', mode: 'plan' }, { type: 'input', text: 'a colour' })
    const { seq } = await tiller.until('outcome')
    tiller.send({ type: 'input', text: 'another' })
    await tiller.until('outcome', (outcome) => outcome.seq > seq)
    tiller.send({ type: 'rewind', to: seq }, { type: 'input', text: 'yet another' })
    tiller.endInput()
    expect((await tiller.ended).code).toBe(0)
    expect(shape(world.server.requests[2]?.body ?? {})).toBe('user:a colour assistant user:yet another')
    world.server.push(calls(['write', { path: 'x', content: 'x' }]), say('It may not be written.'))
    expect((await world.run(['-c', '-p', 'write x'])).code).toBe(0)
    expect(world.of('result').at(-1)?.status).toBe('denied')
    expect(world.exists('x')).toBe(false)
  })

  it("of the person's own run, are shown to the model where that is asked for, and are waited for", async () => {
    const world = await openWorld([say('One.'), say('Two.')])
    const tiller = world.start(['--json', '--json-in', 'first'], { input: null })
    tiller.send({ type: 'shell', command: 'sleep 0.2; echo seen', model: true }, { type: 'shell', command: 'echo private', model: false })
    expect((await tiller.ended).code).toBe(0)
    expect(world.of('shell').map(({ command, exit }) => [command, exit])).toEqual(expect.arrayContaining([['sleep 0.2; echo seen', 0], ['echo private', 0]]))
    expect((await world.run(['-c', '-p', 'second'])).code).toBe(0)
    expect(shape(world.server.requests[1]?.body ?? {})).toMatch(/The user ran a command:\n\$ sleep 0\.2; echo seen\nseen/)
    expect(shape(world.server.requests[1]?.body ?? {})).not.toContain('private')
  })

  it("stop the person's own command", async () => {
    const world = await openWorld([say('One.')])
    const tiller = world.start(['--json', '--json-in'], { input: null })
    tiller.send({ type: 'input', text: 'first' })
    await tiller.until('outcome')
    tiller.send({ type: 'shell', command: 'echo begun; sleep 300', model: true })
    await tiller.until('output', ({ text }) => text.includes('begun'))
    tiller.send({ type: 'interrupt' })
    expect((await tiller.until('shell')).exit).toBe(null)
    tiller.endInput()
    expect((await tiller.ended).code).toBe(0)
  })

  it('move a running command into the background, and check the work', async () => {
    const world = await openWorld([calls(['shell', { command: 'echo serving; sleep 300' }]), say('It serves.')])
    const tiller = world.start(['--json', '--json-in', '--mode', 'full', '--check', 'test -e README.md'], { input: null })
    tiller.send({ type: 'input', text: 'serve' })
    await tiller.until('output', ({ text }) => text.includes('serving'))
    tiller.send({ type: 'background' })
    expect((await tiller.until('result')).text).toMatch(/background/)
    const { run } = await tiller.until('outcome')
    tiller.send({ type: 'check' })
    expect((await tiller.until('outcome', (outcome) => outcome.run !== run)).status).toBe('verified')
    tiller.endInput()
    expect((await tiller.ended).code).toBe(0)
    expect(world.of('check')).toHaveLength(1)
  })

  it('compact, and an interrupt reaches that, too: nothing is changed and the next prompt is taken', async () => {
    const world = await openWorld([say('One. '.repeat(500)), { text: 'A summary', silent: 2 }, say('Two.'), say('A summary.'), say('Three.')])
    const tiller = world.start(['--json', '--json-in'], { input: null })
    tiller.send({ type: 'input', text: 'first' })
    await tiller.until('outcome')
    tiller.send({ type: 'compact' })
    await world.server.request(1)
    tiller.send({ type: 'interrupt' })
    await tiller.until('error', ({ message }) => message.includes('interrupted'))
    expect((await world.server.requests[1]?.closed)?.aborted).toBe(true)
    const done = world.records().length
    tiller.send({ type: 'input', text: 'second' })
    await tiller.until('outcome', ({ seq }) => seq > done)
    expect(shape(world.server.requests[2]?.body ?? {})).toBe('user:first assistant user:second')
    tiller.send({ type: 'compact' })
    await tiller.until('compact')
    tiller.send({ type: 'input', text: 'third' })
    tiller.endInput()
    await tiller.ended
    expect(shape(world.server.requests[4]?.body ?? {})).toMatch(/^user:Summary of the work so far[^]*A summary\.[^]*third$/)
  })

  it('with a prompt it leaves at the outcome although stdin is still open', async () => {
    const world = await openWorld([say('Done.')])
    const tiller = world.start(['--json-in', 'Go'], { input: null })
    expect((await tiller.ended).stdout).toBe('Done.\n')
  })
})

describe('a question', () => {
  const touch = (name: string) => calls(['shell', { command: `touch ${name}` }])

  it('that is answered with yes runs the call; with no it tells the model, with the reason', async () => {
    const world = await openWorld([calls(['shell', { command: 'touch a' }], ['shell', { command: 'touch b' }]), say('One of two.')])
    const tiller = world.start(['--json', '--json-in', 'Touch'], { input: null })
    const first = await tiller.until('ask')
    expect(first.preview).toMatchObject({ kind: 'command', command: 'touch a' })
    expect(world.exists('a')).toBe(false)
    tiller.send({ type: 'decide', call: first.call, verdict: 'allow' })
    const second = await tiller.until('ask', ({ call }) => call !== first.call)
    tiller.send({ type: 'decide', call: second.call, verdict: 'deny', reason: 'b is in the way' })
    expect((await tiller.ended).code).toBe(0)
    expect([world.exists('a'), world.exists('b')]).toEqual([true, false])
    expect(world.of('answer').map(({ verdict, by }) => [verdict, by])).toEqual([['allow', 'user'], ['deny', 'user']])
    expect(world.statuses()).toEqual(['ok', 'denied'])
    expect(JSON.stringify(world.server.requests[1]?.body)).toContain('b is in the way')
  })

  it('answered for the session is not asked again, once is', async () => {
    const world = await openWorld([touch('a'), touch('a'), calls(['shell', { command: 'mkdir -p c' }]), calls(['shell', { command: 'mkdir -p c' }]), say('All.')])
    const tiller = world.start(['--json', '--json-in', 'Touch'], { input: null })
    const first = (await tiller.until('ask')).call
    tiller.send({ type: 'decide', call: first, verdict: 'allow', grant: 'session' })
    const second = (await tiller.until('ask', ({ call }) => call !== first)).call
    tiller.send({ type: 'decide', call: second, verdict: 'allow', grant: 'once' })
    const third = (await tiller.until('ask', ({ call }) => call !== first && call !== second)).call
    tiller.send({ type: 'decide', call: third, verdict: 'allow' })
    expect((await tiller.ended).code).toBe(0)
    expect(world.of('answer').map(({ by }) => by)).toEqual(['user', 'rule', 'user', 'user'])
    expect([world.exists('a'), world.exists('c')]).toEqual([true, true])
    world.server.push(touch('a'), say('Again.'))
    expect((await world.run(['-c', '-p', 'once more'])).code).toBe(0)
  })

  it('answered for the project holds in the next session, and is kept outside the folder', async () => {
    const world = await openWorld([touch('a'), say('Yes.'), touch('a'), say('Yes.')])
    const tiller = world.start(['--json', '--json-in', 'Touch'], { input: null })
    tiller.send({ type: 'decide', call: (await tiller.until('ask')).call, verdict: 'allow', grant: 'project' })
    await tiller.ended
    expect((await world.run(['-p', 'Touch again'])).code).toBe(0)
    expect(world.sessions()).toHaveLength(2)
    expect(world.git('status', '--porcelain')).toBe('?? a')
  })

  it('that is open when stdin ends is denied, and the run finishes as needs-user', async () => {
    const world = await openWorld([touch('PWNED'), say('Then not.')])
    const tiller = world.start(['--json', '--json-in'], { input: null })
    tiller.send({ type: 'input', text: 'touch' })
    await tiller.until('ask')
    tiller.endInput()
    expect((await tiller.ended).code).toBe(5)
    expect(world.exists('PWNED')).toBe(false)
    expect(world.of('answer').map(({ verdict, by }) => [verdict, by])).toEqual([['deny', 'nobody']])
    expect(world.of('outcome').map(({ status }) => status)).toEqual(['needs-user'])
  })

  it('that a signal finds open is no yes', async () => {
    const world = await openWorld([touch('PWNED')])
    const tiller = world.start(['--json', '--json-in', 'touch'], { input: null })
    await tiller.until('ask')
    tiller.kill('SIGTERM')
    expect((await tiller.ended).code).toBe(143)
    expect(world.exists('PWNED')).toBe(false)
    world.server.push(say('It was not run.'))
    expect((await world.run(['-c', '-p', 'did it run?'])).code).toBe(0)
  })
})
