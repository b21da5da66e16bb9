import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadInstructions, MOST_OF_ALL, MOST_OF_ONE } from '../../src/config/instructions.ts'
import { temporary } from './temporary.ts'

const names = ['AGENTS.md', 'CLAUDE.md']

test('files from the root down to the working directory are loaded, in that order, with the hash of what is sent', () => {
  const root = temporary({ 'AGENTS.md': 'top', 'a/CLAUDE.md': 'middle', 'a/b/AGENTS.md': 'deep', 'a/other/AGENTS.md': 'beside' })
  const { files, notes } = loadInstructions({ root, cwd: join(root, 'a/b'), names })
  expect(files.map((file) => file.text)).toEqual(['top', 'middle', 'deep'])
  expect(files[0]).toEqual({ path: join(root, 'AGENTS.md'), text: 'top', sha256: createHash('sha256').update('top').digest('hex') })
  expect(notes).toEqual([])
})

test('a file above the root is not looked for', () => {
  const base = temporary({ 'AGENTS.md': 'above', 'root/AGENTS.md': 'in' })
  expect(loadInstructions({ root: join(base, 'root'), cwd: join(base, 'root'), names }).files.map((file) => file.text)).toEqual(['in'])
})

test('a link inside the project is loaded, and a file with two names once', () => {
  const root = temporary({ 'docs/rules.md': 'the rules' })
  symlinkSync('docs/rules.md', join(root, 'AGENTS.md'))
  symlinkSync('AGENTS.md', join(root, 'CLAUDE.md'))
  expect(loadInstructions({ root, cwd: root, names })).toMatchObject({ files: [{ path: join(root, 'AGENTS.md'), text: 'the rules' }], notes: [] })
  const copied = temporary({ 'AGENTS.md': 'same', 'CLAUDE.md': 'same\n' })
  expect(loadInstructions({ root: copied, cwd: copied, names }).files).toHaveLength(1)
  const hard = temporary({ 'AGENTS.md': 'hard' })
  linkSync(join(hard, 'AGENTS.md'), join(hard, 'CLAUDE.md'))
  expect(loadInstructions({ root: hard, cwd: hard, names }).files).toHaveLength(1)
})

test('a link that leads outside is named and not loaded without consent', () => {
  const base = temporary({ 'ssh/id_test': 'PRIVATE', 'root/x': '' })
  const root = join(base, 'root')
  symlinkSync('../ssh/id_test', join(root, 'AGENTS.md'))
  const refused = loadInstructions({ root, cwd: root, names })
  expect(refused.files).toEqual([])
  expect(refused.outside).toEqual([{ path: join(root, 'AGENTS.md'), target: join(base, 'ssh/id_test') }])
  expect(refused.notes).toEqual([`${join(root, 'AGENTS.md')} leads outside the project, to ${join(base, 'ssh/id_test')}, and was not loaded`])
  expect(loadInstructions({ root, cwd: root, names, consented: [join(base, 'ssh/id_test')] }).files.map((file) => file.text)).toEqual(['PRIVATE'])
})

test('a linked folder that leads outside counts as outside, a sibling with the same beginning too', () => {
  const base = temporary({ 'root2/AGENTS.md': 'SIBLING', 'root/x': '' })
  const root = join(base, 'root')
  symlinkSync('../root2/AGENTS.md', join(root, 'AGENTS.md'))
  expect(loadInstructions({ root, cwd: root, names }).files).toEqual([])
})

test('a folder, a pipe, a dangling link and an empty file of that name say nothing and stop nothing', () => {
  const root = temporary({ 'AGENTS.md/x': '', 'a/AGENTS.md': ' \n', 'a/b/x': '' })
  symlinkSync('nowhere', join(root, 'CLAUDE.md'))
  execFileSync('mkfifo', [join(root, 'a/b/AGENTS.md')])
  expect(loadInstructions({ root, cwd: join(root, 'a/b'), names })).toEqual({ files: [], notes: [], outside: [] })
})

test.skipIf(process.getuid?.() === 0)('an unreadable one has one short note (left out for root, who reads everything)', () => {
  const root = temporary({ 'AGENTS.md': 'x' })
  chmodSync(join(root, 'AGENTS.md'), 0)
  expect(loadInstructions({ root, cwd: root, names }).notes).toEqual([`${join(root, 'AGENTS.md')} was not loaded: it cannot be read (no permission)`])
})

test('a huge file is cut at the limit with a note, many files at the limit of all', () => {
  const root = temporary({ 'AGENTS.md': 'ä'.repeat(10 * 1024 * 1024) })
  const { files, notes } = loadInstructions({ root, cwd: root, names })
  expect(Buffer.byteLength(files[0]!.text)).toBeLessThan(MOST_OF_ONE + 300)
  expect(files[0]!.text).toMatch(/ä\n\[.*AGENTS\.md is longer than is taken at the start: its last \d+ bytes were left out\]$/)
  expect(notes).toHaveLength(1)

  let folder = root
  for (let depth = 0; depth < 5; depth++) {
    folder = join(folder, `d${depth}`)
    mkdirSync(folder)
    writeFileSync(join(folder, 'AGENTS.md'), `${depth}`.repeat(MOST_OF_ONE))
  }
  const many = loadInstructions({ root, cwd: folder, names })
  expect(many.files.reduce((sum, file) => sum + Buffer.byteLength(file.text), 0)).toBeLessThan(MOST_OF_ALL + 2000)
  expect(many.notes).toHaveLength(5)
})

test('binary content is not text', () => {
  const root = temporary({ 'AGENTS.md': 'a\0b' })
  expect(loadInstructions({ root, cwd: root, names })).toMatchObject({ files: [], notes: [`${join(root, 'AGENTS.md')} was not loaded: it is not text`] })
})

test('the person\'s own file comes first', () => {
  const base = temporary({ 'own.md': 'mine', 'root/AGENTS.md': 'project' })
  expect(loadInstructions({ root: join(base, 'root'), cwd: join(base, 'root'), names, own: join(base, 'own.md') }).files.map((file) => file.text)).toEqual(['mine', 'project'])
})
