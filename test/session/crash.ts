import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { opened, scratch } from './scratch.ts'

interface Crashes {
  acknowledged: number
  /** Acknowledged records that are missing or different after all. */
  lost: string[]
  /** Lines that were cut off. */
  torn: number
  /** Damage that a kill cannot explain. */
  misread: string[]
}

/** Kills a program that appends, at moments that nobody chose; each session is gone on with several times, so that its log stays small. */
export async function crashRounds(rounds: number): Promise<Crashes> {
  const all: Crashes = { acknowledged: 0, lost: [], torn: 0, misread: [] }
  for (let done = 0; done < rounds; done += 8) {
    const some = await oneSession(done, Math.min(8, rounds - done))
    all.acknowledged += some.acknowledged
    all.torn += some.torn
    all.lost.push(...some.lost)
    all.misread.push(...some.misread)
  }
  return all
}

async function oneSession(seed: number, rounds: number): Promise<Crashes> {
  const file = join(scratch(), '20260101T000000Z_crash.jsonl')
  const acknowledged = new Map<number, string>()
  for (let round = 0; round < rounds; round++) for (const line of await untilKilled(file, seed + round + 1)) acknowledged.set(Number(line.slice(0, line.indexOf(' '))), line.slice(line.indexOf(' ') + 1))
  const log = opened(file)
  const found = new Map(log.records.map((record) => [record.seq, JSON.stringify(record)]))
  const lost = [...acknowledged].filter(([seq, record]) => found.get(seq) !== record).map(([seq]) => `record ${seq}`)
  const misread = log.damage.filter(({ why }) => !CUT_OFF.test(why)).map(({ why }) => why)
  const torn = log.damage.length
  log.close()
  return { acknowledged: acknowledged.size, lost, torn, misread }
}

const CUT_OFF = /^(?:the last write was cut off|half a record|Unterminated|Expected|Unexpected)/

/** What it acknowledged, a line a record. It goes on appending until the signal arrives, so the signal hits any instruction. */
async function untilKilled(file: string, seed: number): Promise<string[]> {
  const child = spawn(process.execPath, [new URL('./crash-writer.ts', import.meta.url).pathname, file, String(seed)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  let left = 1 + Math.floor(Math.random() * 80)
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (text: string) => {
    said += text
    left -= text.split('\n').length - 1
    if (left <= 0) child.kill('SIGKILL')
  })
  await once(child, 'close')
  return said.split('\n').slice(0, -1)
}
