import { expect, test } from 'vitest'
import { accept, offersFor, wantedAt } from '../../src/ui/completion.ts'
import { emptyEditor, insert, textOf } from '../../src/ui/editor-state.ts'
import { nearest, readLine, SLASH_COMMANDS } from '../../src/ui/slash-commands.ts'

test('the commands are those of the contract', () => {
  const contract = 'help model effort mode compact context cost sessions resume new fork rewind undo diff check export title queue now trust mcp keys theme config doctor fullscreen copy quit'.split(' ')
  expect(SLASH_COMMANDS.map(({ name }) => name).toSorted()).toEqual(contract.toSorted())
})

test('a line is a prompt, a command, something for the shell, or nothing', () => {
  expect(readLine('  \n ')).toEqual({ type: 'empty' })
  expect(readLine('fix it')).toEqual({ type: 'prompt', text: 'fix it' })
  expect(readLine('/model local/m ')).toEqual({ type: 'slash', name: 'model', argument: 'local/m' })
  expect(readLine('/now stop that\nand do this')).toEqual({ type: 'slash', name: 'now', argument: 'stop that\nand do this' })
  expect(readLine('/modl')).toEqual({ type: 'slash', name: 'modl', argument: '' })
  expect(readLine('/usr/bin/env is missing').type).toBe('prompt')
  expect(readLine('// a comment').type).toBe('prompt')
  expect(readLine('!npm test')).toEqual({ type: 'shell', command: 'npm test', model: true })
  expect(readLine('!!npm test')).toEqual({ type: 'shell', command: 'npm test', model: false })
  expect(readLine('!!! really').type).toBe('prompt')
})

test('for a slip the command that was meant is named', () => {
  const names = SLASH_COMMANDS.map(({ name }) => name)
  expect(nearest('modl', names)).toEqual(['model', 'mode'])
  expect(nearest('res', names)).toEqual(['resume'])
  expect(nearest('zzzz', names)).toEqual([])
})

test('what stands before the cursor can be completed', () => {
  const at = (text: string) => wantedAt(insert(emptyEditor, text))
  expect(at('/mo')).toEqual({ kind: 'command', query: 'mo', from: 1, command: '' })
  expect(at('/mode a')).toEqual({ kind: 'value', query: 'a', from: 6, command: 'mode' })
  expect(at('look at @src/m')).toEqual({ kind: 'file', query: 'src/m', from: 9, command: '' })
  expect(at('look at (@')).toEqual({ kind: 'file', query: '', from: 10, command: '' })
  expect(at('me@home')).toBeNull()
  expect(at('text\n/mo')).toBeNull()
})

test('a command is completed with a blank behind it', () => {
  const editor = insert(emptyEditor, '/mode')
  const wanted = wantedAt(editor)!
  const offers = offersFor(wanted, SLASH_COMMANDS)
  expect(offers.map(({ text }) => text)).toEqual(['model', 'mode'])
  expect(textOf(accept(editor, { wanted, offers, index: 1 }))).toBe('/mode ')
})
