import { expect } from 'vitest'
import { openTerminal } from './interactive.ts'
import { faultsOf } from './session-check.ts'
import { openWorld, say, type World } from './world.ts'

/** What the model says to whoever has the session; it is held until the other one has been told. */
interface Fight { world: World; rounds: number; won: Record<string, number> }

/**
 * Two starts at once on one session, again and again: exactly one has it, the other is told who, and only the winner's text is in the file.
 * `begin`: the session is not there yet, and both want to make it.
 */
export async function fight(rounds: number, begin = false): Promise<Fight> {
  let told = Promise.withResolvers<void>()
  const world = await openWorld(() => ({ ...say('Mine.'), hold: told.promise }), { git: false })
  const won: Record<string, number> = {}
  const file = `${world.folder}/sessions/one.jsonl`
  for (let round = 0; round < rounds; round++) {
    told = Promise.withResolvers<void>()
    const session = begin ? `${world.folder}/sessions/${round}.jsonl` : file
    const rivals = ['a', 'b'].map((name) => ({ name, running: world.start(['--session', session, '-p', `${name}${round}`]) }))
    const loser = await Promise.race(rivals.map(async ({ name, running }) => ({ name, ...(await running.ended) })))
    told.resolve()
    const winner = rivals.find(({ name }) => name !== loser.name)
    expect([loser.code, loser.stdout, loser.stderr], `round ${round}`).toEqual([round === 0 || begin ? expect.any(Number) : 2, '', expect.stringMatching(TOLD)])
    expect(loser.code).not.toBe(0)
    expect(await winner?.running.ended).toMatchObject({ code: 0, stdout: 'Mine.\n' })
    expect(world.of('input', session).at(-1)?.text).toBe(`${winner?.name}${round}`)
    expect(world.of('input', session)).toHaveLength(begin ? 1 : round + 1)
    expect(faultsOf(session)).toEqual([])
    won[winner?.name ?? ''] = (won[winner?.name ?? ''] ?? 0) + 1
  }
  return { world, rounds, won }
}

const TOLD = /^tiller: The session \w+ is open in another tiller \(pid \d+ on \S+, since \S+\)\. Close it there, take a copy with --fork \w+, or watch it in a terminal with tiller -r \w+\.\n$|somebody else is making/

/** The same between one in a terminal and one without: the one in the terminal watches where it came too late. */
export async function fightTerminal(rounds: number): Promise<Record<string, number>> {
  let told = Promise.withResolvers<void>()
  const world = await openWorld(() => ({ ...say('Mine.'), hold: told.promise }), { git: false })
  const won: Record<string, number> = {}
  told.resolve()
  expect((await world.run(['-p', 'first'])).code).toBe(0)
  for (let round = 0; round < rounds; round++) {
    told = Promise.withResolvers<void>()
    const terminal = openTerminal(world, ['-c'], { columns: 200 })
    const running = world.start(['-c', '-p', `round ${round}`])
    const late = terminal.waitFor(/only watched/, 60_000).then(() => 'headless', () => 'nobody')
    const winner = await Promise.race([late, running.ended.then(() => 'terminal')])
    told.resolve()
    if (winner === 'headless') {
      expect(terminal.screen()).toMatch(new RegExp(`It is open in another tiller \\(pid ${running.pid}\\), so here it is only watched\\. /fork goes on in a copy\\.`))
      expect(await running.ended).toMatchObject({ code: 0, stdout: 'Mine.\n' })
      await terminal.waitFor(new RegExp(`> round ${round}[^]*Mine\\.[^]*done`))
    } else expect(await running.ended).toMatchObject({ code: 2, stderr: expect.stringContaining(`pid ${terminal.pid} `) })
    won[winner] = (won[winner] ?? 0) + 1
    terminal.kill('SIGKILL')
    await terminal.exit()
    expect(faultsOf(world.sessions()[0] ?? '')).toEqual([])
    expect(world.of('input').filter(({ text }) => text === `round ${round}`)).toHaveLength(winner === 'headless' ? 1 : 0)
  }
  return won
}
