import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Tool } from '../../src/core/ports.ts'
import { argumentOf } from '../../src/core/tool-arguments.ts'
import { checkInput, toolNamed } from '../../src/core/tool-input.ts'
import { summarize } from '../../src/core/view-summary.ts'
import { edit } from '../../src/tools/edit.ts'
import { find } from '../../src/tools/find.ts'
import { git } from '../../src/tools/git.ts'
import { grep } from '../../src/tools/grep.ts'
import { job } from '../../src/tools/job.ts'
import { read } from '../../src/tools/read.ts'
import { shell } from '../../src/tools/shell.ts'
import { todo } from '../../src/tools/todo.ts'
import { write } from '../../src/tools/write.ts'

const none = {} as never
const tools: Record<string, Tool> = { read: read({ blobs: none }), write, edit, find, grep, shell: shell(none), job: job({ jobs: none }), git: git(), todo: todo({ shell: none }) }
const check = (tool: string, input: unknown) => checkInput(tools[tool]!.input, input)
const why = (tool: string, input: unknown): string => {
  const checked = check(tool, input)
  return checked.ok ? 'it fits' : checked.why
}

describe('what can mean but one thing is taken so', () => {
  const edits = [{ old: 'a', new: 'b' }]
  test.each<[string, string, unknown, unknown]>([
    ['names of other programs', 'read', { file_path: 'a', start_line: 2 }, { path: 'a', offset: 2 }],
    ['in another spelling', 'grep', { pattern: 'x', ignore_case: true, Path: 'src' }, { pattern: 'x', ignoreCase: true, path: 'src' }],
    ['an edit without its list', 'edit', { filePath: 'a', old_string: 'a', new_string: 'b' }, { path: 'a', edits }],
    ['and with all of it', 'edit', { path: 'a', oldText: 'a', newText: '', replace_all: 'true' }, { path: 'a', edits: [{ old: 'a', new: '', all: true }] }],
    ['names in a list', 'edit', { path: 'a', edits: [{ old_str: 'a', new_str: 'b' }] }, { path: 'a', edits }],
    ['a list as JSON text', 'edit', { path: 'a', edits: JSON.stringify(edits) }, { path: 'a', edits }],
    ['with text for its items', 'edit', { path: 'a', edits: edits.map((each) => JSON.stringify(each)) }, { path: 'a', edits }],
    ['one item for a list', 'edit', { path: 'a', edits: edits[0] }, { path: 'a', edits }],
    ['one text for a list of them', 'git', { op: 'add', paths: 'a b.txt' }, { op: 'add', paths: ['a b.txt'] }],
    ['a list of texts as JSON', 'git', { op: 'add', paths: '["a","b"]' }, { op: 'add', paths: ['a', 'b'] }],
    ['numbers and truth as text', 'shell', { command: 'ls', timeout: '30', background: 'False' }, { command: 'ls', timeout: 30, background: false }],
    ['null for what is left out', 'git', { op: 'log', path: null, limit: null, rev: 'main' }, { op: 'log', rev: 'main' }],
    ['a command in a list', 'shell', { command: ['npm test'] }, { command: 'npm test' }],
    ['a command for bash in a list', 'shell', { cmd: ['bash', '-lc', 'cd x && ls'] }, { command: 'cd x && ls' }],
    ['a folder to run in', 'shell', { command: 'ls', workdir: 'sub' }, { command: 'ls', cwd: 'sub' }],
    ['a remark on the call', 'shell', { command: 'ls', description: 'Lists files' }, { command: 'ls' }],
    ['one object more around it', 'read', { arguments: { path: 'a' } }, { path: 'a' }],
    ['the same under two names', 'read', { path: 'a', file_path: 'a' }, { path: 'a' }],
    ['a job by another name', 'job', { action: 'read', job_id: 'job-1' }, { op: 'read', id: 'job-1' }],
    ['steps of a plan', 'todo', { todos: [{ content: 'a', status: 'open' }] }, { items: [{ text: 'a', status: 'open' }] }],
    ['JSON that is the content', 'write', { path: 'a.json', content: '{"a":1}' }, { path: 'a.json', content: '{"a":1}' }],
    ['digits that are a text', 'grep', { pattern: '12' }, { pattern: '12' }],
    ['a bracket that is no list', 'git', { op: 'add', paths: '[br].txt' }, { op: 'add', paths: ['[br].txt'] }],
  ])('%s', (_, tool, given, meant) => {
    expect(check(tool, given)).toEqual({ ok: true, input: meant })
  })
})

describe('what it cannot be sure of does not run, and the answer says how it is called', () => {
  test.each<[string, string, unknown, string]>([
    ['a wish that would be passed over', 'write', { path: 'a', content: 'b', append: true }, 'the arguments do not fit: there is no argument append. They are: path, content.'],
    ['another unit', 'shell', { command: 'ls', timeout_ms: 5_000 }, 'there is no argument timeout_ms'],
    ['another sense', 'read', { path: 'a', end_line: 9 }, 'there is no argument end_line. They are: path, offset?, limit?, column?, numbers?.'],
    ['two things under two names', 'read', { path: 'a', file_path: 'b' }, 'there is no argument file_path'],
    ['several words', 'shell', { command: ['cd x', 'ls'] }, 'command must be a string'],
    ['a value of another kind', 'write', { path: 'a', content: { a: 1 } }, 'content must be a string'],
    ['an item of a list', 'edit', { path: 'a', edits: [{ old: 'a', new: 'b', line: 3 }] }, 'there is no argument edits[0].line. They are: path, edits [{ old, new, all? }].'],
    ['nothing at all', 'edit', {}, 'path must be a string, and is missing; edits must be an array, and is missing. They are: path, edits [{ old, new, all? }].'],
    ['a number that is none', 'read', { path: 'a', limit: 'ten' }, 'limit must be a number'],
    ['null for what is needed', 'read', { path: null }, 'path must be a string'],
    ['a list of wrong things', 'edit', { path: 'a', edits: '[1, 2]' }, 'edits.0 must be an object'],
    ['text where an object should be', 'edit', { path: 'a', edits: 'old -> new' }, 'edits must be an array'],
    ['no object', 'read', 'a.txt', 'the arguments must be an object'],
    ['a name of JavaScript\'s own', 'read', JSON.parse('{"path":"a","__proto__":{"x":1},"constructor":1}'), 'there is no argument __proto__; there is no argument constructor'],
  ])('%s', (_, tool, given, said) => {
    expect(why(tool, given)).toContain(said)
  })
})

test('arguments as they should be are never changed', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '1', '"', '[', ']', '{', '}', ':', ',', ' ', '\n', 'true', 'null', '\\'), maxLength: 20 })
  fc.assert(fc.property(text, text, text, fc.boolean(), (path, old, wanted, all) => {
    const input = { path, edits: [{ old, new: wanted, all }] }
    expect(check('edit', input)).toEqual({ ok: true, input })
    expect(check('write', { path, content: old })).toEqual({ ok: true, input: { path, content: old } })
    if (old !== '') expect(check('shell', { command: old })).toEqual({ ok: true, input: { command: old } })
  }))
})

test('who tells of calls reads the same arguments, under whatever name', () => {
  expect(summarize('Read', { file_path: '/w/a.ts', start_line: 3 }, '/w')).toBe('a.ts from line 3')
  expect(summarize('functions.shell', { cmd: 'npm test' }, '/w')).toBe('npm test')
  expect(argumentOf({ path: 'a', file_path: 'b' }, 'path')).toBe('a')
  expect(argumentOf({ constructor: 1 }, 'path')).toBeUndefined()
})

test('a tool is found by its name, in any case and without what a template left on it; never by a part of it', () => {
  const named = [{ name: 'read' }, { name: 'READ' }, { name: 'shell' }, { name: 'mcp__x__Do' }]
  expect(['read', 'READ', 'Shell', 'functions.shell', 'shell<|channel|>json', 'mcp__x__do', 'rea', 'shells', ''].map((name) => toolNamed(named, name)?.name)).toEqual(['read', 'READ', 'shell', 'shell', 'shell', 'mcp__x__Do', undefined, undefined, undefined])
})
