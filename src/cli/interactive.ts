import chalk from 'chalk'
import type { Begin } from '../ui/open-first.ts'
import { start } from '../ui/start.tsx'
import type { FirstPaint } from '../ui/first-paint.ts'
import type { Connection } from '../ui/port.ts'
import { abilities } from '../ui/theme.ts'
import { configure } from './configure.ts'
import { openConnections, type Connections } from './connections.ts'
import { SessionError, sessionFor } from './open-session.ts'
import type { Options } from './options.ts'
import { placeOf } from './place.ts'
import { shellWord } from './shell-word.ts'
import { endOnSignals } from './signals.ts'
import { stopEverything } from './stop-everything.ts'
import { uiHost } from './ui-host.ts'

/** Between two pieces of the scripted model's replies, so that a person can follow. */
const DEMO_PACE_MS = 35

const STARTED_IN = process.cwd()

export async function startInteractive(options: Options, painted: FirstPaint | null): Promise<number> {
  const place = placeOf(process.cwd())
  const settings = await configure(options, place)
  const log = await sessionFor(options, place, settings, true).catch(async (error: unknown) => {
    // Another place is no answer for who wants to go on with a session of this one.
    const begins = !options.continue && typeof options.resume !== 'string' && options.fork === undefined && options.session === undefined
    if (!begins || !(error instanceof SessionError) || error.fault.kind !== 'not-writable') throw error
    const { otherPlace } = await import('./other-place.ts')
    const folder = await otherPlace(error.message, place, painted)
    if (folder === null) throw error
    options.sessionDir = settings.config.sessionDir = folder
    return sessionFor(options, place, settings, true)
  })
  const connections = openConnections(place, settings, options)
  const connection = await connections.begin(log)
  const prompt = options.prompt.join(' ')
  return show(connections, connection, painted, false, { ...(prompt === '' ? {} : { prompt }), ...(options.resume === true ? { sessions: true } : {}) })
}

export async function startDemo(options: Options, painted: FirstPaint | null): Promise<number> {
  const { connections, connection } = await openDemo(options)
  return show(connections, connection, painted, true)
}

async function openDemo(given: Options): Promise<{ connections: Connections; connection: Connection }> {
  const { DEMO_PROMPT, demoFolder, demoOptions } = await import('./demo.ts')
  process.chdir(await demoFolder())
  const options = demoOptions(given, 'edit')
  const place = placeOf(process.cwd())
  const settings = await configure(options, place)
  const connections = openConnections(place, settings, options, DEMO_PACE_MS)
  const connection = await connections.begin(await sessionFor(options, place, settings))
  // What to ask for stands in the editor already: Enter sends it.
  return { connections, connection: { ...connection, get records() { return connection.records }, draft: { ...connection.draft, load: () => connection.draft.load() || DEMO_PROMPT } } }
}

/** Resolves when the screen is left and nothing that it began runs any more. */
async function show(connections: Connections, connection: Connection, painted: FirstPaint | null, demo: boolean, begin: Begin = {}): Promise<number> {
  const { options } = connections
  let leaving: Promise<void> | null = null
  const end = async (because: 'quit' | 'interrupt' | 'closed'): Promise<void> => {
    const { agent, log, jobs, close } = connections.current()
    await agent.stop(because === 'closed' ? 'the terminal was closed' : 'interrupted by the user')
    await jobs.leave()
    await stopEverything()
    close()
    // A run without its outcome: the log could not be written to its end.
    const isWhole = agent.state.live.run === null
    if (because === 'closed' || (isWhole && agent.state.totals.steps === 0)) return
    process.stdout.write(`Session ${log.id} is ${isWhole ? 'saved' : `saved only up to where ${log.file} could be written`}. ${commandToGoOn(options)} goes on with it.\n`)
  }
  const host = uiHost({
    connections, demo,
    leave: (because) => {
      leaving ??= end(because)
    },
    // From then on it is this start's session: it is what signals and leaving end.
    startDemo: async () => {
      const opened = await openDemo(options)
      Object.assign(connections, opened.connections)
      return opened.connection
    },
  })
  // Without raw mode Ctrl+C is a signal, and a key all the same: the plain screen hears it itself.
  endOnSignals(() => connections.current().agent, (signalled) => void stopEverything().finally(() => process.exit(signalled)), host.settings.plain ? ['SIGTERM', 'SIGHUP'] : ['SIGTERM', 'SIGHUP', 'SIGINT'])
  const { stdin: input, stdout: output } = process
  if (host.settings.plain) {
    const { startPlain } = await import('../ui/plain-screen.ts')
    await startPlain({ host, connection: (await connection.rest?.()) ?? connection, input, output, begin })
  } else await start({ host, connection, input, output, abilities: abilities(process.env, chalk.level, !options.color), painted, begin })
  await (leaving ?? end('closed'))
  return 0
}

/** As it was started, with the folder where that is not the one we were started in. */
function commandToGoOn({ cd, sessionDir }: Options): string {
  const kept = sessionDir === undefined ? '' : ` --session-dir ${shellWord(sessionDir)}`
  const folder = process.cwd() === STARTED_IN && cd === undefined ? '' : ` -C ${shellWord(process.cwd())}`
  return `${process.env['npm_lifecycle_event'] ? 'npm start --' : 'tiller'}${folder}${kept} -c`
}
