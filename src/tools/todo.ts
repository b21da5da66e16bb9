import * as z from 'zod/mini'
import type { Tool } from '../core/ports.ts'
import { sanitize } from '../core/sanitize.ts'

const input = z.strictObject({
  items: z.array(z.strictObject({
    text: z.string().check(z.minLength(1)),
    status: z.enum(['open', 'doing', 'done']),
  })).check(z.maxLength(50), z.describe('The whole list, in order; it replaces the one before.')),
})
type Input = z.infer<typeof input>

const MARKS = { open: '[ ]', doing: '[>]', done: '[x]' } as const

/** The plan of a longer task, for the person to follow. It lives in the log: the newest list counts. */
export const todo: Tool<Input> = {
  name: 'todo',
  about: 'Keep a short list of the steps of a longer task, so that the person can follow. Not for small tasks.',
  input,
  prepare: ({ items }) => {
    const text = items.map((item) => `${MARKS[item.status]} ${sanitize(item.text)}`).join('\n') || 'The list is empty.'
    return Promise.resolve({ accesses: [], changes: [], run: () => Promise.resolve({ status: 'ok', text }) })
  },
}
