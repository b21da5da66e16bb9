import { appendFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { AgentDeps } from '../../src/loop/work.ts'
import { edit } from '../../src/tools/edit.ts'
import { grep } from '../../src/tools/grep.ts'
import { read } from '../../src/tools/read.ts'
import { write } from '../../src/tools/write.ts'
import { host, rig } from '../support/agent.ts'
import { workspace } from '../support/file-space.ts'

const tools = [read({ blobs: host().blobs }), write, edit, grep]
const of = (folder: string): Partial<AgentDeps> => ({ tools, cwd: folder, policy: { root: folder, rules: [], sandbox: false } })

test('one reply may read a file and edit it several times', async () => {
  const space = workspace()
  space.put('f', 'a\nb\n')
  const calls = [{ name: 'read', input: { path: 'f' } }, { name: 'edit', input: { path: 'f', edits: [{ old: 'a', new: 'A' }] } }, { name: 'edit', input: { path: 'f', edits: [{ old: 'b', new: 'B' }] } }]
  const run = await rig([{ calls }, { text: 'done' }], of(space.folder))
  run.agent.send({ type: 'input', text: 'go' })
  await run.until(({ type }) => type === 'outcome')
  expect(run.of('result').map(({ status }) => status)).toEqual(['ok', 'ok', 'ok'])
  expect(space.text('f')).toBe('A\nB\n')
  expect(run.of('result')[2]).toMatchObject({ diff: expect.stringContaining('-b\n+B'), changes: [{ before: run.of('result')[1]!.changes![0]!.after }] })
})

test('L6: a file that is changed under it each time is edited at the second try, without another reading', async () => {
  const space = workspace()
  space.put('f', 'a\nb\n')
  const editing = { calls: [{ name: 'edit', input: { path: 'f', edits: [{ old: 'a', new: 'A' }] } }] }
  const replies = [{ calls: [{ name: 'read', input: { path: 'f' } }] }, { ...editing, before: () => appendFileSync(`${space.folder}/f`, 'more\n') }, editing, { text: 'done' }]
  const run = await rig(replies, of(space.folder))
  run.agent.send({ type: 'input', text: 'go' })
  await run.until(({ type }) => type === 'outcome')
  expect(run.of('result').map(({ status }) => status)).toEqual(['ok', 'failed', 'ok'])
  expect(space.text('f')).toBe('A\nb\nmore\n')
})
