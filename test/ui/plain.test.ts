import { expect, test } from 'vitest'
import { plainSession, plainWriter } from '../../src/ui/plain.ts'
import { call, deltas, events, input, outcome, reply, result, session, start, step, text } from '../core/view-events.ts'

const diff = '--- a/sum.js\n+++ b/sum.js\n@@ -1 +1 @@\n-a - b\n+a + b'
const facts: Parameters<typeof events>[0] = [
  session, input('i', 'Fix the sum'), step('r', 1, ['i']), ...deltas('r', [text('I look at **it**.\n\nThen')], [6]), reply('r', [text('I look at **it**.\n\nThen I edit.'), call('a', 'read', { path: '/w/sum.js' }), call('b', 'edit', { path: 'sum.js' }), call('c', 'shell', { command: 'npm test' })]),
  start('r', 'a'), result('r', 'a', { text: 'a - b\n', ms: 2 }), start('r', 'b'), result('r', 'b', { diff, changes: [{ path: '/w/sum.js', before: 'x', after: 'y' }] }),
  { type: 'ask', run: 'r', call: 'c', accesses: [], because: 'commands ask in this mode' }, { type: 'answer', run: 'r', call: 'c', verdict: 'allow', by: 'user' }, start('r', 'c'), input('s', 'and the docs'), result('r', 'c', { text: '1 passing\n', exit: 0, ms: 1_500 }),
  step('r', 2, ['s']), reply('r', [text('Done.')]), outcome('r'),
]

const words = `session s1

> Fix the sum

I look at it.

Then I edit.

* read sum.js  ok, 1 line, 2 ms
* edit sum.js  ok, +1 -1, 10 ms
  1 - a - b
  1 + a + b
asks for permission: shell npm test (commands ask in this mode)
running shell npm test
waiting before the next request, after 1 running call: and the docs
* shell npm test  ok, 1.5 s
  1 passing

> and the docs
  steering, delivered in step 2

Done.

= done: the model has finished
  130 ms · 2 steps · 3 calls · 200 tokens in, 20 out · $0.020
  1 file changed (+1 -1): sum.js
`

test('a run as readable lines, as it happens', async () => {
  const write = await plainWriter()
  expect(events(facts).map(write).join('')).toBe(words)
})

test('what was written is never taken back: the text of a prefix is a prefix of the text', async () => {
  const list = events(facts)
  for (let end = 0; end < list.length; end++) {
    const write = await plainWriter()
    expect(words.startsWith(list.slice(0, end).map(write).join(''))).toBe(true)
  }
})

test("without the model's words, for when they go elsewhere", async () => {
  const write = await plainWriter({ silent: true })
  const out = events(facts).map(write).join('')
  expect(out).toContain('* edit sum.js')
  expect(out).not.toMatch(/I look|Done\./)
})

test('a whole session reads the same, without what was said on the way', async () => {
  const passing = /^(asks for|running|waiting) .*\n/gm
  expect(await plainSession(events(facts.filter((each) => each.type !== 'delta')) as never)).toBe(words.replaceAll(passing, ''))
})
