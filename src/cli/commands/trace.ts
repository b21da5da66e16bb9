import { context } from '../../core/context.ts'
import { isKnownRecord, live } from '../../core/path.ts'
import { tracePage } from '../../report/trace-page.ts'
import { traceText } from '../../report/trace-text.ts'
import { traceOf } from '../../report/trace.ts'
import type { SessionLog } from '../../session/log.ts'
import { fileOf, sessionToRead } from '../open-session.ts'
import { UsageError, type Options } from '../options.ts'
import { surroundings } from './surroundings.ts'

/** What happened, how long it took and what it cost; `--request n` is what the model was sent at step n, rebuilt from the log. */
export async function trace(options: Options, id: string, flags: Record<string, unknown>): Promise<number> {
  const { folder } = await surroundings(options)
  const log = sessionToRead(await fileOf(id, folder))
  const said = typeof flags['request'] === 'string' ? requestOf(log, flags['request']) : undefined
  const told = traceOf(log.read(0, Number.MAX_SAFE_INTEGER))
  process.stdout.write(said ?? (flags['html'] === true ? [...tracePage(told)].join('') : traceText(told)))
  process.stdout.write('\n')
  log.close()
  return 0
}

/** Steps are counted over the whole session, attempts included, as the trace numbers them. */
function requestOf(log: SessionLog, wanted: string): string {
  const records = log.read(0, Number.MAX_SAFE_INTEGER)
  const steps = records.filter((record) => isKnownRecord(record) && record.type === 'step')
  const step = steps[Number(wanted) - 1]
  if (!step) throw new UsageError(`--request: expected a number from 1 to ${steps.length}`)
  return JSON.stringify(context(live(records.filter(({ seq }) => seq <= step.seq))), null, 2)
}
