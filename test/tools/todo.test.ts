import { expect, test } from 'vitest'
import type { Here, Output } from '../../src/core/ports.ts'
import { todo } from '../../src/tools/todo.ts'
import { tool } from '../support/agent.ts'

const here: Here = { call: 'c', root: '/w', cwd: '/w', seen: () => undefined, images: false, signal: new AbortController().signal }
const emit = { output: () => undefined, spawned: () => undefined }

/** A list tool over a shell whose commands end with these codes. */
function list(...exits: number[]) {
  let ran = 0
  const shell = tool('shell', (): Output => ({ status: 'ok', text: 'out', exit: exits[ran++] ?? 0 }), [{ kind: 'exec', argv: ['npm', 'test'] }])
  const own = todo({ shell })
  return {
    ran: () => ran,
    submit: async (...items: { text: string; status: string; check?: string }[]) => {
      const prepared = await own.prepare({ items } as never, here)
      if ('refused' in prepared) throw new Error(prepared.refused)
      return { accesses: prepared.accesses, ...(await prepared.run(here.signal, emit, { sandbox: false })) }
    },
  }
}

test('a list without checks touches nothing', async () => {
  const { accesses, status, text } = await list().submit({ text: 'one', status: 'done' }, { text: 'two', status: 'doing' })
  expect({ accesses, status, text }).toEqual({ accesses: [], status: 'ok', text: '[x] one\n[>] two' })
})

test('an item with a check is done only if it passes, and what the check runs is judged like any command', async () => {
  const own = list(1, 0)
  const item = { text: 'one', status: 'done', check: 'npm test' }
  const failed = await own.submit(item)
  expect(failed.accesses).toEqual([{ kind: 'exec', argv: ['npm', 'test'] }])
  expect(failed).toMatchObject({ status: 'failed', text: expect.stringContaining('"one" is not done, its check failed') })
  expect(await own.submit(item)).toMatchObject({ status: 'ok', text: '[x] one (proved by: npm test)' })
})

test('what was proved is not proved again with each list', async () => {
  const own = list(0, 0)
  await own.submit({ text: 'one', status: 'done', check: 'npm test' })
  await own.submit({ text: 'one', status: 'done', check: 'npm test' }, { text: 'two', status: 'open' })
  expect(own.ran()).toBe(1)
})
