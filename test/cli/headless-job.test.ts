import { describe, expect, it } from 'vitest'
import { calls, openWorld, say } from '../support/world.ts'

const SUM = { 'sum.js': 'export const sum = (a, b) => a - b\r\n', 'sum.test.js': "import { test } from 'node:test'\nimport assert from 'node:assert'\nimport { sum } from './sum.js'\ntest('sums', () => assert.equal(sum(2, 3), 5))\n", 'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n' }

describe('the whole job', () => {
  it('reads, edits, runs the tests and commits, and ends with 0', async () => {
    const world = await openWorld([
      { text: 'I look first.', calls: [{ name: 'read', input: { path: 'sum.js' } }, { name: 'shell', input: { command: 'npm test' } }] },
      calls(['edit', { path: 'sum.js', edits: [{ old: 'a - b', new: 'a + b' }] }]),
      calls(['shell', { command: 'npm test' }]),
      calls(['git', { op: 'add', paths: ['sum.js'] }], ['git', { op: 'commit', message: 'Add, not subtract' }]),
      say('Fixed: it subtracted.'),
    ], { files: SUM })
    const { code, stdout, stderr } = await world.run(['-p', '--mode', 'full', 'Mend sum'])
    expect([code, stdout, stderr]).toEqual([0, 'Fixed: it subtracted.\n', ''])
    expect(world.read('sum.js')).toBe('export const sum = (a, b) => a + b\r\n')
    expect(world.git('log', '--format=%s|%an')).toBe('Add, not subtract|Test\nFirst|Test')
    expect(world.git('show', '--name-only', '--format=')).toBe('sum.js')
    expect(world.git('status', '--porcelain')).toBe('')
    const results = world.of('result')
    expect(results.map(({ status }) => status)).toEqual(['ok', 'failed', 'ok', 'ok', 'ok', 'ok'])
    expect(world.of('outcome').map(({ status }) => status)).toEqual(['done'])
  })
})
