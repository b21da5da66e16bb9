import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { tidyWhenQuiet } from '../../src/cli/tidy.ts'
import { checkpoints } from '../../src/session/checkpoint.ts'
import { repo } from '../os/git-repos.ts'
import { calls, openWorld, say } from '../support/world.ts'

const DAY = 24 * 60 * 60 * 1_000

describe('what undo keeps', () => {
  it('is tidied once a day when nothing is done, and not while a run is active', async () => {
    const root = repo()
    const folder = join(root, '.agent', 'sessions')
    mkdirSync(folder, { recursive: true })
    const place = { dir: join(folder, 'checkpoints'), root }
    const { tree } = await checkpoints(place).take('x', new AbortController().signal)
    writeFileSync(join(folder, '20260101T000000Z_s1.jsonl'), `${JSON.stringify({ seq: 0, at: Date.now(), type: 'checkpoint', run: 'r', why: 'x', tree })}\n`)
    const [store = ''] = readdirSync(place.dir)
    const stamp = join(place.dir, store, 'pruned')
    writeFileSync(stamp, '')
    const old = (Date.now() - 2 * DAY) / 1_000
    utimesSync(stamp, old, old)
    let active: string | null = 'r1'
    const asked = vi.fn()
    const agent = { active: () => { asked(); return active }, subscribe: () => () => undefined } as unknown as Parameters<typeof tidyWhenQuiet>[0]
    const stop = tidyWhenQuiet(agent, place, 20)
    await vi.waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(2))
    expect(statSync(stamp).mtimeMs).toBeLessThan(Date.now() - DAY)
    active = null
    await vi.waitFor(() => expect(statSync(stamp).mtimeMs).toBeGreaterThan(Date.now() - DAY), { timeout: 20_000 })
    expect(await checkpoints(place).meta(tree!)).not.toBeNull()
    stop()
  })

  it('goes with a session that is removed, where no other one needs it, and the doctor says what there is', async () => {
    const world = await openWorld([calls(['write', { path: 'a.txt', content: 'a\n' }]), say('One.'), calls(['write', { path: 'b.txt', content: 'b\n' }]), say('Two.')])
    await world.run(['-p', '--mode', 'full', 'one'])
    await world.run(['-p', '--mode', 'full', 'two'])
    const [first = '', second = ''] = world.sessions()
    const treeOf = (file: string): string => world.of('checkpoint', file)[0]!.tree!
    const [one, two] = [treeOf(first), treeOf(second)]
    const dir = join(world.repo, '.agent', 'sessions', 'checkpoints')
    const has = async (tree: string): Promise<boolean> => (await checkpoints({ dir, root: world.repo }).meta(tree)) !== null
    expect((await world.run(['doctor'])).stdout).toMatch(/checkpoints of the files, for undo: [\d.]+ k?B; kept for 30 days/)
    expect((await world.run(['sessions', 'remove', '--yes', first])).code).toBe(0)
    expect([await has(one), await has(two)]).toEqual([false, true])
    expect((await world.run(['undo', '--yes'])).stdout).toContain('1 put back.')
    expect((await world.run(['sessions', 'remove', '--yes', second])).code).toBe(0)
    expect(existsSync(dir)).toBe(false)
  })
})
