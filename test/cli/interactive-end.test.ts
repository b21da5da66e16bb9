import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openShell, openTerminal } from '../support/interactive.ts'
import { calls, openWorld, say } from '../support/world.ts'

describe('stopping and leaving', () => {
  it('Ctrl+C during a command with a grandchild leaves none of them, keeps the texts, and a second start goes on', async () => {
    const world = await openWorld([calls(['shell', { command: 'setsid sleep 300 & (sleep 300; true) & sleep 300' }]), say('Where were we?')])
    const terminal = openTerminal(world, ['--mode', 'full', 'Wait'])
    await terminal.waitFor(/running/)
    await terminal.type('queued', 'enter', 'half')
    await terminal.type('ctrl+c')
    await terminal.waitFor(/■ interrupted[^]*> queued\n\s+half/)
    expect(world.living()).toEqual([terminal.pid])
    // Within a second of the first the second one leaves, else it clears the editor.
    await terminal.type('ctrl+c', 'ctrl+d')
    expect((await terminal.exit()).exitCode).toBe(0)
    expect(world.living()).toEqual([])

    const again = openTerminal(world, ['-c'])
    await again.waitFor(/its last run ended as interrupted/)
    await again.type('ctrl+_', 'go on', 'enter')
    await again.waitFor(/Where were we\?[^]*done/)
    expect(world.sessions()).toHaveLength(1)
  })

  it('a second Ctrl+C leaves at once, all recorded', async () => {
    const world = await openWorld([calls(['shell', { command: 'trap "" TERM INT; sleep 300' }])])
    const terminal = openTerminal(world, ['--mode', 'full', 'Wait'])
    await terminal.waitFor(/running/)
    await terminal.type('ctrl+c', 'ctrl+c')
    await terminal.exit()
    expect(world.living()).toEqual([])
    expect(world.of('outcome').map(({ status }) => status)).toEqual(['interrupted'])
    expect(terminal.bytes()).toMatch(/Session \w+ is saved\. tiller -c goes on with it\./)
  })

  it('on a dumb terminal Ctrl+C interrupts the run, and the next line is heard', async () => {
    const world = await openWorld([calls(['shell', { command: 'sleep 300' }]), say('Still here.')])
    const terminal = openTerminal(world, ['--mode', 'full', 'Wait'], { env: { TERM: 'dumb' } })
    await terminal.waitFor(/> Wait/)
    await expect.poll(() => world.of('spawn').length, { timeout: 10_000 }).toBe(1)
    await terminal.type('ctrl+c')
    await terminal.waitFor(/= interrupted/)
    await terminal.type('go on', 'enter')
    await terminal.waitFor(/Still here\.[^]*= done/)
    expect(world.living()).toEqual([terminal.pid])
  })

  it('after kill -9 in the middle of a call nothing lives, and -c says that the run was lost', async () => {
    const world = await openWorld([calls(['shell', { command: 'sleep 300 & touch begun; sleep 301' }]), say('I see.')], { unchecked: true })
    const terminal = openTerminal(world, ['--mode', 'full', 'Wait'])
    await terminal.waitFor(/running/)
    await terminal.type('not sent yet')
    await terminal.waitFor(/> not sent yet/)
    await expect.poll(() => world.exists('begun')).toBe(true)
    await expect.poll(() => execFileSync('grep', ['-rl', 'not sent yet', '.agent'], { cwd: world.repo, encoding: 'utf8' })).toContain('draft')
    terminal.kill('SIGKILL')
    await terminal.exit()
    await expect.poll(() => world.living(), { timeout: 15_000 }).toEqual([])
    const again = openTerminal(world, ['-c'])
    await again.waitFor(/its last run ended as lost/)
    await again.waitFor(/> not sent yet/)
    await again.type('enter')
    await again.waitFor(/I see\.[^]*done/)
    expect(JSON.stringify(world.server.requests[1]?.body)).toContain('whether it finished is not known')
  })

  it('Ctrl+Z gives the shell a clean screen, and fg comes back', async () => {
    const world = await openWorld([say('Still here.')])
    const terminal = openShell(world)
    await terminal.type('tiller', 'enter')
    await terminal.waitFor(/^ask · chat/m)
    await terminal.type('a draft')
    await terminal.waitFor(/> a draft/)
    await terminal.type('ctrl+z')
    const screen = await terminal.waitFor(/Stopped/)
    expect(screen).toMatch(/^\[1\]\+ +Stopped +tiller$/m)
    expect(screen).not.toContain('a draft')
    await terminal.type('fg', 'enter')
    await terminal.waitFor(/> a draft/)
    await terminal.type('enter')
    await terminal.waitFor(/Still here\.[^]*done/)
  })
})

describe('sessions', () => {
  it('where the folder cannot keep them, another place is offered', async () => {
    const world = await openWorld([say('Kept.')])
    // As a read-only folder, but also for root.
    world.write('.agent', 'a file')
    const refused = openTerminal(world)
    await refused.waitFor(/Sessions cannot be kept in[^]*Keep them in[^]*\[Y\/n\]/)
    await refused.type('n', 'enter')
    expect((await refused.exit()).exitCode).toBe(2)
    const terminal = openTerminal(world)
    await terminal.waitFor(/\[Y\/n\]/)
    await terminal.type('enter')
    await terminal.waitFor(/^ask · chat/m)
    await terminal.type('Go', 'enter')
    await terminal.waitFor(/Kept\.[^]*done/)
    await terminal.type('ctrl+d')
    await terminal.exit()
    const [folder = ''] = readdirSync(join(world.home, '.local/state/tiller/sessions'))
    expect(terminal.bytes()).toMatch(new RegExp(`tiller --session-dir \\S+/${folder} -c goes on`))
    expect(readdirSync(join(world.home, '.local/state/tiller/sessions', folder)).filter((name) => name.endsWith('.jsonl'))).toHaveLength(1)
  })

  it('-r opens a list in which typing searches; the chosen session is gone on with', async () => {
    const world = await openWorld([say('One.'), say('Two.'), say('Three.')])
    expect((await world.run(['-p', 'about apples'])).code).toBe(0)
    expect((await world.run(['-p', 'about pears'])).code).toBe(0)
    const terminal = openTerminal(world, ['-r'])
    await terminal.waitFor(/about pears[^]*about apples/)
    await terminal.type('apples')
    await terminal.waitFor((screen) => /search: apples/.test(screen) && !/about pears/.test(screen))
    await terminal.type('enter')
    await terminal.waitFor(/going on with "about apples"/)
    await terminal.type('more', 'enter')
    await terminal.waitFor(/Three\.[^]*done/)
    expect(world.sessions()).toHaveLength(2)
    expect(JSON.stringify(world.server.requests[2]?.body)).toMatch(/about apples.*One\..*more/)
  })
})
