import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { onlyReads } from '../../src/core/policy.ts'
import { accesses } from './shell-lines.ts'

/**
 * Bash itself is the judge: harmless lines with a `touch P` or `> P` hidden in them are mutilated, and what is still
 * taken for reading is run. No file may appear. (Tens of thousands of seeds were tried while this was written.)
 */
const HARMLESS = [
  'echo "touch P"', "echo 'touch P'", 'echo a # touch P', 'echo a \\; touch P', 'echo \\>P', 'ls f; echo touch P', 'echo $x "$(ls f)" touch P', 'cat f | head -5 | grep "touch P"', 'echo a && echo ">P" || true', 'for i in a b; do echo touch P; done', 'if [ -f f ]; then echo "touch P"; fi', "echo $'touch P\\n'", 'echo `echo touch P`', 'cd . && ls touch P', 'echo a\n# touch P\nls', "bash -c 'echo touch P'", 'bash -c "echo \\"touch P\\""', 'echo a \\\n touch P', '[[ a == "touch P" ]] && ls',
  'case x in "touch P") ls;; esac', 'echo {touch,P} f', 'time echo touch P', '(ls; echo touch P)', '{ ls; echo touch P; }', 'grep -n "touch P" f 2>&1', 'sed -n "/touch P/p" f', "printf '%s' 'touch P'", 'find . -name "touch P"', 'cat <<< "touch P"', 'diff <(cat f) <(echo touch P)', "echo 'it'\\''s touch P'", 'x=1; echo "$x touch P"', 'timeout 2 echo touch P', 'find . -name f | xargs echo touch P', '[ a = "> P" ]',
]
const PIECES = [
  'touch P', '>P', '> P', ' ', '\n', '\t', ';', '&', '&&', '||', '|', '|&', '(', ')', '{', '}', '{ ', ' }', '$(', '`', '"', "'", '\\', '\\\n', '\\\\', '#', ' #', '$', '$x', '${', "$'", '$"', 'ls', '<', '<<', '<<<', '<(', '>(', '2>&1', '>&', '&>', '! ', '[', ']', '[[ ', ' ]]', '((', '))', 'if ', ' then ', ' fi', ' done', 'esac', 'x=1', '*', '?', '~', '=', '-', '\\"', "\\'", '\\`', 'EOF', '<<EOF\n', '\nEOF\n', 'f()', ';;', 'in', '\r', '\u00a0', '\u2028', '\x0b',
]
const change = fc.record({ at: fc.nat(), piece: fc.constantFrom(...PIECES), cut: fc.nat({ max: 2 }) })
const lines = fc.tuple(fc.constantFrom(...HARMLESS), fc.array(change, { maxLength: 3 })).map(([line, changes]) =>
  changes.reduce((text, { at, piece, cut }) => {
    const place = at % (text.length + 1)
    return text.slice(0, place) + (cut === 2 ? '' : piece) + text.slice(place + cut)
  }, line),
)

let folder = ''
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tiller-differential-')))
  writeFileSync(join(folder, 'f'), 'x\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('what is taken for reading writes nothing when bash runs it', { timeout: 120_000 }, async () => {
  let ran = 0
  await fc.assert(
    fc.asyncProperty(lines, async (line) => {
      if (!onlyReads(await accesses(line, { root: folder, home: '/nowhere' }))) return
      ran++
      spawnSync('bash', ['-c', line], { cwd: folder, stdio: 'ignore', timeout: 5_000, env: { PATH: '/usr/bin:/bin', HOME: '/nowhere' } })
      expect(readdirSync(folder)).toEqual(['f'])
    }),
    { numRuns: 800 },
  )
  // Not by calling everything unknown.
  expect(ran).toBeGreaterThan(100)
})
