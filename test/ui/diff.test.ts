import { structuredPatch, formatPatch } from 'diff'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { countDiff } from '../../src/core/view-excerpt.ts'
import { loadDiff, renderDiff } from '../../src/ui/diff.ts'
import { noAbilities, themeOf } from '../../src/ui/theme.ts'
import { columns, leaks, widest } from './widths.ts'

const none = themeOf('none', noAbilities)
const auto = themeOf('auto', { level: 1, ascii: false, links: false })
const diff = '--- a/sum.js\n+++ b/sum.js\n@@ -1,3 +1,3 @@\n export function sum(a, b) {\n-  return a - b\n+  return a + b\n }\n@@ -9,2 +9,3 @@ more\n same\n-\n+\n+\tnew'

beforeAll(async () => {
  await loadDiff()
})

test('lines have their numbers, a sign and their text; hunks are set apart', () => {
  expect(renderDiff(diff, { columns: 80, theme: none }, 100)).toEqual([
    ' 1   export function sum(a, b) {', ' 2 -   return a - b', ' 2 +   return a + b', ' 3   }', '   …', ' 9   same', '10 - ', '10 + ', '11 +     new',
  ])
})

test('the words that changed are marked where most of the line is as it was', () => {
  expect(renderDiff(diff, { columns: 80, theme: auto }, 100)[1]).toContain('\x1b[32m  return a \x1b[39m\x1b[32m\x1b[7m+\x1b[27m\x1b[39m'.replaceAll('32', '31').replace('+', '-'))
  const rewritten = '@@ -1 +1 @@\n-all of this\n+something else'
  expect(renderDiff(rewritten, { columns: 80, theme: auto }, 9).join('')).not.toContain('\x1b[7m')
})

test('a removed line that looks like a file head is a removed line', () => {
  const sql = '--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,1 @@\n--- drop it\n same'
  expect(renderDiff(sql, { columns: 80, theme: none }, 9)).toEqual(['1 - -- drop it', '1   same'])
  expect(countDiff(sql)).toEqual({ added: 0, removed: 1 })
})

test('of several files each is named, also one that is gone', () => {
  const two = `${diff}\ndiff --git a/y b/y\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\nBinary files a/z and b/z differ`
  const rows = renderDiff(two, { columns: 80, theme: none }, 100)
  expect(rows.filter((row) => /^(sum\.js|y \(deleted\)|Binary)/.test(row))).toEqual(['sum.js', 'y (deleted)', 'Binary files a/z and b/z differ'])
})

test('what is left out is counted', () => {
  expect(renderDiff(diff, { columns: 80, theme: none }, 2, 10).at(-1)).toBe('… +17 lines')
})

test('no row is wider than the window, every added and removed character is shown', () => {
  const file = fc.array(fc.constantFrom('let a = 1', '', '\tindented', '你好世界'.repeat(10), '👩‍👩‍👧 x', 'y'.repeat(120), '--- a', '+++ b', '@@ -1 +1 @@'), { maxLength: 12 })
  fc.assert(
    fc.property(file, file, columns, fc.constantFrom(none, auto), (before, after, width, theme) => {
      const patch = structuredPatch('f', 'f', `${before.join('\n')}\n`, `${after.join('\n')}\n`)
      const text = formatPatch(patch)
      const rows = renderDiff(text, { columns: width, theme }, 1_000)
      expect(widest(rows)).toBeLessThanOrEqual(width)
      const counted = patch.hunks.flatMap((hunk) => hunk.lines)
      expect(countDiff(text)).toEqual({ added: counted.filter((line) => line.startsWith('+')).length, removed: counted.filter((line) => line.startsWith('-')).length })
      expect(leaks(rows.join('\n'))).toBe(null)
      if (theme === none) expect(rows.filter((row) => /^ *\d+ [+-] /.test(row)).length).toBe(counted.filter((line) => /^[+-]/.test(line)).length)
    }),
  )
})
