import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { answer, openShell, openTerminal, quiet, READY } from '../support/interactive.ts'
import { calls, openWorld, say } from '../support/world.ts'

const messagesOf = (body: Record<string, unknown> | undefined): { role: string; content: unknown }[] => (body?.['messages'] ?? []) as never

describe('the demo', () => {
  it('comes to its fixed state, hears a steer, and asks before the commit', async () => {
    const world = await openWorld()
    const terminal = openTerminal(world, ['demo'], { columns: 100, rows: 40 })
    await terminal.waitFor(/^> A test fails/m)
    await terminal.type('enter')
    await terminal.waitFor(/● ls/)
    await terminal.type('Well', ' ', 'done', 'enter')
    await answer(terminal, /Allow git\?/, 'y')
    await terminal.waitFor(/■ done/, 60_000)
    expect(terminal.all()).toContain('Scripted model: I saw your message «Well done»')
    const [name = ''] = readdirSync(join(world.folder, 'tmp')).filter((each) => each.startsWith('tiller-demo-'))
    const folder = join(world.folder, 'tmp', name)
    const git = (...args: string[]): string => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', env: world.env }).trim()
    expect(git('log', '-1', '--format=%s')).toBe('Read durations with more than one digit')
    expect(git('status', '--porcelain')).toBe('')
    execFileSync(process.execPath, ['--test'], { cwd: folder, env: world.env })
    await terminal.type('ctrl+c', 'ctrl+c')
    expect((await terminal.exit()).exitCode).toBe(0)
    expect(terminal.bytes()).toContain(`tiller -C ${folder} -c goes on with it`)
  })
})

describe('steering', () => {
  it('typed while a command runs is in the next request, after the results; a follow-up starts the next run', async () => {
    const world = await openWorld([calls(['shell', { command: 'until [ -e go ]; do sleep 0.05; done; echo finished' }]), say('Heard.'), say('Followed.')])
    const terminal = openTerminal(world, ['--mode', 'full'])
    await terminal.waitFor(READY)
    await terminal.type('Begin', 'enter')
    await terminal.waitFor(/running/)
    await terminal.type('afterwards this', 'alt+enter')
    await terminal.waitFor(/afterwards this \(when the run ends\)/)
    await terminal.type('rather so', 'enter')
    await terminal.waitFor(/rather so \(before the next request, after 1 running call\)/)
    world.write('go', '')
    await terminal.waitFor(/Followed\.[^]*done/)
    const second = messagesOf(world.server.requests[1]?.body)
    expect(second.at(-2)).toMatchObject({ role: 'tool', content: expect.stringContaining('finished') as string })
    expect(second.at(-1)).toMatchObject({ role: 'user', content: 'rather so' })
    expect(JSON.stringify(second)).not.toContain('afterwards')
    expect(messagesOf(world.server.requests[2]?.body).at(-1)).toMatchObject({ role: 'user', content: 'afterwards this' })
    expect(world.of('outcome')).toHaveLength(2)
  })

  it('/now stops what runs and is delivered; Up takes a waiting text back', async () => {
    const world = await openWorld([calls(['shell', { command: 'sleep 300 & sleep 301' }]), say('Turned.')])
    const terminal = openTerminal(world, ['--mode', 'full', 'Begin'])
    await terminal.waitFor(/running/)
    await terminal.type('a slip', 'enter')
    await terminal.waitFor(/a slip \(before/)
    await terminal.type('up')
    await terminal.waitFor(/^> a slip$/m)
    await terminal.type('ctrl+u', '/now turn round', 'enter')
    await terminal.waitFor(/Turned\.[^]*done/)
    expect(messagesOf(world.server.requests[1]?.body).at(-1)).toMatchObject({ role: 'user', content: 'turn round' })
    expect(world.of('result').map(({ status }) => status)).toEqual(['interrupted'])
  })
})

describe('approvals', () => {
  it('an allowed write is made as it was shown, and a denied one is not, for the reason that the model is told', async () => {
    const world = await openWorld([calls(['write', { path: 'new.txt', content: 'first\nsecond\n' }]), calls(['shell', { command: 'touch other.txt' }]), say('So be it.')])
    const terminal = openTerminal(world, ['Write'])
    await answer(terminal, /Allow write\?[^]*\+first\n[^]*\+second/, 'y')
    await answer(terminal, /Allow shell\?[^]*touch other\.txt/, '5')
    await terminal.waitFor(/Why\?/)
    await terminal.type('not this one', 'enter')
    await terminal.waitFor(/So be it\.[^]*done/)
    expect(world.read('new.txt')).toBe('first\nsecond\n')
    expect(world.exists('other.txt')).toBe(false)
    expect(JSON.stringify(world.server.requests[2]?.body)).toContain('the user denied it: not this one')
  })

  it('a question nobody answers is denied when the terminal is closed', async () => {
    const world = await openWorld([calls(['shell', { command: 'touch other.txt' }])])
    const terminal = openTerminal(world, ['Touch'])
    await terminal.waitFor(/Allow shell\?/)
    terminal.hangUp()
    await terminal.exit()
    expect(world.exists('other.txt')).toBe(false)
    expect(world.of('result').map(({ status }) => status)).not.toContain('ok')
    expect(world.of('outcome')).toHaveLength(1)
  })
})

describe('the screen', () => {
  it('what was printed before stays in the scrollback, every row is printed once, and nothing is ever cleared', async () => {
    const lines = Array.from({ length: 120 }, (_, index) => `answer line ${index} ends`).join('\n\n')
    const world = await openWorld([{ text: lines, deltas: 60, delayMs: 5 }])
    const terminal = openShell(world, { columns: 80, rows: 24 })
    await terminal.type('seq 1000 1100', 'enter')
    await terminal.waitFor(/1100\n\$/)
    await terminal.type('tiller', 'enter')
    await terminal.waitFor(/^ask · chat/m)
    await terminal.type('Talk', 'enter')
    await terminal.waitFor(/■ done/)
    await quiet(terminal)
    terminal.resize(30, 12)
    await terminal.waitFor(/^ask · chat\/test-model$/m)
    await quiet(terminal)
    terminal.resize(140, 50)
    await terminal.waitFor(/^ask · chat\/test-model \(medium\)/m)
    await terminal.type('ctrl+d')
    await terminal.waitFor(/is saved\.[^]*\$$/)
    const all = terminal.all()
    const wanted = [...Array.from({ length: 101 }, (_, line) => `^${1000 + line}$`), ...Array.from({ length: 120 }, (_, line) => `answer line ${line} ends`)]
    expect(wanted.flatMap((line) => ((all.match(new RegExp(line, 'gm')) ?? []).length === 1 ? [] : [line])), all).toEqual([])
    expect(terminal.bytes()).not.toMatch(/\x1b\[[23]J|\x1bc/)
  })

  it('control sequences of tools, files and models do nothing to the terminal', async () => {
    const evil = String.raw`\033[2J\033[3J\033]0;owned\007\033[?1049h\033[31mred\033[0m`
    const world = await openWorld([{ text: 'Model \x1b[2Jsays \x1b]0;owned\x07this', calls: [{ name: 'shell', input: { command: `printf 'a${evil}b\\n'` } }, { name: 'ls', input: {} }] }, say('Over.')], { files: { 'evil\x1b[2Jname': 'x\n' } })
    const terminal = openTerminal(world, ['--mode', 'full', 'Print'])
    await terminal.waitFor(/Over\.[^]*done/)
    expect(terminal.all()).toMatch(/Model says this[^]*aredb/)
    expect(terminal.bytes()).not.toMatch(/\x1b\]0;owned|\x1b\[[23]J|\x1b\[\?1049h/)
  })

  it('a paste of 300 kB with colours in it arrives whole', async () => {
    const world = await openWorld([say('Read.')])
    const terminal = openTerminal(world, [], { columns: 60 })
    await terminal.waitFor(READY)
    const line = 'pasted \x1b[31mred\x1b[0m text, 日本語 and more of it\n'
    const count = Math.ceil(300_000 / line.length)
    terminal.paste(line.repeat(count))
    await terminal.waitFor(/lines|kB|pasted/i)
    await terminal.type('enter')
    await terminal.waitFor(/Read\.[^]*done/, 30_000)
    expect(world.of('input')[0]?.text === line.repeat(count)).toBe(true)
  })
})
