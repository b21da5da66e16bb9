import { join } from 'node:path'
import { table } from './figures.ts'
import { writeSession } from './sessions.ts'
import type { Space } from './space.ts'
import { listSessions, newestSession } from '../../src/session/list.ts'

/** The list of many sessions: made anew, then with what is remembered of it. */
export async function listing(space: Space, count: number): Promise<string> {
  for (let index = 0; index < count; index++) writeSession(space, `s${index.toString(36).padStart(8, '0')}`, { bytes: 20_000, turns: 10, begun: 1_767_225_600_000 + index * 60_000 })
  const rows: (string | number)[][] = []
  const timed = async (name: string, act: () => unknown): Promise<void> => {
    const begun = performance.now()
    const cpu = process.cpuUsage()
    await act()
    const { user, system } = process.cpuUsage(cpu)
    rows.push([name, performance.now() - begun, (user + system) / 1_000])
  }
  await timed('the first time', async () => (await listSessions(space.sessions)).length)
  await timed('again', () => listSessions(space.sessions))
  await timed('the newest one of this folder', () => newestSession(space.sessions, { root: space.cwd, cwd: space.cwd }))
  return table([`list ${count} sessions (${join('.agent', 'sessions')})`, 'ms', 'CPU ms'], rows)
}
