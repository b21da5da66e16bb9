import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide, judge, onlyReads, type Decision, type Policy } from '../../src/core/policy.ts'
import { Mode, type Access, type Rule } from '../../src/core/record.ts'

const root = '/w'
const policy = (mode: Mode, more: Partial<Policy> = {}): Policy => ({ root, mode, rules: [], sandbox: true, ...more })
const rule = (text: string): Rule => {
  const [, verdict, kind, match] = /^(\w+) (\w+) (.*)$/s.exec(text)!
  return { verdict, kind, match } as Rule
}
const rules = (...texts: string[]): Pick<Policy, 'rules'> => ({ rules: texts.map(rule) })
const exec = (line: string, reads = false): Access => ({ kind: 'exec', argv: line.split(' '), ...(reads ? { reads } : {}) })
const read = (path: string): Access => ({ kind: 'read', path })
const write = (path: string, command = false): Access => ({ kind: 'write', path, ...(command ? { command } : {}) })

const TABLE: [what: string, access: Access, verdicts: Record<Mode, Decision['verdict']>][] = [
  ['reading in the root', read('/w/a'), { plan: 'allow', ask: 'allow', edit: 'allow', auto: 'allow', full: 'allow' }],
  ['the root itself', read('/w'), { plan: 'allow', ask: 'allow', edit: 'allow', auto: 'allow', full: 'allow' }],
  ['reading outside', read('/etc/passwd'), { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'ask', full: 'allow' }],
  ['reading beside, with the same beginning', read('/w2/a'), { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'ask', full: 'allow' }],
  ['writing in the root', write('/w/a'), { plan: 'deny', ask: 'ask', edit: 'allow', auto: 'allow', full: 'allow' }],
  ['writing outside', write('/tmp/a'), { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'ask', full: 'allow' }],
  ['a command that writes in the root', write('/w/a', true), { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'allow', full: 'allow' }],
  ['a command that writes outside', write('/tmp/a', true), { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'ask', full: 'allow' }],
  ['a command known to only read', exec('ls', true), { plan: 'allow', ask: 'allow', edit: 'allow', auto: 'allow', full: 'allow' }],
  ['a command', exec('npm test'), { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'allow', full: 'allow' }],
  ['the network', { kind: 'net', host: 'example.com' }, { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'ask', full: 'allow' }],
  ['a tool server', { kind: 'tool', name: 'github.create' }, { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'ask', full: 'allow' }],
  ['what is not known', { kind: 'unknown', why: 'x' }, { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'ask', full: 'allow' }],
  ['a part of a command that is not known', { kind: 'unknown', why: 'x', part: 'program' }, { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'allow', full: 'allow' }],
  ['sudo', exec('sudo ls'), { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'ask', full: 'allow' }],
  ['a secret in the root', read('/w/.env.local'), { plan: 'ask', ask: 'ask', edit: 'ask', auto: 'ask', full: 'allow' }],
  ['a secret outside', read('/home/u/.ssh/id_rsa'), { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'ask', full: 'allow' }],
  ['git\'s own folder', write('/w/.git/hooks/post-commit'), { plan: 'deny', ask: 'ask', edit: 'ask', auto: 'ask', full: 'allow' }],
]

describe('the table of modes', () => {
  test.each(TABLE.flatMap(([what, access, verdicts]) => Mode.options.map((mode) => [what, mode, access, verdicts[mode]] as const)))('%s in %s', (_what, mode, access, verdict) => {
    expect(decide([access], policy(mode)).verdict).toBe(verdict)
  })
})

test('nothing to do is allowed', () => {
  expect(decide([], policy('plan'))).toMatchObject({ verdict: 'allow', sandbox: false })
})

describe('the sandbox', () => {
  test('holds what auto runs unasked, and says so', () => {
    expect(decide([exec('npm test')], policy('auto'))).toMatchObject({ verdict: 'allow', sandbox: true, because: 'mode auto, in the sandbox: runs npm test' })
  })
  test('without one, auto behaves as ask and says so', () => {
    for (const access of [exec('npm test'), write('/w/a'), write('/w/a', true)]) {
      expect(decide([access], policy('auto', { sandbox: false }))).toMatchObject({ verdict: 'ask', sandbox: false, because: expect.stringContaining('no sandbox here and behaves as ask') as string })
    }
    expect(decide([exec('ls', true), read('/w/a')], policy('auto', { sandbox: false })).verdict).toBe('allow')
  })
  test('does not hold what a rule allows, what only reads, what was asked, or files written by tools', () => {
    expect(decide([exec('npm test')], policy('auto', rules('allow exec npm test'))).sandbox).toBe(false)
    expect(decide([exec('ls', true)], policy('auto')).sandbox).toBe(false)
    expect(decide([exec('npm test')], policy('ask')).sandbox).toBe(false)
    expect(decide([write('/w/a')], policy('auto')).sandbox).toBe(false)
    expect(decide([exec('npm test')], policy('full')).sandbox).toBe(false)
  })
  test('holds the whole line if any part of it was allowed because of it', () => {
    expect(decide([exec('npm test'), exec('make')], policy('auto', rules('allow exec npm test'))).sandbox).toBe(true)
  })
  test('holds every command where it is wanted for all', () => {
    for (const mode of ['ask', 'full'] as const) expect(decide([exec('npm test')], policy(mode, { alwaysSandbox: true })).sandbox).toBe(true)
    expect(decide([exec('npm test')], policy('ask', { alwaysSandbox: true, sandbox: false })).sandbox).toBe(false)
    expect(decide([write('/w/a')], policy('edit', { alwaysSandbox: true })).sandbox).toBe(false)
  })
})

test('in the home folder or at / edits are asked for', () => {
  for (const mode of ['edit', 'auto'] as const) {
    expect(decide([write('/w/a')], policy(mode, { wideRoot: true })).verdict).toBe('ask')
    expect(decide([exec('make')], policy(mode, { wideRoot: true })).verdict).toBe('ask')
  }
  expect(decide([read('/x/a')], policy('ask', { root: '/' })).verdict).toBe('allow')
})

describe('rules', () => {
  const verdict = (access: Access, mode: Mode, ...texts: string[]) => decide([access], policy(mode, rules(...texts))).verdict

  test('deny beats ask beats allow, in any order', () => {
    for (const order of [['allow exec npm *', 'ask exec npm *', 'deny exec npm *'], ['deny exec npm *', 'ask exec npm *', 'allow exec npm *']]) expect(verdict(exec('npm i'), 'full', ...order)).toBe('deny')
    expect(verdict(exec('npm i'), 'full', 'allow exec npm *', 'ask exec npm *')).toBe('ask')
    expect(verdict(exec('npm i'), 'ask', 'allow exec npm *')).toBe('allow')
  })
  test('a last * is zero or more words, and without it the words are all', () => {
    for (const line of ['npm test', 'npm test --', 'npm test -- --watch']) expect(verdict(exec(line), 'ask', 'allow exec npm test *')).toBe('allow')
    expect(verdict(exec('npm test'), 'ask', 'allow exec npm test')).toBe('allow')
    for (const line of ['npm test x', 'npm', 'npm testx', 'npm-x test']) expect(verdict(exec(line), 'ask', 'allow exec npm test')).toBe('ask')
    expect(verdict(exec('anything at all'), 'ask', 'allow exec *')).toBe('allow')
  })
  test('K3: only the very word: ls is not lsblk, git log is not git log-x, and not a program of that name elsewhere', () => {
    for (const line of ['lsblk', 'ls-x', '/tmp/evil/ls', './ls']) expect(verdict(exec(line), 'ask', 'allow exec ls *')).toBe('ask')
    expect(verdict(exec('git log-x'), 'ask', 'allow exec git log *')).toBe('ask')
    expect(verdict(exec('rm-safe-not'), 'ask', 'allow exec rm-safe *')).toBe('ask')
  })
  test('a * in a word is any text in that word', () => {
    expect(verdict(exec('npm run test:unit'), 'ask', 'allow exec npm run test:*')).toBe('allow')
    expect(verdict(exec('npm run test:unit x'), 'ask', 'allow exec npm run test:*')).toBe('ask')
    expect(verdict(exec('git push --force-with-lease'), 'full', 'deny exec git push --force*')).toBe('deny')
  })
  test('quotes in a rule keep blanks and stars', () => {
    const access: Access = { kind: 'exec', argv: ['echo', 'a b', '*'] }
    expect(verdict(access, 'ask', `allow exec echo 'a b' "*"`)).toBe('allow')
    expect(verdict({ kind: 'exec', argv: ['echo', 'a b', 'c'] }, 'ask', `allow exec echo 'a b' "*"`)).toBe('ask')
  })
  test('what is stopped is stopped in other spellings too', () => {
    for (const argv of [['git', '-C', '.', 'push', 'x'], ['git', '--no-pager', 'push'], ['/usr/bin/git', 'push'], ['git', '-c', 'a=b', '-C', 'x', 'push', '-f']]) {
      expect(verdict({ kind: 'exec', argv }, 'full', 'deny exec git push *')).toBe('deny')
      expect(verdict({ kind: 'exec', argv }, 'full', 'ask exec git push *')).toBe('ask')
    }
    for (const line of ['git log push', 'git commit -m x', 'git stash push', 'notgit push']) expect(verdict(exec(line), 'full', 'deny exec git push *')).toBe('allow')
  })
  test('what may be stopped, and is only known when it runs, is asked', () => {
    for (const argv of [['git', '$x'], ['git', '-C', '$d', 'push'], ['git', '$(cat f)', 'x']]) expect(verdict({ kind: 'exec', argv }, 'full', 'deny exec git push *')).not.toBe('allow')
    expect(verdict({ kind: 'exec', argv: ['git', 'commit', '-m', '$x'] }, 'full', 'deny exec git push *')).toBe('allow')
    expect(verdict({ kind: 'unknown', why: 'eval', part: 'program' }, 'full', 'deny exec git push *')).toBe('ask')
    expect(verdict({ kind: 'unknown', why: 'eval', part: 'program' }, 'auto', 'ask exec git push *')).toBe('ask')
    expect(verdict({ kind: 'unknown', why: '$f', part: 'path' }, 'full', 'deny exec git push *')).toBe('allow')
  })
  test('files: relative to the root or absolute, dot files too, any case when it stops something', () => {
    expect(verdict(read('/w/a/secret/x'), 'ask', 'deny read a/secret/**')).toBe('deny')
    expect(verdict(read('/w/a/secret'), 'ask', 'deny read a/secret/**')).toBe('deny')
    expect(verdict(read('/w/a/.hidden/x'), 'ask', 'deny read a/**')).toBe('deny')
    expect(verdict(read('/w/.ENV'), 'full', 'deny read **/.env*')).toBe('deny')
    expect(verdict(read('/x/.env'), 'full', 'deny read **/.env*')).toBe('allow')
    expect(verdict(read('/usr/include/a.h'), 'ask', 'allow read /usr/include/**')).toBe('allow')
    expect(verdict(read('/usr/include2/a.h'), 'ask', 'allow read /usr/include/**')).toBe('ask')
    expect(verdict(write('/w/docs/a.md'), 'ask', 'allow write docs/*.md')).toBe('allow')
    expect(verdict(write('/w/docs/b/a.md'), 'ask', 'allow write docs/*.md')).toBe('ask')
    expect(verdict(write('/w/docs/a.md'), 'ask', 'allow read docs/*.md')).toBe('ask')
  })
  test('a write made by a command is opened by a write rule and by no exec rule', () => {
    const line: Access[] = [exec('sort -o P f'), write('/w/P', true)]
    expect(decide(line, policy('ask', rules('allow exec sort *'))).verdict).toBe('ask')
    expect(decide(line, policy('ask', rules('allow exec sort *', 'allow write P'))).verdict).toBe('allow')
  })
  test('hosts: exact or by a star, in any case', () => {
    const net = (host: string): Access => ({ kind: 'net', host })
    expect(verdict(net('API.example.com'), 'ask', 'allow net *.example.com')).toBe('allow')
    for (const host of ['example.com', 'example.com.evil.org', 'xexample.com']) expect(verdict(net(host), 'ask', 'allow net *.example.com')).toBe('ask')
    expect(verdict(net('a.b'), 'full', 'deny net *')).toBe('deny')
  })
  test('tools of servers by name', () => {
    expect(verdict({ kind: 'tool', name: 'github.get_issue' }, 'ask', 'allow tool github.get_*')).toBe('allow')
    expect(verdict({ kind: 'tool', name: 'github.create_issue' }, 'ask', 'allow tool github.get_*')).toBe('ask')
  })
  test('plan is not opened by rules, except for reading files', () => {
    expect(verdict(exec('npm test'), 'plan', 'allow exec *')).toBe('deny')
    expect(verdict(write('/w/a'), 'plan', 'allow write **')).toBe('deny')
    expect(verdict({ kind: 'net', host: 'a' }, 'plan', 'allow net *')).toBe('deny')
    expect(verdict(read('/usr/include/a.h'), 'plan', 'allow read /usr/include/**')).toBe('allow')
    expect(verdict(exec('npm test'), 'plan', 'ask exec *')).toBe('deny')
  })
  test('a secret is opened only by a rule that names it', () => {
    for (const broad of ['allow read **', 'allow read *', 'allow read /**']) expect(verdict(read('/w/.env'), 'edit', broad)).toBe('ask')
    for (const named of ['allow read .env', 'allow read **/.env*', 'allow read /w/.env']) expect(verdict(read('/w/.env'), 'edit', named)).toBe('allow')
    expect(verdict(read('/w/.env'), 'full', 'deny read **/.env*')).toBe('deny')
  })
  test('what is always asked is not opened by rules', () => {
    for (const path of ['/w/.git/config', '/w/.GIT/hooks/x', '/w/.agentrc', '/w/.agent/x', '/w/sub/.envrc', '/w/.bashrc']) {
      expect(verdict(write(path), 'auto', 'allow write **')).toBe('ask')
      expect(verdict(write(path), 'full')).toBe('allow')
      expect(verdict(write(path), 'full', 'deny write **')).toBe('deny')
    }
    expect(verdict(exec('sudo ls'), 'auto', 'allow exec sudo *')).toBe('ask')
    expect(verdict(exec('/usr/bin/sudo ls'), 'auto', 'allow exec *')).toBe('ask')
  })
})

describe('what is said', () => {
  test('the strictest access, with the rule or mode', () => {
    expect(decide([read('/w/a'), exec('make'), exec('git push')], policy('ask', rules('deny exec git push *')))).toMatchObject({ verdict: 'deny', by: 'rule', because: 'rule deny exec git push *: runs git push', access: exec('git push') })
    expect(decide([exec('make')], policy('ask'))).toMatchObject({ by: 'mode', because: 'mode ask: runs make' })
    expect(decide([exec('make'), exec('ls', true)], policy('ask', rules('allow exec make')))).toMatchObject({ verdict: 'allow', by: 'mode' })
    expect(decide([exec('make')], policy('ask', rules('allow exec make')))).toMatchObject({ verdict: 'allow', by: 'rule' })
  })
  test('each part of a command line, for config explain', () => {
    expect(judge([exec('git status', true), exec('rm x')], policy('ask')).map(({ verdict, because }) => [verdict, because])).toEqual([
      ['allow', 'known to only read: runs git status'], ['ask', 'mode ask: runs rm x'],
    ])
  })
})

describe('what a lasting yes would add', () => {
  const suggested = (accesses: Access[], ...texts: string[]) => decide(accesses, policy('ask', rules(...texts))).suggest

  test('rules for what asks, and only for that', () => {
    expect(suggested([exec('ls', true), exec('make all'), exec('make all'), { kind: 'net', host: 'a.b' }, write('/w/a[1]', true)])).toEqual([
      { verdict: 'allow', kind: 'exec', match: 'make all' }, { verdict: 'allow', kind: 'net', match: 'a.b' }, { verdict: 'allow', kind: 'write', match: String.raw`a\[1\]` },
    ])
    expect(suggested([exec('npm run build -- --x')])).toEqual([{ verdict: 'allow', kind: 'exec', match: 'npm run build *' }])
    expect(suggested([exec('ls', true)])).toEqual([])
  })
  test('nothing where one part can only be allowed once', () => {
    for (const once of [exec('sudo make'), write('/w/.git/config'), { kind: 'unknown', why: 'x' } as Access]) expect(suggested([exec('make'), once])).toEqual([])
    expect(suggested([exec('make')], 'ask exec make')).toEqual([])
  })
  test('what was suggested allows the same next time', () => {
    const word = fc.oneof(fc.constantFrom('*', "it's", 'a b', '$x', '\\', '"', 'npm', 'run', 'test', '-x', ''), fc.string())
    const argv = fc.array(word, { minLength: 1, maxLength: 5 }).filter((words) => words[0] !== '')
    const path = fc.array(fc.string({ minLength: 1 }).map((name) => name.replaceAll('/', '') || 'x').filter((name) => name !== '.' && name !== '..'), { minLength: 1, maxLength: 3 }).map((names) => `/${names.join('/')}`)
    const access: fc.Arbitrary<Access> = fc.oneof(
      argv.map((words): Access => ({ kind: 'exec', argv: words })),
      path.map((at): Access => ({ kind: 'write', path: `/w${at}` })),
      path.map((at): Access => ({ kind: 'read', path: at })),
    )
    fc.assert(
      fc.property(fc.array(access, { minLength: 1, maxLength: 4 }), (accesses) => {
        const first = decide(accesses, policy('ask'))
        if (first.verdict !== 'ask' || first.suggest.length === 0) return
        expect(decide(accesses, policy('ask', { rules: first.suggest })).verdict).toBe('allow')
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('for all decisions', () => {
  const order = ['allow', 'ask', 'deny']
  const name = fc.constantFrom('a', 'b', '.env', '.git', 'x.ts')
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).chain((names) => fc.constantFrom(`/w/${names.join('/')}`, `/${names.join('/')}`))
  const words = fc.array(fc.constantFrom('git', 'push', 'npm', 'test', '-C', '$x', 'sudo', 'x'), { minLength: 1, maxLength: 4 })
  const access: fc.Arbitrary<Access> = fc.oneof(
    path.map((at): Access => ({ kind: 'read', path: at })), fc.tuple(path, fc.boolean()).map(([at, command]) => write(at, command)),
    fc.tuple(words, fc.boolean()).map(([argv, reads]): Access => ({ kind: 'exec', argv, reads })), fc.constantFrom('a.b', 'c.d').map((host): Access => ({ kind: 'net', host })),
    fc.constantFrom<Access>({ kind: 'unknown', why: 'x' }, { kind: 'unknown', why: 'x', part: 'program' }, { kind: 'unknown', why: 'x', part: 'path' }, { kind: 'tool', name: 's.t' }),
  )
  const anyRule: fc.Arbitrary<Rule> = fc.record({ verdict: fc.constantFrom('allow', 'ask', 'deny'), kind: fc.constantFrom('read', 'write', 'exec', 'net', 'tool'), match: fc.constantFrom('*', '**', 'git push *', 'npm test', '**/.env*', 'a/**', '/**', '*.b', 'git *', '-C') })
  const anyPolicy: fc.Arbitrary<Policy> = fc.record({ root: fc.constant(root), mode: fc.constantFrom(...Mode.options), rules: fc.array(anyRule, { maxLength: 4 }), sandbox: fc.boolean(), wideRoot: fc.boolean() })
  const accesses = fc.array(access, { maxLength: 4 })
  const runs = { numRuns: 3_000 }

  test('a further deny or ask rule never loosens', () => {
    fc.assert(
      fc.property(accesses, anyPolicy, anyRule, (all, given, added) => {
        fc.pre(added.verdict !== 'allow')
        const [before, after] = [decide(all, given), decide(all, { ...given, rules: [...given.rules, added] })]
        expect(order.indexOf(after.verdict)).toBeGreaterThanOrEqual(order.indexOf(before.verdict))
      }),
      runs,
    )
  })
  test('a further access never loosens: nothing rides on what is allowed', () => {
    fc.assert(
      fc.property(accesses, access, anyPolicy, (all, one, given) => {
        const worst = Math.max(order.indexOf(decide(all, given).verdict), order.indexOf(decide([one], given).verdict))
        expect(order.indexOf(decide([...all, one], given).verdict)).toBe(worst)
      }),
      runs,
    )
  })
  test('the order of rules and of accesses does not matter', () => {
    fc.assert(
      fc.property(accesses, anyPolicy, (all, given) => {
        expect(decide(all.toReversed(), { ...given, rules: given.rules.toReversed() }).verdict).toBe(decide(all, given).verdict)
      }),
      runs,
    )
  })
  test('what plan allows only reads', () => {
    fc.assert(
      fc.property(accesses, anyPolicy, (all, given) => {
        if (decide(all, { ...given, mode: 'plan' }).verdict === 'allow') expect(onlyReads(all)).toBe(true)
      }),
      runs,
    )
  })
  test('a stricter mode is never looser', () => {
    fc.assert(
      fc.property(accesses, anyPolicy, (all, given) => {
        const verdicts = (['ask', 'edit', 'full'] as const).map((mode) => order.indexOf(decide(all, { ...given, mode }).verdict))
        expect(verdicts).toEqual(verdicts.toSorted((a, b) => b - a))
      }),
      runs,
    )
  })
})
