import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { context } from '../../src/core/context.ts'
import { isKnownRecord, live } from '../../src/core/path.ts'
import { parse, type RecordOf, type SessionRecord } from '../../src/core/record.ts'

/** The records of a session file as its lines say them. A line that is none is an error, but for one that a crash tore. */
export function readRecords(file: string): { records: SessionRecord[]; torn: number } {
  const lines = readFileSync(file, 'utf8').split('\n')
  const records: SessionRecord[] = []
  let torn = lines.pop() === '' ? 0 : 1
  for (const [index, line] of lines.entries()) {
    const read = parse(line)
    if (read.ok && isKnownRecord(read.record)) records.push(read.record)
    else if (read.ok) throw new Error(`${file}:${index + 1}: a record of an unknown type: ${line.slice(0, 200)}`)
    else torn++
  }
  return { records, torn }
}

/**
 * What is wrong with a session, by the promises: numbers without a gap, exactly one result for each call and one outcome for each run,
 * nothing started that was refused, and the request of every step rebuilt to its hash. `open`: its last run was cut off; `torn`: so many lines may be.
 */
export function faultsOf(file: string, { open = false, torn: mayBe = open ? 1 : 0 }: { open?: boolean; torn?: number } = {}): string[] {
  const { records, torn } = readRecords(file)
  const faults: string[] = torn > mayBe ? [`${torn} lines that are no records`] : []
  records.forEach((record, index) => {
    if (record.seq !== index) faults.push(`record ${index} has the number ${record.seq}`)
  })
  if (records[0]?.type !== 'session') faults.push('the first record is no session')
  for (const record of records) if (record.type === 'step') faults.push(...requestFaults(records, record))
  const runs = [...new Set(records.flatMap((record) => (record.type === 'step' ? [record.run] : [])))]
  for (const run of runs) faults.push(...runFaults(records.filter((record) => 'run' in record && record.run === run), open && run === runs.at(-1)))
  return faults
}

function requestFaults(records: readonly SessionRecord[], step: RecordOf<'step'>): string[] {
  const body = JSON.stringify(context(live(records.slice(0, step.seq + 1))))
  const sha256 = createHash('sha256').update(body).digest('hex')
  return sha256 === step.request.sha256 && Buffer.byteLength(body) === step.request.bytes ? [] : [`the request of step ${step.number} (record ${step.seq}) is not rebuilt to its hash`]
}

function runFaults(records: readonly SessionRecord[], open: boolean): string[] {
  const faults: string[] = []
  const of = <T extends SessionRecord['type']>(type: T): RecordOf<T>[] => records.filter((record): record is RecordOf<T> => record.type === type)
  const calls = of('reply').flatMap(({ stop, parts }) => (stop === 'error' || stop === 'interrupted' ? [] : parts.flatMap((part) => (part.type === 'call' ? [part.id] : []))))
  const outcomes = of('outcome').length
  if (!open && outcomes !== 1) faults.push(`run ${records[0]?.seq}: ${outcomes} outcomes`)
  if (outcomes > 0 && records.at(-1)?.type !== 'outcome') faults.push(`something follows the outcome: ${JSON.stringify(records.at(-1)).slice(0, 200)}`)
  for (const { call, seq } of of('result')) if (!calls.includes(call)) faults.push(`result ${seq} is of no call`)
  for (const call of calls) {
    const results = of('result').filter((record) => record.call === call)
    const starts = of('start').filter((record) => record.call === call)
    if (results.length !== 1 && !(open && results.length === 0)) faults.push(`call ${call} has ${results.length} results`)
    if (starts.length > 1) faults.push(`call ${call} was started ${starts.length} times`)
    const [result] = results
    if (!result) continue
    const ran = !['rejected', 'denied', 'skipped'].includes(result.status)
    // A tool that refuses by itself fails without a start.
    if (!ran && starts.length > 0) faults.push(`call ${call} is ${result.status} and was started`)
    if (result.status !== 'failed' && ran && starts.length === 0) faults.push(`call ${call} is ${result.status} and was never started`)
    if (starts[0] && starts[0].seq > result.seq) faults.push(`call ${call} was started after its result`)
  }
  return faults
}
