import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { opened, scratch } from './scratch.ts'

/**
 * Kills a program that appends, again and again, at moments that nobody chose, and goes on with the same session each time. Says how many records
 * were acknowledged and how many of them are missing or different after all: that must be none.
 */
export async function crashRounds(rounds: number): Promise<{ acknowledged: number; lost: string[]; torn: number; bytes: number; misread: string[] }> {
  const file = join(scratch(), '20260101T000000Z_crash.jsonl')
  const acknowledged = new Map<number, string>()
  for (let round = 0; round < rounds; round++) {
    const child = spawn(process.execPath, [new URL('./crash-writer.ts', import.meta.url).pathname, file, String(round + 1)], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    let left = 1 + Math.floor(Math.random() * 80)
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (text: string) => {
      said += text
      left -= text.split('\n').length - 1
      // It goes on appending until the signal arrives, so this hits any instruction.
      if (left <= 0) child.kill('SIGKILL')
    })
    await once(child, 'close')
    for (const line of said.split('\n').slice(0, -1)) acknowledged.set(Number(line.slice(0, line.indexOf(' '))), line.slice(line.indexOf(' ') + 1))
  }
  const log = opened(file)
  const found = new Map(log.records.map((record) => [record.seq, JSON.stringify(record)]))
  const lost = [...acknowledged].filter(([seq, record]) => found.get(seq) !== record).map(([seq]) => `record ${seq}`)
  const expected = ['the last write was cut off', 'half a record', 'Unterminated', 'Expected', 'Unexpected']
  const misread = log.damage.filter(({ why }) => !expected.some((begin) => why.startsWith(begin))).map(({ why }) => why)
  const torn = log.damage.length
  log.close()
  return { acknowledged: acknowledged.size, lost, torn, bytes: statSync(file).size, misread }
}
