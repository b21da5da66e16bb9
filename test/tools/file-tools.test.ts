import { expect, test } from 'vitest'
import type { Tool } from '../../src/core/ports.ts'
import { checkInput, declareInput } from '../../src/core/tool-input.ts'
import { edit } from '../../src/tools/edit.ts'
import { find } from '../../src/tools/find.ts'
import { grep } from '../../src/tools/grep.ts'
import { ls } from '../../src/tools/ls.ts'
import { read } from '../../src/tools/read.ts'
import { write } from '../../src/tools/write.ts'

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
