import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GUARD } from '../../src/ui/ask.ts'
import { faultyDisk, type DiskFault } from '../support/faulty-disk.ts'
import { openTerminal, READY, sendText } from '../support/interactive.ts'
import { faultsOf } from '../support/session-check.ts'
import { TILLER } from '../support/tiller.ts'
import { calls, openWorld, say, type World } from '../support/world.ts'

const LOG = '\\.jsonl$'
/** A command that ends when the file `go` is there. */
const WAITS = 'until [ -e go ]; do sleep 0.02; done; echo the-output'
const CALLS = calls(['shell', { command: 'echo hi; seq 20000' }], ['read', { path: 'README.md' }], ['edit', { path: 'README.md', edits: [{ old: 'Sample', new: 'Simple' }] }])

const logOf = (world: World): string => world.sessions()[0] ?? ''
const texts = (world: World): string[] => world.of('input').map(({ text }) => text)

describe('the log', () => {
  it.each<[string, DiskFault]>([
    ['half of a write is there', { call: 'writeSync', path: LOG, nth: 4, error: 'ENOSPC', half: true }],
    ['a sync fails, and what was written cannot be taken back', { call: 'fdatasyncSync ftruncateSync', path: LOG, nth: 4, error: 'EIO' }],
  ])('%s: the run stops and says so in a sentence, and -c goes on without it', async (_, fault) => {
    const world = await openWorld([CALLS, say('Done.'), say('And on.')], { unchecked: true })
    const { code, events, stderr } = await world.run(['--json', '--mode', 'full', 'Go'], { env: faultyDisk(fault) })
    expect([code, stderr]).toEqual([1, ''])
    expect(events.filter((event) => event.type === 'error').map(({ message }) => message)).toEqual([expect.stringMatching(/^The run stopped: \S+\.jsonl could not be written: [^.]+ \((ENOSPC|EIO|EROFS)\)\. What was to be saved is kept in memory/)])
    expect(events.filter((event) => 'seq' in event), 'what was told is there').toEqual(world.records().slice(0, events.filter((event) => 'seq' in event).length))
    expect(faultsOf(logOf(world), { open: true })).toEqual([])
    expect((await world.run(['-c', '-p', 'Go on'])).code).toBe(0)
    expect(faultsOf(logOf(world))).toEqual([])
    expect(texts(world)).toEqual(['Go', 'Go on'])
  })

  it('a fault that is over at once ends the run as failed, all recorded', async () => {
    const world = await openWorld([CALLS, say('Done.')])
    const { code, stdout, stderr } = await world.run(['-p', '--mode', 'full', 'Go'], { env: faultyDisk({ call: 'fdatasyncSync', path: LOG, nth: 5, times: 1, error: 'EIO' }) })
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^failed: The run stopped: .*input\/output error \(EIO\)\.\n$/)])
    expect(world.of('outcome').map(({ status }) => status)).toEqual(['failed'])
  })

  it('on the screen what could not be written stays, and when there is room it is written and the session goes on, each text once', async () => {
    const world = await openWorld([{ text: 'First a look.', calls: [{ name: 'shell', input: { command: WAITS } }] }, say('And on.')])
    const full = join(world.folder, 'full')
    const terminal = openTerminal(world, ['--mode', 'full', 'Go'], { rows: 40, env: faultyDisk({ call: 'writeSync', path: LOG, while: full, error: 'ENOSPC' }) })
    await terminal.waitFor(/running/)
    await sendText(terminal, 'steer me')
    await terminal.waitFor(/steer me \(/)
    writeFileSync(full, '')
    world.write('go', '')
    const screen = await terminal.waitFor(/The run stopped:[^]*no space is\s+left/)
    expect(screen).toMatch(/First a look\.[^]*● shell until.*\s+.*unknown[^]*the-output[^]*steer me/)
    await sendText(terminal, 'not yet')
    await terminal.waitFor(/This input could not be saved[^]*> not yet/)
    rmSync(full)
    // Else it is taken for the first Enter, still held down.
    await new Promise((resolve) => setTimeout(resolve, GUARD + 100))
    await terminal.type('enter')
    await terminal.waitFor(/And on\.[^]*done/)
    expect(texts(world)).toEqual(['Go', 'steer me', 'not yet'])
    expect(world.of('result').map(({ status, text }) => [status, text])).toEqual([['ok', expect.stringContaining('the-output')]])
    expect(world.of('outcome').map(({ status }) => status)).toEqual(['failed', 'done'])
  })

  it('an answer that could not be saved stays on the screen, and leaving says how far the session is saved', async () => {
    const answered = Promise.withResolvers<void>()
    const world = await openWorld([{ text: 'An answer that cost money.', hold: answered.promise }], { unchecked: true })
    const full = join(world.folder, 'full')
    const terminal = openTerminal(world, ['Go'], { env: faultyDisk({ call: 'fdatasyncSync', path: LOG, while: full, error: 'EIO' }) })
    await terminal.waitFor(/Working/)
    writeFileSync(full, '')
    answered.resolve()
    await terminal.waitFor(/An answer that cost money\.[^]*The run stopped:[^]*input\/output error/)
    await terminal.type('ctrl+d')
    expect((await terminal.exit()).exitCode).toBe(0)
    expect(terminal.bytes()).toMatch(/is saved only up to where \S+\.jsonl could be written/)
  })

  it.each<[string, DiskFault, RegExp]>([
    ['its end cannot be written', { call: 'writeSync', path: LOG, error: 'ENOSPC' }, /^tiller: \S+\.jsonl could not be written: no space is left on the device \(ENOSPC\)\.$/],
    ['its lock cannot be made', { call: 'linkSync writeFileSync', path: '\\.lock', error: 'ENOSPC' }, /^tiller: The session's lock \S+ cannot be made: no space is left on the device \(ENOSPC\)\.$/],
    ['it cannot be read', { call: 'openSync', path: LOG, error: 'EIO' }, /^tiller: there is no session of this folder .*\.jsonl cannot be read: the device reported an input\/output error \(EIO\)\).*$/],
  ])('of a session that is gone on with: %s, which is one sentence, headless and in a terminal', async (_, fault, sentence) => {
    const world = await openWorld([calls(['shell', { command: 'sleep 300' }])], { unchecked: true })
    const killed = world.start(['--json', '--mode', 'full', 'Go'])
    await killed.until('spawn')
    killed.kill('SIGKILL')
    await killed.ended
    const before = readFileSync(logOf(world))
    const { stderr, stdout } = await world.run(['-c', '-p', 'Go on'], { env: faultyDisk(fault) })
    expect([stdout, stderr.trimEnd()]).toEqual(['', expect.stringMatching(sentence)])
    const terminal = openTerminal(world, ['-c'], { columns: 400, env: faultyDisk(fault) })
    await terminal.exit()
    expect(terminal.screen().trim()).toMatch(sentence)
    expect(readFileSync(logOf(world)).equals(before)).toBe(true)
  })
})

it('a session that can only be read does not look as if it went on', async () => {
  const world = await openWorld([calls(['shell', { command: 'sleep 300' }]), say('Here.')])
  const killed = world.start(['--json', '--mode', 'full', 'Go'])
  await killed.until('spawn')
  killed.kill('SIGKILL')
  await killed.ended
  const terminal = openTerminal(world, ['-c'], { env: faultyDisk({ call: 'linkSync writeFileSync', path: '\\.lock', error: 'EACCES' }) })
  const screen = await terminal.waitFor(/This run was cut off[^]*\/fork goes on in a copy/)
  expect(screen).not.toMatch(/Working|running/)
  expect((await world.run(['-c', '-p', 'Go on'])).code).toBe(0)
})

describe('beside the log', () => {
  const shellText = (world: World): string => world.of('result').find(({ text }) => text.startsWith('hi'))?.text ?? ''
  it.each<[string, DiskFault[], (world: World) => void]>([
    ['a blob and a checkpoint', [{ call: 'openSync', path: '\\.blobs/', error: 'ENOSPC' }, { call: 'mkdirSync', path: 'checkpoints', error: 'ENOSPC' }], (world) => {
      const [, file = ''] = /bytes of the output are in (\S+\.out\/\S+\.txt)/.exec(shellText(world)) ?? []
      expect(readFileSync(join(world.repo, file), 'utf8')).toMatch(/^hi\n1\n[^]*\n20000\n$/)
      expect(world.of('checkpoint').map(({ tree, note }) => [tree, note])).toEqual([[null, expect.stringMatching(/^no checkpoint could be kept: .*no space/)]])
    }],
    ['the output file of a command', [{ call: 'openSync', path: '\\.out/', error: 'ENOSPC' }], (world) => expect(shellText(world)).toMatch(/the rest of the 108897 bytes is lost: no space left on the disk/)],
    ['one half-way', [{ call: 'writeSync', path: '\\.out/', nth: 2, error: 'EIO' }, { call: 'openSync', path: 'checkpoints/.*index', error: 'EIO' }], (world) => expect(shellText(world)).toMatch(/the rest of the 108897 bytes is lost: \S+ cannot be written \(EIO\)/)],
  ])('%s cannot be written: it is said, and the run goes on', async (_, faults, said) => {
    const world = await openWorld([CALLS, say('Done.')])
    const { code, stdout, stderr } = await world.run(['-p', '--mode', 'full', 'Go'], { env: faultyDisk(...faults) })
    expect([code, stdout, stderr]).toEqual([0, 'Done.\n', ''])
    expect(world.statuses()).toEqual(['ok', 'ok', 'ok'])
    said(world)
  })

  it('a draft that cannot be kept is said once, and the text can be sent all the same', async () => {
    const world = await openWorld([say('Hi.')])
    const terminal = openTerminal(world, [], { env: faultyDisk({ call: 'openSync', path: '\\.draft', error: 'ENOSPC' }) })
    await terminal.waitFor(READY)
    await terminal.type('hello')
    await terminal.waitFor(/> hello[^]*would not survive a crash[^]*no\s+space is left/)
    await terminal.type('!')
    await terminal.waitFor((screen) => /> hello!/.test(screen) && !/survive/.test(screen))
    await terminal.type('enter')
    await terminal.waitFor(/Hi\.[^]*done/)
  })

  it.each<[string, DiskFault[]]>([
    ['its sync', [{ call: 'sync', path: '\\.tiller-', error: 'EIO' }]],
    ['its last step', [{ call: 'rename link', path: 'README|new\\.txt', error: 'EIO' }]],
    ['in place, since the folder may not be written', [{ call: 'open', path: '\\.tiller-', error: 'EACCES' }, { call: 'write', path: 'README', times: 1, error: 'ENOSPC', half: true }]],
  ])('a file that an edit writes, %s: it stays as it was and the model is told', async (_, faults) => {
    const world = await openWorld([calls(['read', { path: 'README.md' }], ['edit', { path: 'README.md', edits: [{ old: 'Sample', new: 'Simple' }] }], ['write', { path: 'new.txt', content: 'x\n' }]), say('So be it.')])
    expect((await world.run(['-p', '--mode', 'full', 'Go'], { env: faultyDisk(...faults) })).code).toBe(0)
    expect([world.read('README.md'), world.git('status', '--porcelain')]).toEqual(['# Sample\n', ''])
    expect(world.statuses()).toEqual(['ok', 'failed', 'failed'])
    expect(world.of('result').slice(1).map(({ text }) => text)).toEqual([expect.stringMatching(/^README\.md was not written: /), expect.stringMatching(/^new\.txt was not written: /)])
    expect(readdirSync(world.repo).filter((name) => name.includes('.tmp'))).toEqual([])
  })
})

it('as somebody who may not write there: exit 2 and how to go on', async ({ skip }) => {
  if (process.getuid?.() !== 0) return skip('being somebody else needs root')
  const world = await openWorld([say('Here.')])
  expect((await world.run(['-p', 'Go'])).code).toBe(0)
  const before = readFileSync(logOf(world))
  const asNobody = (args: readonly string[]): string => {
    const { status, stderr } = spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, TILLER, ...args], { cwd: world.repo, env: world.env, encoding: 'utf8' })
    return `${status} ${stderr}`
  }
  execFileSync('chmod', ['-R', 'a+rX', world.folder])
  execFileSync('chmod', ['-R', 'go-rwx', join(world.home, '.config')])
  execFileSync('chown', ['-R', '65534', world.home])
  expect(asNobody(['-c', '-p', 'me'])).toMatch(/^2 tiller: .*can only be read here\. .*permission denied.*--fork/)
  expect(asNobody(['-p', 'me'])).toMatch(/^2 tiller: Sessions cannot be kept in .*permission denied.*--session-dir <dir>\.\n$/)
  expect(readFileSync(logOf(world)).equals(before)).toBe(true)
})
