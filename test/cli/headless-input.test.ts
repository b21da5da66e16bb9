import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { TILLER } from '../support/tiller.ts'
import { calls, openWorld, say, type World } from '../support/world.ts'

/** A start from a shell, which has pipes and redirections. `"$@"` is the program with its arguments. */
async function shell(world: World, script: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const child = spawn('sh', ['-c', script, 'sh', process.execPath, TILLER, ...args], { cwd: world.repo, env: world.env, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (data: Buffer) => void (said.stdout += data.toString()))
  child.stderr.on('data', (data: Buffer) => void (said.stderr += data.toString()))
  await once(child, 'close')
  return said
}

const asked = (world: World): string | undefined => world.of('input').at(-1)?.text

describe('the prompt', () => {
  it('is the words of the command line, as they are', async () => {
    const world = await openWorld([say('Ünïcode 日本 🙂')])
    const { stdout, stderr } = await world.run(['-p', '--', '--not an option', 'and "this"'])
    expect([stdout, stderr]).toEqual(['Ünïcode 日本 🙂\n', ''])
    expect(asked(world)).toBe('--not an option and "this"')
  })

  it('is what is piped in where there are no words, and both where there are', async () => {
    const world = await openWorld([say('One.'), say('Two.')])
    await world.run([], { input: 'Explain this.\n' })
    expect(asked(world)).toBe('Explain this.')
    await world.run(['-p', 'Explain this:'], { input: 'line 1\nline 2\u2028\n' })
    expect(asked(world)).toBe('Explain this:\n\n<file name="stdin">\nline 1\nline 2\u2028\n</file>')
    world.server.push(say('Three.'))
    expect((await world.run(['-c', '-p', 'go on'])).code).toBe(0)
  })

  it('takes the files that are named with @, and says where one is missing', async () => {
    const world = await openWorld([say('Read.')], { files: { 'a b.txt': 'spaces\n', 'plan.md': '# Plan\n' } })
    await world.run(['-p', 'Follow', '@plan.md', 'for me@example.org'])
    expect(asked(world)).toBe('Follow for me@example.org\n\n<file name="plan.md">\n# Plan\n</file>')
    const { code, stdout, stderr } = await world.run(['-p', 'Follow', '@plans.md'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^tiller: @plans\.md: there is no file .*\/plans\.md[^\n]*\n$/)
    expect(world.sessions()).toHaveLength(1)
  })

  it('that is missing is exit 2, with what to do', async () => {
    const world = await openWorld()
    for (const args of [[], ['-p'], ['--json'], ['-p', '  ']]) {
      const { code, stdout, stderr } = await world.run(args, { input: ' \n' })
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/^tiller: there is no prompt: [^\n]*\n$/)
    }
    expect(world.exists('.agent')).toBe(false)
  })

  it('is waited for, and stderr says so after two silent seconds', async () => {
    const world = await openWorld([say('Here.')])
    const tiller = world.start(['-p'], { input: null })
    await tiller.says('waiting for the end of its standard input')
    tiller.send('at last')
    tiller.endInput()
    expect((await tiller.ended).stdout).toBe('Here.\n')
  })
})

describe('what is printed', () => {
  it('with --json is each record of the file, in order, and nothing else on stdout', async () => {
    const world = await openWorld([calls(['ls', {}], ['read', { path: 'README.md' }]), say('Seen.')])
    const { code, stdout, stderr, events } = await world.run(['--json', 'Look'])
    expect([code, stderr]).toEqual([0, ''])
    expect(events).toHaveLength(stdout.trimEnd().split('\n').length)
    expect(events.filter((event) => 'seq' in event)).toEqual(world.records())
    const said = events.flatMap((event) => (event.type === 'delta' && event.kind === 'text' ? [event.text] : [])).join('')
    expect(said).toBe('Seen.')
  })

  it('without it is the answer on stdout and the rest on stderr', async () => {
    const world = await openWorld([{ text: 'I look.', calls: [{ name: 'shell', input: { command: 'echo noise' } }] }, say('The answer.')])
    const { stdout, stderr } = await world.run(['--mode', 'full', 'Look'])
    expect([stdout, stderr]).toEqual(['The answer.\n', ''])
  })

  it('to a reader that leaves ends quietly: what runs is stopped and recorded', async () => {
    const world = await openWorld([calls(['shell', { command: 'while :; do echo tick; sleep 0.05; done' }]), say('Never.')])
    const { stdout, stderr } = await shell(world, '"$@" | head -1', '--json', '--mode', 'full', 'Tick')
    expect(stdout).toMatch(/^\{"seq":0,.*\}\n$/)
    expect(stderr).toBe('')
    await expect.poll(() => world.living()).toEqual([])
    expect(world.of('outcome').map(({ status }) => status)).toEqual(['interrupted'])
    expect(world.server.requests.length).toBeLessThan(2)
  })

  it('to a stdout or stderr that is closed from the start does no harm', async () => {
    const world = await openWorld([say('Heard by nobody.'), say('Heard.')])
    expect(await shell(world, '"$@" >&-', '-p', 'Hello')).toEqual({ stdout: '', stderr: '' })
    expect(await shell(world, '"$@" 2>&-', '-p', 'Hello')).toEqual({ stdout: 'Heard.\n', stderr: '' })
  })

  it('to a reader that has stopped reading does not keep a signal from ending it', async () => {
    const world = await openWorld([{ text: 'x'.repeat(400_000), deltas: 4_000 }, say('Never.')])
    const tiller = world.start(['--json', 'Talk'])
    tiller.child.stdout?.pause()
    await world.server.request(0)
    await expect.poll(() => tiller.child.stdout?.readableLength ?? 0).toBeGreaterThan(0)
    tiller.kill('SIGTERM')
    await expect.poll(() => world.living(), { timeout: 10_000 }).toEqual([])
    tiller.child.stdout?.resume()
    expect((await tiller.ended).code).toBe(143)
  })

  it('holds no control characters that the model slipped in', async () => {
    const world = await openWorld([say('red \u001b[31m bell \u0007 title \u001b]0;x\u0007 end')])
    const { stdout } = await world.run(['-p', 'Colour'])
    // oxlint-disable-next-line no-control-regex -- that there are none is the point
    expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
  })
})

it('works in the folder that -C names', async () => {
  const world = await openWorld([calls(['ls', {}]), say('There.')], { files: { 'sub/inside.txt': 'x' } })
  expect((await world.run(['-C', `${world.repo}/sub`, '-p', 'Look'], { cwd: '/' })).code).toBe(0)
  expect(world.of('result')[0]?.text).toContain('inside.txt')
  expect(world.of('session')[0]).toMatchObject({ cwd: `${world.repo}/sub`, root: world.repo })
})
