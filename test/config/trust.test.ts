import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addProjectRules, distrust, readTrust, trust, trustedFolders } from '../../src/config/trust.ts'
import { addUserRules, setUserKey } from '../../src/config/user-settings.ts'
import type { Rule } from '../../src/core/record.ts'
import { temporary } from './temporary.ts'

const places = () => ({ home: temporary(), env: {} })
const npm: Rule = { verdict: 'allow', kind: 'exec', match: 'npm test' }

test('trust is remembered outside the folder, by its real path, for its owner only', () => {
  const person = places()
  const root = temporary({ 'real/x': '' })
  symlinkSync(join(root, 'real'), join(root, 'link'))
  expect(readTrust(join(root, 'real'), person).trusted).toBe(false)
  const saved = trust(join(root, 'link'), person)
  expect(saved).toEqual({ ok: true, file: join(person.home, '.config/tiller/trust.json') })
  expect(readTrust(join(root, 'real'), person).trusted).toBe(true)
  expect(readTrust(root, person).trusted).toBe(false)
  expect(trustedFolders(person)).toEqual([join(root, 'real')])
  expect(statSync(join(person.home, '.config/tiller/trust.json')).mode & 0o777).toBe(0o600)
  expect(statSync(join(person.home, '.config/tiller')).mode & 0o777).toBe(0o700)
})

test('a new or changed .agentrc is not the one that was trusted', () => {
  const person = places()
  const root = temporary()
  trust(root, person)
  expect(readTrust(root, person)).toMatchObject({ trusted: true, warnings: [] })
  writeFileSync(join(root, '.agentrc'), '{ "checks": ["touch P"] }')
  expect(readTrust(root, person)).toMatchObject({ trusted: false, warnings: [`${join(root, '.agentrc')} has changed since this folder was trusted`] })
  trust(root, person)
  expect(readTrust(root, person)).toMatchObject({ trusted: true, warnings: [] })
  writeFileSync(join(root, '.agentrc'), '{}')
  expect(readTrust(root, person).trusted).toBe(false)
})

test('rules allowed always in a project are kept once, and go with the trust', () => {
  const person = places()
  const root = temporary()
  addProjectRules(root, [npm], person)
  addProjectRules(root, [npm, { ...npm, match: 'ls' }], person)
  expect(readTrust(root, person)).toEqual({ trusted: false, rules: [npm, { ...npm, match: 'ls' }], warnings: [] })
  trust(root, person)
  expect(readTrust(root, person)).toMatchObject({ trusted: true, rules: [npm, { ...npm, match: 'ls' }] })
  distrust(root, person)
  expect(readTrust(root, person)).toEqual({ trusted: false, rules: [], warnings: [] })
})

test.each([['not JSON', '{'], ['another shape', '{"version":2,"folders":{}}'], ['a list', '[]']])('a trust file that is %s trusts nothing, says so and is not overwritten', (_what, text) => {
  const person = places()
  const root = temporary()
  const file = join(person.home, '.config/tiller/trust.json')
  mkdirSync(join(person.home, '.config/tiller'), { recursive: true })
  writeFileSync(file, text)
  expect(readTrust(root, person)).toMatchObject({ trusted: false, warnings: [expect.stringContaining(file) as string] })
  expect(trust(root, person).ok).toBe(false)
  expect(readFileSync(file, 'utf8')).toBe(text)
})

test('a trust file that others can change trusts nothing', () => {
  const person = places()
  const root = temporary()
  trust(root, person)
  chmodSync(join(person.home, '.config/tiller/trust.json'), 0o666)
  expect(readTrust(root, person)).toMatchObject({ trusted: false, warnings: [expect.stringContaining('chmod 600') as string] })
})

test('a setting is written into the person\'s file without losing comments, with rights for its owner only', async () => {
  const person = places()
  mkdirSync(join(person.home, '.config/tiller'), { recursive: true })
  const file = join(person.home, '.config/tiller/agentrc')
  writeFileSync(file, '{\n  // mine\n  "mode": "edit", // so\n}\n', { mode: 0o644 })
  expect(await setUserKey(['model'], 'a/b', person)).toEqual({ ok: true, file })
  expect(readFileSync(file, 'utf8')).toContain('// mine')
  expect(readFileSync(file, 'utf8')).toContain('"model": "a/b"')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  chmodSync(file, 0o644)
  await setUserKey(['model'], 'a/c', person)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('always-everywhere rules are added once, to a new file, too', async () => {
  const person = places()
  await addUserRules([npm, { verdict: 'allow', kind: 'read', match: '/usr/include/**' }], person)
  await addUserRules([npm], person)
  expect(JSON.parse(readFileSync(join(person.home, '.config/tiller/agentrc'), 'utf8'))).toEqual({ rules: [{ allow: 'exec', match: 'npm test' }, { allow: 'read', match: '/usr/include/**' }] })
})

test('a file that is not valid is not touched, and a value that is not valid is refused', async () => {
  const person = places()
  expect(await setUserKey(['mode'], 'yolo', person)).toMatchObject({ ok: false, why: expect.stringContaining('mode') as string })
  mkdirSync(join(person.home, '.config/tiller'), { recursive: true })
  const file = join(person.home, '.config/tiller/agentrc')
  writeFileSync(file, '{ "mode": ')
  expect((await setUserKey(['model'], 'a/b', person)).ok).toBe(false)
  expect(readFileSync(file, 'utf8')).toBe('{ "mode": ')
})

test('a linked configuration stays a link', async () => {
  const person = places()
  const dotfiles = temporary({ agentrc: '{}' })
  mkdirSync(join(person.home, '.config/tiller'), { recursive: true })
  symlinkSync(join(dotfiles, 'agentrc'), join(person.home, '.config/tiller/agentrc'))
  await setUserKey(['model'], 'a/b', person)
  expect(JSON.parse(readFileSync(join(dotfiles, 'agentrc'), 'utf8'))).toEqual({ model: 'a/b' })
})
