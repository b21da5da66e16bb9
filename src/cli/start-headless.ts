import { existsSync } from 'node:fs'
import { runHeadless } from '../faces/headless.ts'
import { isKnownRecord } from '../core/path.ts'
import { ModelError } from '../core/ports.ts'
import { redact } from '../core/redact.ts'
import type { Agent } from '../loop/agent.ts'
import { instructionsOf } from './assemble.ts'
import { attachImage } from './attach-image.ts'
import { configure } from './configure.ts'
import { connect, type Connected, type ToConnect } from './connect.ts'
import { headlessPrompt } from './headless-prompt.ts'
import { UsageError, type Options } from './options.ts'
import { placeOf } from './place.ts'
import { secretsOf } from './secrets.ts'
import { endOnSignals } from './signals.ts'
import { sessionFor } from './open-session.ts'
import { stopEverything } from './stop-everything.ts'

/** `-p`, `--json`, `--json-in`, or no terminal: one or more runs without a screen. */
export async function startHeadless(options: Options): Promise<number> {
  const say = (line: string): void => void process.stderr.write(line)
  const place = placeOf(process.cwd())
  const settings = await configure(options, place)
  for (const warning of [...settings.warnings, ...instructionsOf(place, settings).notes]) say(`tiller: ${warning}\n`)
  if (options.resume === true) throw new UsageError('--resume needs a session id where there is no terminal to pick one in (tiller sessions lists them)')
  const prompt = await headlessPrompt(options.prompt, place.cwd, options.jsonIn ? null : process.stdin, say, (text) => redact(text, secretsOf(process.env, settings.config.providers)))
  if (prompt === null && !options.jsonIn) throw new UsageError('there is no prompt: give one as an argument or on standard input')

  let agent: Agent | null = null
  let leaving = false
  const leave = (code: number): void => {
    if (leaving) process.exit(code)
    leaving = true
    void stopEverything().then(() => written(process.stdout)).finally(() => process.exit(code))
  }
  const signalled = endOnSignals(() => agent, leave)
  let someone = options.jsonIn === true
  // Nobody who reads it: that is no reason to stop.
  process.stderr.on('error', () => undefined)
  const log = await sessionFor(options, place, settings)
  const [damaged] = log.damage
  if (damaged) say(`tiller: ${log.file} is damaged in ${log.damage.length === 1 ? 'one place' : `${log.damage.length} places`} (at byte ${damaged.offset}: ${damaged.why}); the rest of it is used, and the file is left as it is.\n`)
  const had = log.records.length
  const connection = await connectToModel({ log, place, settings, options, canAsk: () => someone, mustHaveModel: true })
  agent = connection.agent
  const isNew = connection.fresh.length > 0
  if (!place.repository && isNew) say('tiller: this is not a git repository, so the git tool has nothing to go by.\n')
  const images = await Promise.all((prompt?.images ?? []).map(async ({ name, bytes }) => (await attachImage(bytes, name, connection.blobs, new AbortController().signal)) ?? []))
  const code = await runHeadless({
    agent, prompt: prompt && { text: prompt.text, images: images.flat() }, json: options.json === true, commands: options.jsonIn ? process.stdin : null, stdout: process.stdout, stderr: process.stderr,
    settled: isNew ? [] : log.records.slice(had).filter(isKnownRecord), before: connection.fresh, onNobody: () => void (someone = false),
    ...(options.outputSchema === undefined ? {} : { checkAnswer: await answerChecker(options.outputSchema, place.cwd) }),
  })
  await stopEverything()
  connection.close()
  // Nothing could be kept from the first input on: another place must be named.
  const unborn = log.failed !== null && !existsSync(log.file)
  if (unborn && options.json) say(`tiller: ${log.failed?.message}\n`)
  return signalled() ?? (unborn ? 2 : code)
}

/** With a model that can be asked: a wrong name or a missing key is found before anything is written. */
async function connectToModel(wanted: ToConnect): Promise<Connected> {
  try {
    const { log } = wanted
    if (log.readOnly !== null) throw new UsageError(`${log.file} can only be read here. ${log.readOnly} A copy of it can go on: --fork ${log.id}`)
    const connection = await connect(wanted)
    if (connection.model !== null) await connection.models.mustBeUsable(connection.model)
    return connection
  } catch (error) {
    wanted.log.close()
    throw error instanceof ModelError ? new UsageError(error.message) : error
  }
}

const LAST_WORDS_MS = 1_000

/** Who reads our events gets the last ones, too, unless it has stopped reading. */
const written = (stdout: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, LAST_WORDS_MS)
    stdout.write('', () => resolve())
  })

async function answerChecker(file: string, cwd: string): Promise<(text: string) => string | null> {
  const { readSchema } = await import('./output-schema.ts')
  return readSchema(file, cwd)
}
