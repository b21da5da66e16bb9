import * as z from 'zod/mini'
import type { Emit, Here, Output, Prepared, Refused, Tool } from '../core/ports.ts'
import { sanitize } from '../core/sanitize.ts'

const input = z.strictObject({
  items: z.array(z.strictObject({
    text: z.string().check(z.minLength(1)),
    status: z.enum(['open', 'doing', 'done']),
    check: z.optional(z.string().check(z.minLength(1), z.describe('A command that proves it: the item is done only if this passes'))),
  })).check(z.maxLength(50), z.describe('The whole list, in order; it replaces the one before')),
})
type Input = z.infer<typeof input>
type Item = Input['items'][number]

const MARKS = { open: '[ ]', doing: '[>]', done: '[x]' } as const

/** The plan of a longer task, for the person to follow. It lives in the log: the newest list that was taken counts. */
export const todo = ({ shell }: { shell: Tool }): Tool<Input> => {
  // After a restart nothing here has passed: a check is run again when its item is said to be done.
  const passed = new Set<string>()
  return {
    name: 'todo',
    about: 'Keep a short list of the steps of a longer task, so that the person can follow. Not for small tasks.',
    input,
    prepare: async ({ items }, here) => {
      const checks: { item: Item; prepared: Prepared }[] = []
      for (const item of items.filter((each) => each.status === 'done' && each.check !== undefined && !passed.has(keyOf(each)))) {
        const prepared = await shell.prepare({ command: item.check }, here)
        if (isRefused(prepared)) return { refused: `The check of "${item.text}" cannot be run: ${prepared.refused}`, accesses: prepared.accesses }
        checks.push({ item, prepared })
      }
      return {
        accesses: checks.flatMap(({ prepared }) => prepared.accesses),
        changes: [],
        ...(checks.length > 0 ? { preview: { kind: 'command', command: checks.map(({ item }) => item.check).join('\n'), cwd: here.cwd, note: 'checks of items that are said to be done' } } : {}),
        run: (signal, emit, how) => prove(items, checks, passed, { signal, emit, how }),
      }
    },
  }
}

const keyOf = ({ text, check }: Item): string => `${text}\0${check ?? ''}`
const isRefused = (prepared: Prepared | Refused): prepared is Refused => 'refused' in prepared

async function prove(items: readonly Item[], checks: readonly { item: Item; prepared: Prepared }[], passed: Set<string>, { signal, emit, how }: { signal: Here['signal']; emit: Emit; how: { sandbox: boolean } }): Promise<Output> {
  for (const { item, prepared } of checks) {
    const output = await prepared.run(signal, emit, how)
    if (output.status !== 'ok' || output.exit !== 0) {
      return { ...output, status: output.status === 'ok' ? 'failed' : output.status, text: `The list was not taken: "${sanitize(item.text)}" is not done, its check failed.\n$ ${item.check}\n${output.text}` }
    }
    passed.add(keyOf(item))
  }
  return { status: 'ok', text: items.map((item) => `${MARKS[item.status]} ${sanitize(item.text)}${item.check === undefined ? '' : ` (${item.status === 'done' ? 'proved by' : 'check'}: ${sanitize(item.check)})`}`).join('\n') || 'The list is empty.' }
}
