import type { AgentEvent } from '../../src/core/ports.ts'
import type { Fact, Part } from '../../src/core/record.ts'

/** Facts and passing events -> what an agent says: facts get their seq and time. */
export function events(list: readonly (Fact | Exclude<AgentEvent, { seq: number }>)[], from = 0): AgentEvent[] {
  let seq = from
  return list.map((each): AgentEvent => (each.type === 'delta' || each.type === 'output' || each.type === 'retry' || each.type === 'error' ? each : { ...each, seq, at: 1_000 + 10 * seq++ }))
}

export const session: Fact = { type: 'session', version: 1, id: 's1', cwd: '/w', root: '/w', git: { head: 'abc', branch: 'main' } }
export const input = (id: string, text: string, when?: 'now' | 'next' | 'after'): Fact => ({ type: 'input', id, text, ...(when ? { when } : {}) })
export const step = (run: string, number: number, inputs: string[], attempt = 1): Fact => ({ type: 'step', run, number, attempt, inputs, model: 'p/m', request: { sha256: 'x', bytes: 1 } })
export const reply = (run: string, parts: Part[], more: Partial<Extract<Fact, { type: 'reply' }>> = {}): Fact => ({
  type: 'reply', run, parts, stop: parts.some((part) => part.type === 'call') ? 'calls' : 'end', usage: { input: 100, output: 10 }, cost: 0.01, ...more,
})
export const text = (value: string): Part => ({ type: 'text', text: value })
export const reasoning = (value: string): Part => ({ type: 'reasoning', text: value })
export const call = (id: string, name: string, value: unknown): Part => ({ type: 'call', id, name, input: value })
export const start = (run: string, id: string): Fact => ({ type: 'start', run, call: id })
export const result = (run: string, id: string, more: Partial<Extract<Fact, { type: 'result' }>> = {}): Fact => ({ type: 'result', run, call: id, status: 'ok', text: 'fine', ...more })
export const outcome = (run: string, status: Extract<Fact, { type: 'outcome' }>['status'] = 'done'): Fact => ({ type: 'outcome', run, status, reason: 'the model has finished' })

/** The deltas with which `parts` would be streamed, in pieces of the given sizes. */
export function deltas(run: string, parts: readonly Part[], sizes: readonly number[]): Extract<AgentEvent, { type: 'delta' }>[] {
  let turn = 0
  return parts.flatMap((part, index) => {
    const whole = part.type === 'call' ? JSON.stringify(part.input) : part.text
    const out: Extract<AgentEvent, { type: 'delta' }>[] = []
    for (let offset = 0; offset < whole.length; ) {
      const size = Math.max(1, sizes[turn++ % sizes.length] ?? 1)
      out.push({ type: 'delta', run, part: index, kind: part.type, offset, text: whole.slice(offset, offset + size), ...(part.type === 'call' && offset === 0 ? { name: part.name } : {}) })
      offset += size
    }
    return out
  })
}
