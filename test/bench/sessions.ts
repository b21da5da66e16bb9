import { closeSync, mkdirSync, openSync, utimesSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Fact } from '../../src/core/record.ts'
import type { Space } from './space.ts'

export interface Wanted {
  /** Of the file, about. */
  bytes: number
  /** How many turns; each is eight records. */
  turns: number
  /** A compaction after so many turns. */
  compactEvery?: number
  /** When it was begun, UTC milliseconds. */
  begun?: number
}

export const LAST = 'LAST-TURN'

/** A session as the program writes them, of any size; its last words are LAST. Without spaces or damage, so that nothing but size is measured. */
export function writeSession({ cwd, sessions }: Pick<Space, 'cwd' | 'sessions'>, id: string, { bytes, turns, compactEvery = Infinity, begun: at = 1_767_225_600_000 }: Wanted): string {
  mkdirSync(sessions, { recursive: true, mode: 0o700 })
  const file = join(sessions, `20260101T000000Z_${id}.jsonl`)
  const fd = openSync(file, 'w', 0o600)
  const text = filler(Math.max(20, Math.floor((bytes / turns - 900) / 2)))
  let seq = 0
  let lines: string[] = []
  const put = (fact: Fact): void => {
    const { type, ...rest } = fact
    lines.push(JSON.stringify({ seq, at: at + seq, type, ...rest }))
    seq++
  }
  put({ type: 'session', version: 1, id, cwd, root: cwd, tiller: '0.1.0' })
  put({ type: 'set', model: 'bench/bench-model', effort: 'medium', mode: 'full' })
  for (let turn = 0; turn < turns; turn++) {
    const begun = seq
    for (const fact of factsOf(turn, text, turn === turns - 1)) put(fact)
    if (turn % compactEvery === compactEvery - 1) put(compaction(begun))
    if (lines.length > 500 || turn === turns - 1) {
      writeSync(fd, `${lines.join('\n')}\n`)
      lines = []
    }
  }
  closeSync(fd)
  // As if it had been written when it says.
  utimesSync(file, at / 1_000, (at + seq) / 1_000)
  return file
}

const request = { sha256: 'a'.repeat(64), bytes: 4_096 }
const usage = { input: 1_200, output: 80 }

function factsOf(turn: number, text: string, last: boolean): Fact[] {
  const [run, call, input] = [`r${turn}`, `c${turn}`, `i${turn}`]
  return [
    { type: 'input', id: input, text: `Turn ${turn}: what does module ${turn % 97} do?`, from: 'user', when: 'next' },
    { type: 'step', run, number: 1, attempt: 1, inputs: [input], model: 'bench/bench-model', request },
    { type: 'reply', run, parts: [{ type: 'call', id: call, name: 'shell', input: { command: 'cat module' } }], stop: 'calls', usage, cost: 0.001, ms: { first: 300, total: 900 } },
    { type: 'start', run, call, reads: true },
    { type: 'result', run, call, status: 'ok', text, exit: 0, ms: 12 },
    { type: 'step', run, number: 2, attempt: 1, inputs: [], model: 'bench/bench-model', request },
    { type: 'reply', run, parts: [{ type: 'text', text: `${text}${last ? `\n\n${LAST}` : ''}` }], stop: 'end', usage, cost: 0.001, ms: { first: 300, total: 900 } },
    { type: 'outcome', run, status: 'done', reason: 'the model finished', ms: 2_000 },
  ]
}

const compaction = (keep: number): Fact => ({
  type: 'compact', summary: 'Modules were looked at, one after the other.', keep, tokens: { before: 100_000, after: 2_000 },
  carry: { model: 'bench/bench-model', effort: 'medium', mode: 'full', grants: [], totals: { steps: 1, calls: 1, input: 1, output: 1, cost: 0, costUnknown: false }, seen: [], inputs: [] },
})

const WORDS = 'function return const value index buffer stream parse token error result context module import export await'.split(' ')

function filler(size: number): string {
  let text = ''
  for (let index = 0; text.length < size; index++) text += `${WORDS[(index * 31 + (index >> 3)) % WORDS.length]}${index % 11 === 10 ? '\n' : ' '}`
  return text.slice(0, size)
}
