import { mkdirSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Tool } from '../../src/core/ports.ts'
import { checkInput, declareInput } from '../../src/core/tool-input.ts'
import { edit } from '../../src/tools/edit.ts'
import { find } from '../../src/tools/find.ts'
import { grep } from '../../src/tools/grep.ts'
import { ls } from '../../src/tools/ls.ts'
import { read } from '../../src/tools/read.ts'
import { write } from '../../src/tools/write.ts'
import { temporaryFolder, workspace } from '../support/file-space.ts'

const tools: Tool[] = [read({ blobs: { put: () => ({ sha256: '', bytes: 0 }), get: () => undefined } }), write, edit, ls, find, grep]

test.each(tools)('$name says what it does in few words', (tool) => {
  // About four bytes a token.
  expect(JSON.stringify([tool.name, tool.about, declareInput(tool.input)]).length / 4).toBeLessThan(160)
  expect(tool.about.length / 4).toBeLessThan(60)
})

test('an input that does not fit is told apart', () => {
  expect(checkInput(edit.input, { path: 'f', edits: [] })).toMatchObject({ ok: false })
  expect(checkInput(edit.input, { path: 'f', edits: [{ old: 'a', new: '' }] })).toMatchObject({ ok: true })
  expect(checkInput(write.input, { path: 'f' })).toMatchObject({ ok: false, why: expect.stringContaining('content') })
})

test.each([
  ['ls', ls, { path: 'd' }], ['read', tools[0]!, { path: 'd' }], ['find', find, { pattern: '*', path: 'd' }], ['grep', grep, { pattern: 'x', path: 'd' }],
])('%s looks into no folder that became a link after it was judged', async (_, tool, input) => {
  const space = workspace()
  mkdirSync(`${space.folder}/d`)
  const prepared = await space.prepare(tool, input)
  const outside = temporaryFolder()
  writeFileSync(`${outside}/secret`, 'x\n')
  rmdirSync(`${space.folder}/d`)
  symlinkSync(outside, `${space.folder}/d`)
  const output = await space.run(prepared)
  expect(output).toMatchObject({ status: 'failed', text: expect.stringContaining('a link was put in its path a moment ago') })
  expect(output.text).not.toContain('secret')
})
