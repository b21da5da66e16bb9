import { expect, test } from 'vitest'
import type { SessionChoice } from '../../src/ui/port.ts'
import { sessionFinder, type SessionFinder } from '../../src/ui/session-finder.ts'

const session = (key: string, more: Partial<SessionChoice> = {}): SessionChoice => ({
  key, id: key, title: `Title of ${key}`, words: `words of ${key}`, at: 0, bytes: 1, outcome: null, held: null, cost: null, branch: null, folder: null, elsewhere: null, unreadable: null, ...more,
})

interface Bench {
  finder: SessionFinder
  /** The keys that are shown, those of texts with their excerpt. */
  shown: () => string[]
  status: () => string
  loading: () => boolean
  /** Lets time pass, and whatever waits for it be done. */
  pass: (ms: number) => Promise<void>
  /** Of texts: which sessions were searched for what, and a way to find something there. */
  asked: { keys: readonly string[]; query: string; signal: AbortSignal }[]
  hit: (key: string, excerpt?: string) => Promise<void>
  end: () => Promise<void>
  failed: unknown[]
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function bench(): Bench {
  let now = 0
  let due: { at: number; act: () => void }[] = []
  let last: { choices: readonly { key?: string; note: string }[]; status: string; loading: boolean } = { choices: [], status: '', loading: false }
  const asked: Bench['asked'] = []
  const failed: unknown[] = []
  let give: (value: { key: string; excerpt: string } | null) => void = () => undefined
  const finder = sessionFinder({
    later: (ms, act) => {
      const timer = { at: now + ms, act }
      due.push(timer)
      return () => {
        due = due.filter((each) => each !== timer)
      }
    },
    sessions: {
      async *search(keys, query, signal) {
        asked.push({ keys, query, signal })
        for (;;) {
          const next = await new Promise<{ key: string; excerpt: string } | null>((resolve) => {
            give = resolve
          })
          if (!next) return
          if (next.key === 'broken') throw new Error('the disk is gone')
          yield next
        }
      },
    },
    row: ({ key, title }) => ({ key, label: title, note: '', act: () => undefined }),
    show: (found) => {
      last = found
    },
    fail: (error) => failed.push(error),
  })
  return {
    finder, asked, failed,
    shown: () => last.choices.map(({ key, note }) => `${key}${note === '' ? '' : `: ${note}`}`),
    status: () => last.status, loading: () => last.loading,
    pass: async (ms) => {
      for (const end = now + ms; ; ) {
        const next = due.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0]
        if (!next) {
          now = end
          return settled()
        }
        now = Math.max(now, next.at)
        due = due.filter((each) => each !== next)
        next.act()
        await settled()
      }
    },
    hit: async (key, excerpt = `…said in ${key}`) => {
      give({ key, excerpt })
      await settled()
    },
    end: async () => {
      give(null)
      await settled()
    },
  }
}

const three = [session('old', { at: 1 }), session('new', { at: 9 }), session('sub', { at: 99, folder: 'sub' }), session('tree', { at: 999, elsewhere: { command: 'x' }, folder: '~/tree' })]

test('this folder comes first, then others of this root, then other work trees, each with the newest first', async () => {
  const { finder, shown, status, loading, pass } = bench()
  finder.put(three)
  expect(shown()).toEqual(['new', 'old', 'sub', 'tree'])
  expect([status(), loading()]).toEqual(['4 · looking for more…', true])
  finder.listed()
  expect([status(), loading()]).toEqual(['4', false])
  finder.put([session('old', { at: 1, title: 'Known now' }), session('newest', { at: 10 })])
  await pass(100)
  expect(shown()).toEqual(['newest', 'new', 'old', 'sub', 'tree'])
})

test('names are searched at the key, texts after a pause, and what they say is added as it is found', async () => {
  const { finder, shown, status, loading, pass, asked, hit, end } = bench()
  finder.put(three)
  finder.listed()
  finder.seek('title new')
  expect(shown()).toEqual(['new'])
  expect([status(), loading()]).toEqual(['1 of 4 · reading what was said…', true])
  expect(asked).toEqual([])
  await pass(250)
  expect(asked).toMatchObject([{ query: 'title new', keys: ['old', 'sub', 'tree'] }])
  await hit('tree')
  await pass(60)
  expect(shown()).toEqual(['new', 'tree: …said in tree'])
  await hit('old')
  await end()
  await pass(60)
  expect(shown()).toEqual(['new', 'tree: …said in tree', 'old: …said in old'])
  expect([status(), loading()]).toEqual(['3 of 4', false])
})

test('a key stops the search for what stood there before; while keys come no text is read', async () => {
  const { finder, shown, pass, asked, hit } = bench()
  finder.put(three)
  finder.listed()
  finder.seek('zebra')
  await pass(250)
  expect(asked).toHaveLength(1)
  finder.seek('zebras')
  expect(asked[0]?.signal.aborted).toBe(true)
  await hit('old')
  await pass(100)
  expect(shown()).toEqual([])
  finder.seek('zebras!')
  await pass(100)
  finder.seek('zebras')
  await pass(150)
  expect(asked).toHaveLength(1)
  await pass(100)
  expect(asked).toHaveLength(2)
  finder.seek('')
  expect(asked[1]?.signal.aborted).toBe(true)
  expect(shown()).toEqual(['new', 'old', 'sub', 'tree'])
})

test('texts are not searched for one letter, nor before all sessions are listed', async () => {
  const { finder, pass, asked, status } = bench()
  finder.put(three)
  finder.seek('zebra')
  await pass(500)
  expect(asked).toEqual([])
  finder.listed()
  await pass(500)
  expect(asked).toMatchObject([{ query: 'zebra' }])
  finder.seek('z')
  await pass(500)
  expect(asked).toHaveLength(1)
  expect(status()).toBe('0 of 4')
})

test('of ten thousand names a key searches a thousand; the rest follows in slices, or at once when a choice is taken', async () => {
  const { finder, shown, pass } = bench()
  finder.put(Array.from({ length: 10_000 }, (_, index) => session(`s${index}`, { at: -index, title: index % 1_000 === 0 ? 'needle' : 'hay' })))
  finder.listed()
  expect(shown()).toHaveLength(10_000)
  finder.seek('needle')
  expect(shown(), 'what was there before, until all was looked at').toHaveLength(10_000)
  await pass(0)
  expect(shown()).toHaveLength(10)
  finder.seek('hay')
  finder.seek('needle')
  finder.settle()
  expect(shown()).toEqual(Array.from({ length: 10 }, (_, index) => `s${index * 1_000}`))
})

test('a hundred finds are enough, and it is said that there are more', async () => {
  const { finder, shown, status, pass, hit } = bench()
  finder.put(Array.from({ length: 200 }, (_, index) => session(`s${index}`)))
  finder.listed()
  finder.seek('zebra')
  await pass(250)
  for (let index = 0; index < 101; index++) await hit(`s${index}`)
  await pass(100)
  expect(shown()).toHaveLength(100)
  expect(status()).toBe('100 of 200 · there are more: write more of it')
})

test('what was found in a text and is found by its name meanwhile stands there once; what is gone does not', async () => {
  const { finder, shown, pass, hit } = bench()
  finder.put(three)
  finder.listed()
  finder.seek('zebra')
  await pass(250)
  await hit('old')
  await hit('sub')
  finder.put([session('old', { title: 'The zebra' })])
  await pass(100)
  expect(shown()).toEqual(['old', 'sub: …said in sub'])
  finder.drop('sub')
  expect(shown()).toEqual(['old'])
})

test('a search that fails is said, and what was found by name stays', async () => {
  const { finder, shown, status, pass, hit, failed } = bench()
  finder.put(three)
  finder.listed()
  finder.seek('title')
  await pass(250)
  await hit('broken')
  await pass(100)
  expect(failed).toMatchObject([{ message: 'the disk is gone' }])
  expect(shown()).toHaveLength(4)
  expect(status()).toBe('4 of 4')
})

test('when it is stopped, nothing is read or shown any more', async () => {
  const { finder, shown, pass, asked } = bench()
  finder.put(three)
  finder.listed()
  finder.seek('zebra')
  await pass(250)
  const before = shown()
  finder.put([session('late')])
  finder.stop()
  expect(asked[0]?.signal.aborted).toBe(true)
  await pass(1_000)
  expect(shown()).toEqual(before)
})
