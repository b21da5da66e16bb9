import { applyPatch } from 'diff'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fileDiff } from '../../src/tools/file-diff.ts'

test('a new file, and a change in the first line, are shown from their first sign on', async () => {
  expect(await fileDiff('a.txt', null, 'one\ntwo\n')).toContain('@@ -0,0 +1,2 @@\n+one\n+two')
  expect(await fileDiff('a.txt', 'old\nsame\n', 'new\nsame\n')).toContain('@@ -1,2 +1,2 @@\n-old\n+new\n same')
})

test('what a diff shows leads from the one text to the other', async () => {
  const text = fc.array(fc.constantFrom('', 'a', 'b', 'cc'), { maxLength: 30 }).map((lines) => lines.map((line) => `${line}\n`).join(''))
  await fc.assert(fc.asyncProperty(text, text, async (before, after) => {
    fc.pre(before !== after)
    expect(applyPatch(before, `${await fileDiff('a.txt', before, after)}\n`)).toBe(after)
  }))
})
