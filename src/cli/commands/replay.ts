import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isKnownRecord, live } from '../../core/path.ts'
import type { CallPart, RecordOf, SessionRecord } from '../../core/record.ts'
import { exec } from '../../os/exec.ts'
import { configure } from '../configure.ts'
import { connect } from '../connect.ts'
import { fileOf, folderOf, freshSession, sessionToRead } from '../open-session.ts'
import type { Options } from '../options.ts'
import { placeOf } from '../place.ts'
import { stopEverything } from '../stop-everything.ts'
import { surroundings } from './surroundings.ts'

/** Plays a session's recorded replies with real tools in a copy of the folder, and says where the results differ. */
export async function replay(given: Options, wanted: string): Promise<number> {
  const { folder } = await surroundings(given)
  const file = await fileOf(wanted, folder)
  const source = sessionToRead(file)
  const recorded = live(source.read(0, Number.MAX_SAFE_INTEGER))
  const copy = await copyOf(source.session, placeOf(process.cwd()).root)
  process.chdir(copy)
  const options: Options = { ...given, model: `replay/${file}`, mode: 'full', prompt: [] }
  const place = placeOf(copy)
  const settings = await configure(options, place)
  const log = freshSession(place, folderOf(place, settings))
  const { agent, close } = await connect({ log, place, settings, options, canAsk: () => false, mustHaveModel: true })
  for (const input of recorded) {
    if (input.type !== 'input' || (input.from ?? 'user') !== 'user') continue
    agent.send({ type: 'input', text: input.text })
    await agent.idle()
  }
  await stopEverything()
  const differences = compare(results(recorded), results(log.records.filter(isKnownRecord)))
  close()
  process.stdout.write(`${differences.length === 0 ? 'Every call had the same status as recorded.' : differences.join('\n')}\nPlayed in ${copy}\n`)
  return differences.length === 0 ? 0 : 1
}

/** The commit the session began at where there is one, else the files as they are now. */
async function copyOf(session: RecordOf<'session'> | null, root: string): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), 'tiller-replay-'))
  const head = session?.git?.head
  if (head != null) {
    const cloned = await exec({ argv: ['git', 'clone', '-q', '--no-hardlinks', root, copy], cwd: root })
    if (cloned.exit === 0 && (await exec({ argv: ['git', '-c', 'core.hooksPath=/dev/null', '-C', copy, 'checkout', '-q', '--detach', head], cwd: copy })).exit === 0) return copy
  }
  cpSync(root, copy, { recursive: true, filter: (path) => !/\/(\.agent|node_modules)$/.test(path) })
  return copy
}

interface Outcome { name: string; status: string }

function results(records: readonly SessionRecord[]): Outcome[] {
  const calls = new Map<string, CallPart>()
  const outcomes: Outcome[] = []
  for (const record of records) {
    if (record.type === 'reply') for (const part of record.parts) if (part.type === 'call') calls.set(part.id, part)
    if (record.type === 'result') outcomes.push({ name: calls.get(record.call)?.name ?? record.call, status: record.status })
  }
  return outcomes
}

function compare(before: readonly Outcome[], after: readonly Outcome[]): string[] {
  const differences = before.flatMap((was, index) => {
    const is = after[index]
    return is && is.name === was.name && is.status === was.status ? [] : [`call ${index + 1}, ${was.name}: was ${was.status}, is ${is ? `${is.name} ${is.status}` : 'not made'}`]
  })
  return after.length > before.length ? [...differences, `${after.length - before.length} more calls than recorded`] : differences
}
