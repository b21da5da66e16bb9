import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstPaint, type Head } from '../../src/ui/first-paint.ts'

/** The start of a program that has the screen: the first frame, then everything else. Its place on the disk is FIXTURE_DIR. */
const folder = process.env['FIXTURE_DIR'] ?? '.'
const note = (what: unknown): void => appendFileSync(join(folder, 'commands.jsonl'), `${JSON.stringify(what)}\n`)
const head: Head = { version: '0.1.0', folder: '~/src/thing', branch: 'main', model: process.env['FIXTURE_MODEL'] ?? 'local/small', mode: 'ask', colour: true }
const plain = process.env['TERM'] === 'dumb'
const painted = plain ? null : firstPaint(head, process.stdin, process.stdout, () => process.exit(0))
if (process.env['FIXTURE_SLOW']) await new Promise((resolve) => setTimeout(resolve, Number(process.env['FIXTURE_SLOW'])))

const { fakeHost, FakeSession } = await import('./fixture-agent.ts')
const { start } = await import('../../src/ui/start.tsx')
const { abilities } = await import('../../src/ui/theme.ts')
const draftFile = join(folder, 'draft')
const draft = {
  load: () => (existsSync(draftFile) ? readFileSync(draftFile, 'utf8') : ''),
  save: (text: string) => {
    if (text === '') rmSync(draftFile, { force: true })
    else writeFileSync(draftFile, text)
    return null
  },
}
const session = new FakeSession('s1', draft, note, Number(process.env['FIXTURE_ROWS'] ?? 0))
const host = fakeHost({ records: () => session.records, head, note, draft, first: process.env['FIXTURE_FIRST'] ?? '', leave: (because) => {
  note({ left: because })
  process.exit(because === 'interrupt' ? 130 : 0)
} })
for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(128 + (signal === 'SIGTERM' ? 15 : 1)))
if (process.env['FIXTURE_THROW']) setTimeout(() => { throw new Error('thrown by the fixture') }, Number(process.env['FIXTURE_THROW']))
note({ ready: process.pid })
const { startPlain } = await import('../../src/ui/plain-screen.ts')
if (plain) await startPlain({ host, connection: session.connection(), input: process.stdin, output: process.stdout })
else await start({ host, connection: session.connection(), input: process.stdin, output: process.stdout, abilities: abilities(process.env, 3), painted, begin: { prompt: process.env['FIXTURE_BEGIN'] ?? '' } })
