import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { Step } from '../support/model-server.ts'
import { calls, openWorld, say } from '../support/world.ts'

const KEY = 'test-key-of-chat'
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const chunk = (delta: unknown, finish_reason: string | null = null): string => data({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'test-model', choices: [{ index: 0, delta, finish_reason }] })

describe('a server that answers', () => {
  it.each<[string, Step, RegExp]>([
    ['401', { status: 401, json: { error: { message: `Incorrect API key provided: ${KEY}` } } }, /^failed: .*401.*Check providers\.chat\.apiKey/],
    ['404', { status: 404, json: { error: { message: 'The model does not exist' } } }, /^failed: .*404.*It offers: .*test-model/],
    ['429 with hours to wait', { status: 429, json: { error: { message: 'quota' } }, headers: { 'retry-after': '11180' } }, /^failed: .*429.*3\.1 h/],
    ['400 with a reason', { status: 400, json: { error: { message: 'bad thing' } } }, /^failed: .*400.*bad thing/],
    ['400 without one', { status: 400, bytes: '' }, /^failed: .*400/],
    ['an escape sequence in its error', { status: 400, json: { error: { message: 'x\u001b]0;owned\u0007\u001b[2Jy' } } }, /^failed: .*400/],
    ['a refusal', { text: '', stop: 'filter' }, /^failed: .*(refused|filtered)/],
  ])('%s: a clear sentence, exit 1, and the session is kept', async (_, step, line) => {
    const world = await openWorld([step])
    const { code, stdout, stderr } = await world.run(['-p', 'Hello'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(line)
    expect(stderr).toMatch(/^[^\n]+\n$/)
    // oxlint-disable-next-line no-control-regex -- that there are none is the point
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    expect(stderr).not.toContain(KEY)
    expect(JSON.stringify(world.records())).not.toContain(KEY)
    expect(world.of('outcome').at(-1)?.status).toBe('failed')
  })

  it.each<[string, Step]>([
    ['an error', { status: 401, json: { error: { message: 'no' } } }],
    ['a refusal', { text: '', stop: 'filter' }],
  ])('%s: the session goes on, and nothing of the failed turn is lost or taken for an answer', async (_, step) => {
    const world = await openWorld([step, say('Better now.')])
    expect((await world.run(['-p', 'Hello'])).code).toBe(1)
    expect(await world.run(['-c', '-p', 'again'])).toMatchObject({ code: 0, stdout: 'Better now.\n' })
    expect(JSON.stringify(world.server.requests[1]?.body['messages'])).toMatch(/Hello.*again/)
  })

  it('a fallback takes over where the model cannot be had, and the next run begins with the set one', async () => {
    const world = await openWorld([{ status: 429, json: { error: { message: 'quota' } }, headers: { 'retry-after': '11180' } }, calls(['ls', {}]), say('By the other.'), say('Back.')])
    const { chat, responses } = world.server.providers
    world.configure({ providers: { chat, responses }, fallback: 'responses/test-model' })
    const { code, stdout, stderr } = await world.run(['-p', 'Hello'])
    expect([code, stdout]).toEqual([0, 'By the other.\n'])
    expect(stderr).toMatch(/^[^\n]*429[^\n]* responses\/test-model takes over for the rest of this run\.\n$/)
    expect((await world.run(['-c', '-p', 'More'])).stdout).toBe('Back.\n')
    expect(world.of('step').map(({ model }) => model)).toEqual(['chat/test-model', 'responses/test-model', 'responses/test-model', 'chat/test-model'])
  })

  it('P23: it is reached through a proxy, and with more patience than Node has; a proxy of a kind that cannot be used is named at the start', async () => {
    const world = await openWorld([say('By proxy.'), say('Late.')])
    const { chat } = world.server.providers
    world.configure({ providers: { chat: { ...chat, baseURL: 'http://model.invalid/v1' } } })
    expect(await world.run(['-p', 'Hello'], { env: { HTTP_PROXY: world.server.url } })).toMatchObject({ code: 0, stdout: 'By proxy.\n', stderr: '' })
    const socks = await world.run(['-p', 'Hello'], { env: { ALL_PROXY: 'socks5://me:secret@127.0.0.1:1' } })
    expect([socks.code, socks.stderr]).toEqual([2, expect.stringMatching(/^[^\n]*socks5:\/\/127\.0\.0\.1:1 [^\n]*\n$/)])
    world.configure({ providers: { chat: { ...chat, idleSeconds: 600 } } })
    expect(await world.run(['-p', 'Hello'])).toMatchObject({ code: 0, stdout: 'Late.\n' })
  })

  it.each<[string, Step]>([
    ['429 with a short wait', { status: 429, json: { error: { message: 'slow down' } }, headers: { 'retry-after': '0' } }],
    ['500', { status: 500, json: { error: { message: 'oops' } }, headers: { 'retry-after': '0' } }],
    ['529', { status: 529, json: { error: { type: 'overloaded_error', message: 'Overloaded' } }, headers: { 'retry-after': '0' } }],
    ['garbage', { bytes: '<html><body>Welcome to nginx</body></html>' }],
    ['nothing at all', { bytes: '' }],
    ['a stream that is cut', { text: 'Half an answer', cut: 3 }],
    ['a stream that ends with a proxy\'s words', { bytes: [chunk({ content: 'Half' }), 'upstream error: reset\n'] }],
    ['a call that is cut in its arguments', { calls: [{ name: 'write', input: { path: 'a.txt', content: 'long '.repeat(50) } }], cut: 3 }],
  ])('%s: it is tried again, said on stderr, and the half reply is not taken for an answer', async (_, step) => {
    const world = await openWorld([step, say('Whole.')])
    const { code, stdout, stderr } = await world.run(['-p', '--mode', 'full', 'Hello'])
    expect([code, stdout]).toEqual([0, 'Whole.\n'])
    expect(stderr).toMatch(/^[^\n]+ Trying again in \d+ s\.\n$/)
    expect(world.of('step').map(({ number, attempt }) => [number, attempt])).toEqual([[1, 1], [1, 2]])
    expect(world.of('reply').map(({ stop, retry }) => [stop, retry !== undefined])).toEqual([['error', true], ['end', false]])
    expect(world.server.requests[1]?.raw.equals(world.server.requests[0]?.raw ?? Buffer.of())).toBe(true)
    expect(world.exists('a.txt')).toBe(false)
  })

  it('500 for ever: bounded, and exit 1', async () => {
    const world = await openWorld(() => ({ status: 500, json: { error: { message: 'oops' } }, headers: { 'retry-after': '0' } }), {})
    const { code, stderr } = await world.run(['-p', 'Hello'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/\nfailed: .*500.*oops.*\n$/)
    expect(world.server.requests).toHaveLength(5)
  })
})

it('a server that is not there, and one that closes at once, are named with what to look at', async () => {
  const gone = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => gone.once('listening', resolve))
  const { port } = gone.address() as AddressInfo
  await new Promise((resolve) => gone.close(resolve))
  const world = await openWorld()
  world.configure({ providers: { chat: { ...world.server.providers.chat, baseURL: `http://127.0.0.1:${port}/v1` } } })
  const tiller = world.start(['-p', 'Hello'])
  await tiller.says('Trying again')
  tiller.kill('SIGINT')
  const { code, stderr } = await tiller.ended
  expect(code).toBe(130)
  expect(stderr).toMatch(new RegExp(`chat cannot be reached at 127\\.0\\.0\\.1:${port}: nothing listens there \\(ECONNREFUSED\\)\\. Start the server, or check baseURL`))
})

it('--offline reaches loopback only', async () => {
  const world = await openWorld([say('Near.')])
  expect(await world.run(['-p', '--offline', 'Hello'])).toMatchObject({ code: 0, stdout: 'Near.\n' })
  world.configure({ providers: { chat: { ...world.server.providers.chat, baseURL: 'http://192.0.2.1:9/v1' } } })
  const { code, stderr } = await world.run(['-p', '--offline', 'Hello'])
  expect([code, stderr]).toEqual([2, 'tiller: Offline: 192.0.2.1:9 is not on this machine. Start without --offline, or use a local model.\n'])
})

describe('a reply that stops at the output limit', () => {
  it.each<[string, Step]>([
    ['in the arguments', { calls: [{ name: 'write', input: '{"path":"a.txt","content":"half of' }], stop: 'length' }],
    ['right after whole arguments', { calls: [{ name: 'write', input: { path: 'a.txt', content: 'half of' } }, { name: 'shell', input: { command: 'touch b.txt' } }], stop: 'length' }],
  ])('%s runs none of its calls; each is rejected and the model is told', async (_, step) => {
    const world = await openWorld([step, say('In pieces, then.')])
    expect((await world.run(['-p', '--mode', 'full', 'Write'])).code).toBe(0)
    expect(new Set(world.statuses())).toEqual(new Set(['rejected']))
    expect(world.of('result')).toHaveLength(step.calls?.length ?? 0)
    expect(world.of('result')[0]?.text).toContain('cut off at the output limit')
    expect(world.of('start')).toEqual([])
    expect([world.exists('a.txt'), world.exists('b.txt')]).toEqual([false, false])
  })

  it('but says it were whole: what is no JSON does not run, and is sent back as JSON', async () => {
    const world = await openWorld([{ calls: [{ name: 'write', input: '{"path":"a.txt","content":"abc' }] }, say('Again.')])
    expect((await world.run(['-p', '--mode', 'full', 'Write'])).code).toBe(0)
    expect(world.of('result').map(({ status, text }) => [status, text])).toEqual([['rejected', expect.stringContaining('not valid JSON')]])
  })
})

it('a window that is smaller than configured is learned from the refusal, and the work goes on', async () => {
  const world = await openWorld([calls(['read', { path: 'long.txt' }]), { status: 400, json: { error: { message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens." } } }, say('A summary.'), say('Done.')], {
    files: { 'long.txt': 'line\n'.repeat(2_000) },
  })
  const { code, stdout } = await world.run(['-p', 'Read'])
  expect([code, stdout]).toEqual([0, 'Done.\n'])
  expect(world.of('compact')).toHaveLength(1)
})

it('ids that a server uses twice never meet', async () => {
  const reused = (name: string, input: unknown): Step => ({ calls: [{ id: 'call_0', name, input }] })
  const world = await openWorld([reused('ls', {}), reused('read', { path: 'README.md' }), reused('shell', { command: 'git status' }), say('Done.')])
  expect((await world.run(['-p', 'Look'])).code).toBe(0)
  expect(new Set(world.of('result').map(({ call }) => call)).size).toBe(3)
})
