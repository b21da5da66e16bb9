import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { answer, openTerminal, READY } from '../support/interactive.ts'
import type { Pty } from '../support/pty.ts'
import { calls, openWorld, say, type World } from '../support/world.ts'

const write = (path: string, content: string) => calls(['write', { path, content }])
const messagesOf = (world: World, request: number): string => JSON.stringify(world.server.requests[request]?.body['messages'])

/** One prompt after the other, each to its outcome. */
async function prompts(terminal: Pty, ...texts: string[]): Promise<void> {
  for (const text of texts) {
    const before = terminal.all().split('■ ').length
    await terminal.type(text, 'enter')
    await terminal.waitFor(() => terminal.all().split('■ ').length > before, 60_000)
    await terminal.waitFor(READY)
  }
}

async function rewindTo(terminal: Pty, label: RegExp, ...keys: string[]): Promise<void> {
  await terminal.type('/rewind', 'enter')
  await terminal.waitFor(/^› .*just now|^› .*ago/m)
  // An Enter that comes right after another one is one that is held down.
  await new Promise((resolve) => setTimeout(resolve, 150))
  // To the row that is meant: up to the top first.
  for (let tries = 0; tries < 20 && !new RegExp(`^› ${label.source}`, 'm').test(terminal.screen()); tries++) {
    await terminal.type(tries < 8 ? 'up' : 'down')
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  await terminal.type('enter')
  await terminal.waitFor(/Go back to/)
  await terminal.type(...keys)
}

describe('rewind in a terminal', () => {
  it('takes conversation and files back to before an input, and brings a path that was left back with its files', async () => {
    const world = await openWorld([
      write('one.txt', '1\n'), say('One.'), calls(['shell', { command: 'echo made > made.txt; echo changed >> README.md' }]), say('Two.'), write('other.txt', 'o\n'), say('Three.'), say('Four.'),
    ])
    const terminal = openTerminal(world, ['--mode', 'full'], { columns: 100, rows: 40 })
    await terminal.waitFor(READY)
    await prompts(terminal, 'make one', 'run it')
    await rewindTo(terminal, /● run it/, '2')
    await terminal.waitFor(/\? put back {2}README\.md \(it changed while a command ran\)[^]*\? remove {4}made\.txt[^]*1\. Put 1 file back, remove 1/)
    expect(world.exists('made.txt')).toBe(true)
    await answer(terminal, /\? put back {2}README\.md \(it changed while a command ran\)[^]*\? remove {4}made\.txt[^]*1\. Put 1 file back, remove 1/, '1')
    await terminal.waitFor(/put back 2 files: made\.txt \(removed\), README\.md[^]*went back: what comes now follows the run "make one"[^]*^> run it$/m)
    expect([world.exists('made.txt'), world.read('README.md'), world.exists('one.txt')]).toEqual([false, '# Sample\n', true])
    await terminal.type('ctrl+u')
    await prompts(terminal, 'another way')
    // What was on the path that was left is not sent, and nothing has to be said of files that are as they were here.
    expect(messagesOf(world, 4)).toMatch(/make one.*another way/)
    expect(messagesOf(world, 4)).not.toMatch(/run it|put files back/)
    await rewindTo(terminal, /│ ◇ the end, after: run it/, '2')
    await answer(terminal, /put back {2}README\.md[^]*put back {2}made\.txt[^]*remove {4}other\.txt[^]*1\. Put 2 files back, remove 1/, '1')
    await terminal.waitFor(/went back: what comes now follows the run "run it"/)
    expect([world.read('made.txt'), world.read('README.md'), world.exists('other.txt')]).toEqual(['made\n', '# Sample\nchanged\n', false])
    await terminal.waitFor(READY)
    await prompts(terminal, 'and on')
    expect(messagesOf(world, 6)).toMatch(/make one.*run it.*and on/)
    expect(messagesOf(world, 6)).not.toMatch(/another way|put files back/)
    expect(world.of('rewind')).toHaveLength(2)
  })

  it('takes the files alone back: the model is told, and changes nothing that it has not read again', async () => {
    const edit = calls(['edit', { path: 'one.txt', edits: [{ old: 'first', new: 'second' }] }])
    const world = await openWorld([calls(['read', { path: 'one.txt' }]), calls(['edit', { path: 'one.txt', edits: [{ old: 'zero', new: 'first' }] }]), say('One.'), edit, say('I see.')], { files: { 'one.txt': 'zero\n' } })
    const terminal = openTerminal(world, ['--mode', 'full'], { columns: 100, rows: 40 })
    await terminal.waitFor(READY)
    await prompts(terminal, 'make it first')
    await rewindTo(terminal, /● make it first/, '3')
    await answer(terminal, /put back {2}one\.txt[^]*1\. Put 1 file back/, '1')
    await terminal.waitFor(/put back 1 file: one\.txt[^]*Done: 1 file put back/)
    expect(world.read('one.txt')).toBe('zero\n')
    await prompts(terminal, 'now the second')
    expect(messagesOf(world, 3)).toMatch(/make it first.*Edited.*put files back to an earlier state.*one\.txt.*now the second/)
    expect(world.read('one.txt')).toBe('zero\n')
    expect(world.statuses().at(-1)).toBe('failed')
    expect(messagesOf(world, 4)).toMatch(/changed since/)
  })
})

describe('undo in a terminal', () => {
  it('shows what it would do, leaves what a person changed unless that very file is chosen, and can be taken back', async () => {
    const world = await openWorld([calls(['write', { path: 'a.txt', content: 'agent\n' }], ['write', { path: 'b.txt', content: 'agent\n' }]), say('Made.')])
    const terminal = openTerminal(world, ['--mode', 'full'], { columns: 100, rows: 30 })
    await terminal.waitFor(READY)
    await prompts(terminal, 'make two')
    world.write('b.txt', 'person\n')
    await terminal.type('/undo', 'enter')
    await answer(terminal, /Put back what "make two" changed\n {2}remove {4}a\.txt\n {2}stays {5}b\.txt \(somebody else changed it after that\)\n› 1\. Remove 1 file\n {2}2\. Choose file by file/, '2')
    await terminal.waitFor(/2\. \[x\] remove a\.txt\n {2}3\. \[ \] remove b\.txt/)
    await terminal.type('2')
    await terminal.waitFor(/2\. \[ \] remove a\.txt/)
    await terminal.type('3')
    await terminal.waitFor(/3\. \[x\] remove b\.txt/)
    await terminal.type('1')
    await terminal.waitFor(/put back 1 file: b\.txt \(removed\)/)
    expect([world.exists('a.txt'), world.exists('b.txt')]).toEqual([true, false])
    await terminal.type('/undo redo', 'enter')
    await terminal.waitFor(/took the undo back: 1 file: b\.txt[^]*1 file was put back/)
    // What stood there, and not what the agent had made.
    expect(world.read('b.txt')).toBe('person\n')
  })

  it('puts back what a command did that was stopped, also when a person went on with the files since', async () => {
    const world = await openWorld([calls(['shell', { command: 'echo half > half.txt; echo more >> README.md; sleep 300' }])], { files: { 'README.md': '# Sample\n', 'own.txt': 'own\n' } })
    const terminal = openTerminal(world, ['--mode', 'full'], { columns: 100, rows: 30 })
    await terminal.waitFor(READY)
    await terminal.type('go', 'enter')
    await terminal.waitFor(() => world.exists('half.txt'))
    await terminal.type('ctrl+c')
    await terminal.waitFor(/■ interrupted/)
    await terminal.waitFor(() => world.records().at(-1)?.type === 'checkpoint')
    const [last, before] = [world.records().at(-1), world.records().at(-2)]
    expect(before).toMatchObject({ type: 'outcome', status: 'interrupted' })
    expect(last).not.toHaveProperty('run')
    world.write('own.txt', 'a person went on\n')
    await terminal.type('/undo', 'enter')
    await terminal.waitFor(/\? put back {2}README\.md[^]*\? remove {4}half\.txt[^]*1\. Put 1 file back, remove 1/)
    expect(terminal.screen()).not.toContain('own.txt')
    await answer(terminal, /\? put back {2}README\.md[^]*\? remove {4}half\.txt[^]*1\. Put 1 file back, remove 1/, '1')
    await terminal.waitFor(/put back 2 files/)
    expect([world.exists('half.txt'), world.read('README.md'), world.read('own.txt')]).toEqual([false, '# Sample\n', 'a person went on\n'])
  })

  it('asks in lines of text where the terminal can do no more', async () => {
    const world = await openWorld([write('a.txt', 'agent\n'), say('Made.')])
    const terminal = openTerminal(world, ['--mode', 'full'], { rows: 60, env: { TERM: 'dumb' } })
    await terminal.waitFor(/\/help lists the commands/)
    terminal.write('make it\r')
    await terminal.waitFor(/done: the model finished/)
    terminal.write('/undo\r')
    await terminal.waitFor(/Put back what "make it" changed\n {2}remove {4}a\.txt\n1\. Remove 1 file\n[^]*Answer with a number/)
    terminal.write('1\r')
    await terminal.waitFor(/put back 1 file: a\.txt \(removed\)/)
    expect(world.exists('a.txt')).toBe(false)
    terminal.write('/rewind\r')
    await terminal.waitFor(/Go back\n[^]*1\. [^\n]*now, after: make it[^\n]*\n2\. [^\n]*make it/)
    terminal.write('2\r')
    await terminal.waitFor(/1\. Conversation \(its text comes back/)
    terminal.write('1\r')
    await terminal.waitFor(/went back: what comes now follows the beginning/)
  })

  it('of the command line asks, too', async () => {
    const world = await openWorld([calls(['write', { path: 'a.txt', content: 'agent\n' }], ['shell', { command: 'echo made > made.txt' }]), say('Made.')])
    await world.run(['-p', '--mode', 'full', 'make'])
    expect((await world.run(['undo', '--diff'])).stdout).toMatch(/--- a\/a\.txt\n\+\+\+ \/dev\/null\n[^]*-agent\n[^]*made\.txt/)
    const terminal = openTerminal(world, ['undo'])
    await terminal.waitFor(/delete {2}a\.txt[^]*delete\? {2}made\.txt[^]*Put it back\? \[y\/N\]/)
    await terminal.type('y', 'enter')
    await terminal.waitFor(/made\.txt: it changed while a command ran\. Put it back, too\? \[y\/N\]/)
    await terminal.type('n', 'enter')
    await terminal.waitFor(/1 put back, 1 left as they are\. tiller undo --redo takes it back/)
    expect([world.exists('a.txt'), world.exists('made.txt')]).toEqual([false, true])
  })
})

describe('undo and diff of the command line', () => {
  it("leave the person's repository byte for byte as it was: index, refs, stash and objects", async () => {
    const world = await openWorld([
      calls(['write', { path: 'new.txt', content: 'n\n' }], ['shell', { command: 'echo made > made.txt; echo changed >> README.md' }], ['read', { path: 'README.md' }], ['edit', { path: 'README.md', edits: [{ old: 'changed', new: 'edited' }] }]), say('Done.'),
    ], { files: { 'README.md': '# Sample\n', 'work.txt': 'w\n' } })
    world.write('work.txt', 'stashed\n')
    world.git('stash')
    world.write('staged.txt', 's\n')
    world.git('add', 'staged.txt')
    world.write('work.txt', 'by the person\n')
    // What `git status` of a person would refresh is fresh already.
    world.git('status')
    const before = everything(join(world.repo, '.git'))
    expect((await world.run(['-p', '--mode', 'full', 'go'])).code).toBe(0)
    const made = tree(world)
    expect((await world.run(['undo', '--yes'])).stdout).toContain('put back')
    expect((await world.run(['undo', '--redo', '--yes'])).code).toBe(0)
    expect(tree(world)).toEqual(made)
    expect(everything(join(world.repo, '.git'))).toEqual(before)
  })

  it('do without git, and know ignored files that a tool wrote', async () => {
    const world = await openWorld([
      calls(['read', { path: 'a.txt' }]), calls(['edit', { path: 'a.txt', edits: [{ old: 'zero', new: 'one' }] }], ['write', { path: 'new/b.txt', content: 'b\n' }]), say('Done.'),
    ], { files: { 'a.txt': 'zero\n' }, git: false })
    const env = { PATH: dirname(process.execPath) }
    expect((await world.run(['-p', '--mode', 'full', 'go'], { env })).code).toBe(0)
    expect(world.of('checkpoint')[0]).toMatchObject({ tree: null })
    world.write('a.txt', 'by the person\n')
    world.write('a.txt', 'one\n')
    expect(await world.run(['undo', '--yes'], { env })).toMatchObject({ code: 0, stdout: expect.stringContaining('2 put back.') as string })
    expect([world.read('a.txt'), world.exists('new/b.txt')]).toEqual(['zero\n', false])
    expect((await world.run(['undo', '--redo', '--yes'], { env })).code).toBe(0)
    expect([world.read('a.txt'), world.read('new/b.txt')]).toEqual(['one\n', 'b\n'])
    const ignored = await openWorld([write('first.txt', 'f\n'), write('x.log', 'agent\n'), calls(['read', { path: 'y.log' }]), write('y.log', 'agent\n'), say('Done.')], { files: { '.gitignore': '*.log\n' } })
    ignored.write('y.log', 'by the person\n')
    expect((await ignored.run(['-p', '--mode', 'full', 'go'])).code).toBe(0)
    expect((await ignored.run(['undo', '--yes'])).stdout).toContain('3 put back.')
    expect([ignored.exists('x.log'), ignored.read('y.log'), ignored.exists('first.txt')]).toEqual([false, 'by the person\n', false])
  })

  it('pass over runs that changed nothing, and say when there is nothing left', async () => {
    const world = await openWorld([write('a.txt', 'agent\n'), say('Made.'), calls(['shell', { command: 'sh -c true' }]), say('Checked.'), say('Talked.')])
    await world.run(['-p', '--mode', 'full', 'make'])
    await world.run(['-c', '-p', '--mode', 'full', 'check'])
    await world.run(['-c', '-p', 'talk'])
    expect((await world.run(['undo', '--yes'])).stdout).toContain('1 put back.')
    expect(world.exists('a.txt')).toBe(false)
    expect(await world.run(['undo', '--yes'])).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing to put back') as string })
  })
})

/** Content, kind, mode and time of every file of a folder. */
function everything(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name)
    const stat = lstatSync(path)
    found[name] = stat.isDirectory() ? `folder ${stat.mode}` : `${stat.mode} ${stat.mtimeMs} ${stat.isSymbolicLink() ? readlinkSync(path) : readFileSync(path).toString('base64')}`
  }
  return found
}

/** The files of the repository that are no one's own. */
const tree = (world: World): Record<string, string> => Object.fromEntries(readdirSync(world.repo).filter((name) => !name.startsWith('.')).map((name) => [name, world.read(name)]))
