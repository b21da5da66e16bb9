import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { calls, openWorld, say, type World } from '../support/world.ts'

const texts = (world: World): string[] => world.of('result').map(({ text }) => text)
const commands = (...lines: string[]) => calls(...lines.map((command): [string, unknown] => ['shell', { command }]))

it('a shell that is not there is a failed call that names it, and the run goes on', async () => {
  const world = await openWorld([commands('echo hi'), say('No shell.')])
  world.configure({ shell: { path: '/nonexistent/bash' } })
  const { code } = await world.run(['-p', '--mode', 'full', 'Go'])
  expect(code).toBe(0)
  expect(world.statuses()).toEqual(['failed'])
  expect(texts(world)[0]).toContain('/nonexistent/bash')
})

it('a huge command and a huge environment do not stop the next one', async () => {
  const world = await openWorld([commands(`# ${'x'.repeat(3_000_000)}\necho ok`, 'echo fine', 'echo "${#HUGE}"')])
  world.server.push(say('Both.'))
  const { code } = await world.run(['-p', '--mode', 'full', 'Go'], { env: { HUGE: 'y'.repeat(120_000) } })
  expect(code).toBe(0)
  expect(texts(world)[0]).toMatch(/^ok\n|too long/)
  expect(texts(world)[1]).toMatch(/^fine\n/)
  expect(world.statuses()).toEqual([expect.any(String), 'ok', 'ok'])
})

it('a working directory that is gone is said, and commands run in the root', async () => {
  const world = await openWorld([calls(['shell', { command: 'mkdir t; cd t', keep: true }]), commands('rmdir ../t'), commands('pwd'), say('Here.')])
  expect((await world.run(['-p', '--mode', 'full', 'Go'])).code).toBe(0)
  expect(texts(world)[2]).toMatch(new RegExp(`^${world.repo}\\n`))
})

it.runIf(process.platform === 'linux')('output of any length needs bounded memory', async () => {
  const world = await openWorld([commands('yes 0123456789 | head -c 100000000'), say('Much.')])
  const tiller = world.start(['--json', '--mode', 'full', 'Go'])
  const { text } = await tiller.until('result')
  const peak = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${tiller.pid}/status`, 'utf8'))?.[1])
  expect(peak / 1024, 'MB at most').toBeLessThan(250)
  expect(text).toMatch(/100000000 bytes/)
  expect(text.length).toBeLessThan(60_000)
  expect((await tiller.ended).code).toBe(0)
})

it('a full temporary folder does not keep commands from running', async ({ skip }) => {
  const world = await openWorld([commands('df -h .; seq 100000'), calls(['write', { path: 'a.txt', content: 'a' }]), say('Told.')])
  const full = join(world.folder, 'full')
  mkdirSync(full)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', full], { stdio: 'pipe' })
  } catch {
    return skip('mounting needs root')
  }
  try {
    execFileSync('sh', ['-c', 'head -c 2000000 /dev/zero > zeros; true'], { cwd: full, stdio: 'ignore' })
    const { code } = await world.run(['-p', '--mode', 'full', 'Go'], { env: { TMPDIR: full } })
    expect(code).toBe(0)
    expect(texts(world)[0]).toMatch(/Filesystem/)
    expect(world.statuses()).toEqual(['ok', 'ok'])
  } finally {
    execFileSync('umount', ['-l', full])
  }
})

it('binary output is text without control characters in the log and on the wire, and no character is torn', async () => {
  const world = await openWorld([commands("head -c 100000 /dev/urandom; printf '\\0\\0\\033c\\n'", "node -e \"process.stdout.write('\u4f60'.repeat(50000))\""), say('Odd.')])
  expect((await world.run(['-p', '--mode', 'full', 'Go'])).code).toBe(0)
  // oxlint-disable-next-line no-control-regex -- that there are none is the point
  expect(texts(world)[0]).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
  expect(texts(world)[1]).toMatch(/^\u4f60{1000}/)
  expect(texts(world)[1]).not.toContain('\uFFFD')
})

it('nothing asks, pages or opens an editor', async () => {
  const world = await openWorld([commands('git log; git commit --allow-empty', 'read -r answer; echo "got: $answer"', 'git -c core.askPass= ls-remote http://127.0.0.1:9/x.git'), say('Quiet.')])
  const { code } = await world.run(['-p', '--mode', 'full', 'Go'], { env: { EDITOR: 'vi', PAGER: 'less' } })
  expect(code).toBe(0)
  expect(world.statuses()).toEqual(['failed', 'ok', 'failed'])
  expect(texts(world)[1]).toContain('got: \n')
})

it('an edit keeps encoding, endings, mode and links; a file that changed meanwhile is not overwritten', async () => {
  const world = await openWorld([
    calls(['read', { path: 'crlf.txt' }], ['read', { path: 'run.sh' }], ['read', { path: 'other.txt' }]),
    calls(['edit', { path: 'crlf.txt', edits: [{ old: 'two', new: 'zwei\nzweieinhalb' }] }], ['write', { path: 'run.sh', content: '#!/bin/sh\necho new\n' }], ['shell', { command: 'echo changed > other.txt' }], ['write', { path: 'other.txt', content: 'mine\n' }]),
    say('Done.'),
  ], { files: { 'other.txt': 'other\n' } })
  writeFileSync(join(world.repo, 'crlf.txt'), Buffer.from('\uFEFFone\r\ntwo\r\nthr\u00e9e', 'utf8'))
  world.write('run.sh', '#!/bin/sh\necho old\n', 0o755)
  expect((await world.run(['-p', '--mode', 'full', 'Edit'])).code).toBe(0)
  expect(readFileSync(join(world.repo, 'crlf.txt')).equals(Buffer.from('\uFEFFone\r\nzwei\r\nzweieinhalb\r\nthr\u00e9e', 'utf8'))).toBe(true)
  expect(execFileSync(join(world.repo, 'run.sh'), { encoding: 'utf8' })).toBe('new\n')
  expect(world.read('other.txt')).toBe('changed\n')
  expect(world.of('result').at(-1)?.status).toBe('failed')
})
