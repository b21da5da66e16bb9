import { expect, test } from 'vitest'
import { parseCommandLine } from '../../src/cli/command-line.ts'
import { NO_WORDS } from '../../src/cli/options.ts'

test('a start without a word means the same as when commander is asked', () => {
  expect(parseCommandLine([])).toEqual({ kind: 'main', options: NO_WORDS })
})
