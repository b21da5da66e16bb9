import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exec, textOf } from '../os/exec.ts'
import { makePrivateFolder } from '../session/private.ts'
import { plainWriter } from '../ui/plain.ts'
import { configure } from './configure.ts'
import { connect } from './connect.ts'
import { exitCode } from '../faces/headless.ts'
import { folderOf, freshSession } from './open-session.ts'
import type { Options } from './options.ts'
import { placeOf } from './place.ts'
import { endOnSignals } from './signals.ts'
import { stopEverything } from './stop-everything.ts'

/** In the folder itself, so that its session can be gone on with from anywhere. */
const SCRIPT = '.agent/demo.jsonl'

export const DEMO_PROMPT = 'A test fails. Find out why, fix it, prove it with the tests and commit.'

/** Where the sample repository and the script are: beside the bundle, two levels up when run from source. */
const fixture = (name: string): string => {
  const here = dirname(fileURLToPath(import.meta.url))
  const found = [join(here, '..', 'fixtures', name), join(here, '..', '..', 'fixtures', name)].find(existsSync)
  if (found === undefined) throw new Error(`The demo's files are missing from this installation (fixtures/${name}).`)
  return found
}

/** A copy of the sample repository, with a first commit, in a temporary folder. */
export async function demoFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tiller-demo-'))
  cpSync(fixture('repos/demo'), folder, { recursive: true })
  makePrivateFolder(join(folder, '.agent'))
  cpSync(fixture('sessions/demo.jsonl'), join(folder, SCRIPT))
  const git = async (...args: string[]): Promise<void> => {
    const ended = await exec({ argv: ['git', '-C', folder, ...args], cwd: folder })
    if (ended.exit !== 0) throw new Error(`The demo needs git: git ${args[0]} ended with ${ended.error ?? `exit ${ended.exit}`} ${textOf(ended.stderr).trim()}`)
  }
  await git('init', '-q', '-b', 'main')
  await git('config', 'user.name', 'Tiller demo')
  await git('config', 'user.email', 'demo@example.invalid')
  await git('config', 'commit.gpgsign', 'false')
  await git('add', '-A')
  await git('commit', '-q', '-m', 'Durations, with a fault')
  // The sample's tests run with the Node that runs Tiller, whatever else is in the PATH.
  process.env['PATH'] = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
  return folder
}

/** What a start of the demo is asked for, whatever the person's own configuration says. */
export const demoOptions = (options: Options, mode: 'full' | 'edit'): Options => ({
  ...options, model: `replay/${SCRIPT}`, mode, trust: true, prompt: [],
  allow: [...options.allow, 'exec:node --test'],
})

/** The demo without a terminal: the run as readable text. */
export async function demo(given: Options): Promise<number> {
  const say = (text: string): void => void process.stdout.write(text)
  const folder = await demoFolder()
  process.chdir(folder)
  const options = demoOptions(given, 'full')
  const place = placeOf(folder)
  const settings = await configure(options, place)
  say(`The model in this demo is scripted: it plays recorded replies. Everything else is real: the files, the commands, the tests and the commit,\nin a copy of a sample repository at ${folder}\n\n`)
  const log = freshSession(place, folderOf(place, settings))
  const connection = await connect({ log, place, settings, options, canAsk: () => false, mustHaveModel: true })
  const { agent } = connection
  const signalled = endOnSignals(() => agent, (code) => void stopEverything().finally(() => process.exit(code)))
  const write = await plainWriter()
  for (const record of connection.fresh) say(write(record))
  let code = 1
  agent.subscribe((event) => {
    say(write(event))
    if (event.type === 'outcome') code = exitCode(event.status)
  })
  agent.send({ type: 'input', text: DEMO_PROMPT })
  await agent.idle()
  await stopEverything()
  connection.close()
  say(`\nThe session is ${log.file}\n`)
  if (code !== 0) rmSync(folder, { recursive: true, force: true })
  return signalled() ?? code
}
