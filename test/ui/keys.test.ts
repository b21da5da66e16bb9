import type { Key } from 'ink'
import { expect, test } from 'vitest'
import { BINDINGS, chordOf, keyIn, keyLines, keymap, keysOf, normalize } from '../../src/ui/keys.ts'

const none: Key = {
  upArrow: false, downArrow: false, leftArrow: false, rightArrow: false, pageDown: false, pageUp: false, home: false, end: false, return: false, escape: false,
  ctrl: false, shift: false, tab: false, backspace: false, delete: false, meta: false, super: false, hyper: false, capsLock: false, numLock: false,
}
const chord = (input: string, key: Partial<Key> = {}): string | null => chordOf(input, { ...none, ...key })

test('pressed keys have the names of the table', () => {
  expect(chord('', { return: true })).toBe('enter')
  expect(chord('\r', { return: true, meta: true })).toBe('alt+enter')
  expect(chord('\r', { return: true, ctrl: true })).toBe('ctrl+enter')
  expect(chord('\n')).toBe('ctrl+j')
  expect(chord('', { escape: true })).toBe('esc')
  expect(chord('', { tab: true, shift: true })).toBe('shift+tab')
  expect(chord('c', { ctrl: true })).toBe('ctrl+c')
  expect(chord('_', { ctrl: true })).toBe('ctrl+_')
  expect(chord('b', { meta: true })).toBe('alt+b')
  expect(chord('', { upArrow: true, meta: true })).toBe('alt+up')
  expect(chord('a')).toBeNull()
  expect(chord('日本')).toBeNull()
})

test('every key of the contract is bound', () => {
  const { keys, problems } = keymap({})
  const contract = ['enter', 'alt+enter', 'ctrl+enter', 'shift+enter', 'ctrl+j', 'alt+up', 'up', 'esc', 'ctrl+c', 'ctrl+d', 'ctrl+o', 'ctrl+b', 'ctrl+z', 'ctrl+l', 'ctrl+g', 'ctrl+r', 'ctrl+t', 'shift+tab', '?']
  expect(contract.filter((key) => !keys.has(key))).toEqual([])
  expect(problems).toEqual([])
})

test('no key of the table stands for two actions', () => {
  const all = BINDINGS.flatMap((binding) => binding.keys.map((key) => keyIn('in' in binding ? binding.in : undefined, normalize(key))))
  expect(all.filter((key, index) => all.indexOf(key) !== index)).toEqual([])
})

test('keys of the configuration replace those of the table, also where another action had them', () => {
  const { keys } = keymap({ output: 'Ctrl+B', background: ['alt+Control+b'], todo: [] })
  expect(keys.get('ctrl+b')).toBe('output')
  expect(keys.get('ctrl+alt+b')).toBe('background')
  expect(keys.get('ctrl+o')).toBeUndefined()
  expect([...keys.values()]).not.toContain('todo')
})

test('a key of one list is another one than the same key elsewhere', () => {
  const { keys } = keymap({ 'delete-session': 'alt+x', search: 'ctrl+e' })
  expect(keys.get('ctrl+e')).toBe('search')
  expect(keys.get(keyIn('sessions', 'ctrl+e'))).toBe('export-session')
  expect(keys.get(keyIn('sessions', 'alt+x'))).toBe('delete-session')
  expect(keysOf(keys, 'delete-session')).toEqual(['Alt+X'])
})

test('an action that does not exist is named, with those that do', () => {
  const { problems } = keymap({ sned: 'ctrl+x' })
  expect(problems.join()).toMatch(/no action "sned".*follow-up/)
})

test('the help names each action once, with its keys', () => {
  const lines = keyLines(keymap({}).keys)
  expect(lines.some((line) => /^Alt\+Enter\s+send when the run has its outcome$/.test(line))).toBe(true)
})

test('on a narrow window the help stands below its keys, and is whole', () => {
  const lines = keyLines(keymap({}).keys, 30)
  expect(lines.every((line) => line.length <= 30)).toBe(true)
  expect(lines.join('\n')).toContain('Alt+Enter\n  send when the run has its\n  outcome')
})
